# SPDX-License-Identifier: GPL-2.0-only
"""cpu.svg: what a read costs RowSocket and its peers, as a picture that a forge can show in the README.

It is drawn from the main table of figures.md, so it can not say anything else than the page that it stands
for. The colours follow the reader's light or dark mode.

    python -m bench.harness.peers_chart [--check]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs/benchmarks/figures.md"
PICTURE = ROOT / "docs/benchmarks/cpu.svg"

CASES = (
    "row by primary key, 1 request in flight",
    "50 keys in one request",
    "value from the index alone",
    "100 rows that follow each other",
)
"""Of the main table: the reads that most applications do."""

WIDTH, NAME_WIDTH, VALUE_WIDTH = 480, 100, 70
TITLE, BAR, GAP, SPACE = 26, 16, 5, 14

_STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600 }
  .value, .name { font-size: 12px }
  .ours { fill: #0b7285 }
  .peer { fill: #a9b1ba }
  @media (prefers-color-scheme: dark) {
    text { fill: #d5dae0 }
    .ours { fill: #22b8cf }
    .peer { fill: #56606b }
  }
"""


def main_table(figures: str) -> Mapping[str, Mapping[str, float]]:
    """Microseconds of CPU per request, by case and peer, from the section `CPU time` of figures.md."""
    section = figures.split("## CPU time\n", 1)[1].split("\n## ", 1)[0]
    header, _, *rows = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("|")
    )
    return {
        row[0]: {
            peer: float(re.sub(r"[*,]|\(.*\)", "", cell))
            for peer, cell in zip(header[1:], row[1:], strict=True)
            if cell != "-"
        }
        for row in rows
    }


def svg(figures: str) -> str:
    """The picture: a group of bars for each case, on a scale of its own."""
    table = main_table(figures)
    title = "CPU time of the server per request: less is better"
    body, y = [f'<text x="0" y="15">{title}</text>'], float(TITLE + SPACE)
    for case in CASES:
        scale = (WIDTH - NAME_WIDTH - VALUE_WIDTH) / max(table[case].values())
        body.append(f'<text class="title" x="0" y="{y + 15:g}">{escape(case)}</text>')
        y += TITLE
        for peer, value in table[case].items():
            kind = "ours" if peer == "RowSocket" else "peer"
            end, line = value * scale, f'y="{y + BAR - 4:g}"'
            place = f'x="{NAME_WIDTH}" y="{y:g}" width="{end:.1f}" height="{BAR}" rx="2"'
            body += [
                f'<text class="name" x="{NAME_WIDTH - 8}" {line} text-anchor="end">{escape(peer)}</text>',
                f'<rect class="{kind}" {place}/>',
                f'<text class="value" x="{NAME_WIDTH + end + 6:.1f}" {line}>{value:.3g} µs</text>',
            ]
            y += BAR + GAP
        y += SPACE
    size = f'viewBox="0 0 {WIDTH} {y - SPACE:g}" width="{WIDTH}" height="{y - SPACE:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">'
    return "\n".join([head, f"<title>{title}</title>", f"<style>{_STYLE}</style>", *body, "</svg>", ""])


def main() -> None:
    """Write the picture, or with --check say whether it is as figures.md has it."""
    made = svg(FIGURES.read_text(encoding="utf-8"))
    if sys.argv[1:] != ["--check"]:
        PICTURE.write_text(made, encoding="utf-8")
    elif not PICTURE.is_file() or PICTURE.read_text(encoding="utf-8") != made:
        sys.exit(f"{PICTURE.relative_to(ROOT)} is not as figures.md has it; ./x fmt draws it")


if __name__ == "__main__":
    main()
