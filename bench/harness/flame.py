# SPDX-License-Identifier: GPL-2.0-only
"""A flame graph: one SVG file that needs nothing else, to be looked at in a browser.

A box is a function. Its width is the share of the samples in which the function was on the stack. What the
function called stands on top of it, and the colour says whose code it is. A click on a box widens it to the
whole picture; a click on the lowest box goes back. Without scripts (in print, in a picture viewer) the
picture stays as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

from bench.harness import stacks

WIDTH = 1200
ROW_HEIGHT = 18
HEADER_HEIGHT = 64
LETTER_WIDTH = 6.6
BOX_WIDTH_MIN = 0.5
"""Narrower boxes are left out, with all that stands on them."""

_CLASS_OF_PART = {part: f"p{number}" for number, part in enumerate(stacks.PARTS)}

_STYLE = """
svg { background: #fff; font: 11px ui-monospace, monospace; }
text { fill: #111; pointer-events: none; }
.title { font: 600 16px system-ui, sans-serif; } .about { font: 12px system-ui, sans-serif; }
rect { fill: #d8d8d8; stroke: #fff; stroke-width: .5; }
g.box { cursor: pointer; } g.box:hover rect { stroke: #111; }
.p0 rect { fill: #9ecae1; } .p1 rect { fill: #fdae6b; } .p2 rect { fill: #a1d99b; }
.p3 rect { fill: #fc9fb5; } .p4 rect { fill: #dadaeb; }
@media (prefers-color-scheme: dark) {
  svg { background: #16181c; } text { fill: #eee; } rect { fill: #444; stroke: #16181c; }
  g.box:hover rect { stroke: #eee; }
  .p0 rect { fill: #2b5c7d; } .p1 rect { fill: #8a4b12; } .p2 rect { fill: #2f6b39; }
  .p3 rect { fill: #8a2f4b; } .p4 rect { fill: #4d4a70; }
}
"""

# Boxes carry their place in samples (x, w); the script only maps the chosen one's range onto the width.
_SCRIPT = """
const boxes = [...document.querySelectorAll("g.box")], letter = %(letter)s, width = %(width)s;
const shortened = (name, letters) =>
  letters < 3 ? "" : name.length <= letters ? name : name.slice(0, letters - 1) + "…";
const place = box => [Number(box.dataset.x), Number(box.dataset.w)];
function zoom(chosen) {
  const [from, range] = place(chosen);
  for (const box of boxes) {
    const [x, w] = place(box);
    const below = x <= from && x + w >= from + range, inside = x >= from && x + w <= from + range;
    box.style.display = below || inside ? "" : "none";
    const left = Math.max(0, (x - from) / range) * width, wide = Math.min(1, w / range) * width;
    const rect = box.querySelector("rect"), text = box.querySelector("text");
    rect.setAttribute("x", left);
    rect.setAttribute("width", wide);
    text.setAttribute("x", left + 3);
    text.textContent = shortened(box.dataset.name, Math.floor((wide - 6) / letter));
  }
}
for (const box of boxes) box.addEventListener("click", () => zoom(box));
"""


@dataclass
class Box:
    """A function as called from one particular place, and how many samples saw it there."""

    frame: stacks.Frame
    samples: int = 0
    callees: dict[stacks.Frame, Box] = field(default_factory=dict)

    def height(self) -> int:
        """Rows that it and what stands on it take."""
        return 1 + max((box.height() for box in self.callees.values()), default=0)


def tree(samples: Counter[stacks.Stack]) -> Box:
    """All stacks as one tree, whose root is "all"."""
    root = Box(stacks.Frame("all", ""))
    for stack, count in samples.items():
        root.samples += count
        box = root
        for frame in stack:
            box = box.callees.setdefault(frame, Box(frame))
            box.samples += count
    return root


def svg(samples: Counter[stacks.Stack], title: str) -> str:
    """The picture, with the shares of the parts in its second line."""
    root = tree(samples)
    height = HEADER_HEIGHT + root.height() * ROW_HEIGHT + 4
    legend, left = [], 12.0
    for part, share in stacks.shares(samples).items():
        words = f"{part} {share:.0%}"
        legend.append(
            f'<g class="{_CLASS_OF_PART[part]}"><rect x="{left:.0f}" y="36" width="12" height="12"/>'
            f'<text class="about" x="{left + 17:.0f}" y="46">{escape(words)}</text></g>'
        )
        left += 36 + len(words) * LETTER_WIDTH
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="100%">',
            f"<style>{_STYLE}</style>",
            f'<text class="title" x="12" y="24">{escape(title)}</text>',
            *legend,
            f'<text class="about" x="{WIDTH - 12}" y="46" text-anchor="end">{root.samples:,} samples</text>',
            *_boxes(root, root, 0, height - ROW_HEIGHT - 2),
            f"<script><![CDATA[{_SCRIPT % {'letter': LETTER_WIDTH, 'width': WIDTH}}]]></script>",
            "</svg>",
            "",
        ]
    )


def _boxes(root: Box, box: Box, begin: int, y: float) -> Iterator[str]:
    """The box and all that stands on it; `begin` counts the samples to its left."""
    width = box.samples / root.samples * WIDTH
    if width < BOX_WIDTH_MIN:
        return
    x = begin / root.samples * WIDTH
    name = escape(box.frame.name, quote=True)
    told = f"{name}: {box.samples / root.samples:.1%}" + (f" ({box.frame.part})" if box.frame.part else "")
    yield (
        f'<g class="box {_CLASS_OF_PART.get(box.frame.part, "")}" data-x="{begin}" data-w="{box.samples}"'
        f' data-name="{name}"><title>{told}</title>'
        f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{ROW_HEIGHT - 1}" rx="2"/>'
        f'<text x="{x + 3:.2f}" y="{y + 13}">{escape(shortened(box.frame.name, width))}</text></g>'
    )
    for callee in sorted(box.callees.values(), key=lambda one: one.frame.name):
        yield from _boxes(root, callee, begin, y - ROW_HEIGHT)
        begin += callee.samples


def shortened(name: str, width: float) -> str:
    """As much of a name as fits into a box; nothing if that would be less than three letters."""
    letters = int((width - 6) / LETTER_WIDTH)
    if letters < 3:
        return ""
    return name if len(name) <= letters else name[: letters - 1] + "…"
