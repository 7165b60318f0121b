# SPDX-License-Identifier: GPL-2.0-only
"""Charts as inline SVG: bars with spreads, and lines over what varies. Colours come from the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from bench.harness.figures import Spread, number

WIDTH = 440
"""Of all charts, in letters of 12: little more than a phone has, so that words stay readable there."""
LABEL_WIDTH = 128
VALUE_WIDTH = 126
BAR = 18
GAP = 7
PLOT_HEIGHT = 230
NAME_HEIGHT = 13

COLOURS = ("rowsocket", "original", "sql-prepared", "memcached", "redis", "sql-text", "echo", "sysbench")
"""Whose line has which colour, the same in every chart."""


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
        out.append(
            f'<text x="{LABEL_WIDTH - 8}" y="{middle + 4}" text-anchor="end">{escape(row.label)}</text>'
        )
        x = float(LABEL_WIDTH)
        for part, value in enumerate(row.parts):
            out.append(
                f'<rect class="part{part}" x="{x:.1f}" y="{y}" width="{value * scale:.1f}" height="{BAR}"/>'
            )
            x += value * scale
        if row.spread:
            left, right = (LABEL_WIDTH + value * scale for value in (row.spread.least, row.spread.most))
            out.append(
                f'<line class="whisker" x1="{left:.1f}" x2="{right:.1f}" y1="{middle}" y2="{middle}"/>'
            )
        x = LABEL_WIDTH + row.end * scale
        out.append(
            f'<text x="{x + 6:.1f}" y="{middle + 4}">{escape(row.text or number(sum(row.parts)))}</text>'
        )
    if mark:
        x = LABEL_WIDTH + mark * scale
        out.append(f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height}"/>')
    return "".join([*out, "</svg>"])


def lines(
    series: Mapping[str, Sequence[tuple[float, Spread]]], names_x: Mapping[float, str] | None = None
) -> str:
    """Lines over numbers, both axes logarithmic. A point is a median, its whisker the spread.

    `names_x` says what stands below a number, where that is not the number itself.

    Empty where no line has two points.
    """
    drawn = {name: sorted((x, s) for x, s in line if s.median > 0) for name, line in series.items()}
    points = [point for line in drawn.values() for point in line]
    if all(len(line) < 2 for line in drawn.values()):
        return ""
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    low, high = min(s.least or s.median for _, s in points), max(s.most for _, s in points)
    margin, bottom, plot_end = 48, 24, WIDTH - 124

    def at_x(value: float) -> float:
        return (
            margin + 6 + (math.log(value / left) / (math.log(right / left) or 1)) * (plot_end - margin - 12)
        )

    def at_y(value: float) -> float:
        return 10 + (1 - math.log(max(value, low) / low) / (math.log(high / low) or 1)) * (
            PLOT_HEIGHT - bottom - 20
        )

    out = [f'<svg viewBox="0 0 {WIDTH} {PLOT_HEIGHT}" role="img" preserveAspectRatio="xMinYMin meet">']
    for value in _grid(low, high):
        y = at_y(value)
        out.append(f'<line class="grid" x1="{margin}" x2="{plot_end}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text x="{margin - 5}" y="{y + 4:.1f}" text-anchor="end">{short(value)}</text>')
    for value in sorted({x for x, _ in points}):
        name = (names_x or {}).get(value) or short(value)
        out.append(f'<text x="{at_x(value):.1f}" y="{PLOT_HEIGHT - 6}" text-anchor="middle">{name}</text>')
    ends = _apart({name: at_y(line[-1][1].median) for name, line in drawn.items() if line})
    for name, line in drawn.items():
        colour = COLOURS.index(name) if name in COLOURS else len(COLOURS) - 1
        path = " ".join(f"{at_x(x):.1f},{at_y(s.median):.1f}" for x, s in line)
        out.append(f'<polyline class="line line{colour}" points="{path}"/>')
        for x, s in line:
            low_y, high_y = at_y(s.least or s.median), at_y(s.most)
            place = f'x1="{at_x(x):.1f}" x2="{at_x(x):.1f}" y1="{low_y:.1f}" y2="{high_y:.1f}"'
            out.append(f'<line class="line{colour}" {place}/>')
        if name in ends:
            place = f'x="{plot_end + 5}" y="{ends[name] + 4:.1f}"'
            out.append(f'<text class="name{colour}" {place}>{escape(name)}</text>')
    return "".join([*out, "</svg>"])


def _grid(low: float, high: float) -> list[float]:
    """Round numbers from low to high: 1, 2 and 5 of each power of ten, or else only the powers."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1,)):
        found = [
            step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high
        ]
        if len(found) <= 8:
            break
    return found or [low, high]


def _apart(wanted: Mapping[str, float]) -> dict[str, float]:
    """Places near the wanted ones, from top to bottom, far enough from each other for a name each."""
    placed: dict[str, float] = {}
    above = -math.inf
    for name, y in sorted(wanted.items(), key=lambda item: item[1]):
        above = max(y, above + NAME_HEIGHT)
        placed[name] = above
    too_low = max(0.0, above - (PLOT_HEIGHT - 24)) if placed else 0.0
    return {name: y - too_low for name, y in placed.items()}


def short(value: float) -> str:
    """A number for an axis: 20k, 1M."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{unit}" if value < 10 * size else f"{value / size:.0f}{unit}"
    return f"{value:g}" if value >= 1 else number(value)
