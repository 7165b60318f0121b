# SPDX-License-Identifier: GPL-2.0-only
"""Charts as inline SVG, drawn in words that take their colours from the page: bars with spreads, and lines over what varies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from bench.harness.figures import Spread, number

WIDTH = 640
LABEL_WIDTH = 170
VALUE_WIDTH = 130
BAR = 20
GAP = 8
PLOT_HEIGHT = 240


@dataclass(frozen=True)
class Bar:
    """One bar: parts that stand one after the other, and the spread of their sum."""

    label: str
    parts: tuple[float, ...]
    spread: Spread | None = None
    text: str = ""

    @property
    def end(self) -> float:
        """Where the bar, or its whisker, ends."""
        return max(sum(self.parts), self.spread.most if self.spread else 0.0)


def bars(rows: Sequence[Bar], *, mark: float | None = None) -> str:
    """Horizontal bars from 0; `mark` is a line across all of them."""
    highest = max([row.end for row in rows] + ([mark] if mark else []), default=0) or 1.0
    scale = (WIDTH - LABEL_WIDTH - VALUE_WIDTH) / highest
    height = len(rows) * (BAR + GAP) + GAP
    out = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" preserveAspectRatio="xMinYMin meet">']
    for index, row in enumerate(rows):
        y = GAP + index * (BAR + GAP)
        middle = y + BAR / 2
        out.append(f'<text x="{LABEL_WIDTH - 8}" y="{middle + 4}" text-anchor="end">{escape(row.label)}</text>')
        x = float(LABEL_WIDTH)
        for part, value in enumerate(row.parts):
            out.append(f'<rect class="part{part}" x="{x:.1f}" y="{y}" width="{value * scale:.1f}" height="{BAR}"/>')
            x += value * scale
        if row.spread:
            left, right = (LABEL_WIDTH + value * scale for value in (row.spread.least, row.spread.most))
            out.append(f'<line class="whisker" x1="{left:.1f}" x2="{right:.1f}" y1="{middle}" y2="{middle}"/>')
        x = LABEL_WIDTH + row.end * scale
        out.append(f'<text x="{x + 6:.1f}" y="{middle + 4}">{escape(row.text or number(sum(row.parts)))}</text>')
    if mark:
        x = LABEL_WIDTH + mark * scale
        out.append(f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height}"/>')
    return "".join([*out, "</svg>"])


def lines(series: Mapping[str, Sequence[tuple[float, Spread]]]) -> str:
    """Lines over numbers, both axes logarithmic; a point is a median, its whisker the spread."""
    points = [point for line in series.values() for point in line if point[1].median > 0]
    if not points:
        return ""
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    low, high = min(s.least or s.median for _, s in points), max(s.most for _, s in points)
    margin, bottom = 64, 24

    def at_x(value: float) -> float:
        return margin + (math.log(value / left) / (math.log(right / left) or 1)) * (WIDTH - margin - 150)

    def at_y(value: float) -> float:
        return 10 + (1 - math.log(max(value, low) / low) / (math.log(high / low) or 1)) * (PLOT_HEIGHT - bottom - 20)

    out = [f'<svg viewBox="0 0 {WIDTH} {PLOT_HEIGHT}" role="img" preserveAspectRatio="xMinYMin meet">']
    for value in dict.fromkeys((low, math.sqrt(low * high), high)):
        y = at_y(value)
        out.append(f'<line class="grid" x1="{margin}" x2="{WIDTH - 150}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text x="{margin - 6}" y="{y + 4:.1f}" text-anchor="end">{number(value)}</text>')
    for value in sorted({x for x, _ in points}):
        out.append(f'<text x="{at_x(value):.1f}" y="{PLOT_HEIGHT - 6}" text-anchor="middle">{value:g}</text>')
    for index, (name, line) in enumerate(series.items()):
        drawn = sorted((x, s) for x, s in line if s.median > 0)
        path = " ".join(f"{at_x(x):.1f},{at_y(s.median):.1f}" for x, s in drawn)
        out.append(f'<polyline class="line line{index % 8}" points="{path}"/>')
        for x, s in drawn:
            out.append(
                f'<line class="line{index % 8}" x1="{at_x(x):.1f}" x2="{at_x(x):.1f}" y1="{at_y(s.least or s.median):.1f}" '
                f'y2="{at_y(s.most):.1f}"/>'
            )
        if drawn:
            y = at_y(drawn[-1][1].median)
            out.append(f'<text class="name{index % 8}" x="{WIDTH - 144}" y="{y + 4:.1f}">{escape(name)}</text>')
    return "".join([*out, "</svg>"])
