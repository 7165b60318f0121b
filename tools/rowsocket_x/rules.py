# SPDX-License-Identifier: GPL-2.0-only
"""Rules on single files: licence line, length, columns, links in documents, no path of one machine.

Pure: text in, findings out.
"""

import posixpath
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})

LINES_MAX = 450
"""Files are to stay at about 400 lines; this is where the check objects."""

TEST_LINES_MAX = 600
"""A file of tests may be longer: it is a list."""

CELL_CHARACTERS_MAX = 80
"""Of a cell of a Markdown table, as a reader sees it."""

_CODE = (".cc", ".h", ".py", ".cmake", ".sh", ".js", ".mjs", ".ts", ".php", ".go", ".rs", ".java")
_CODE_NAMES = ("CMakeLists.txt", "x", "run")
_WRITTEN = (*_CODE, ".md", ".toml", ".json", ".txt", ".yml")
_COUNTED = (".cc", ".h", ".py")

# Folders that exist on one machine only. Written in pieces, so that this file does not find itself.
_MACHINE_PATHS = tuple("/" + name for name in ("work/main", "work/shared", "tmp/exp", "home/[a-z]"))


def licence(path: PurePosixPath, text: str) -> list[str]:
    """A missing or wrong SPDX line: GPL-2.0-only in general, MIT for the clients (anyone may link them)."""
    if not (path.suffix in _CODE or path.name in _CODE_NAMES) or not text.strip():
        return []
    wanted = "MIT" if path.parts[0] == "clients" else "GPL-2.0-only"
    match = re.search(r"SPDX-License-Identifier: (\S+)", "\n".join(text.splitlines()[:5]))
    if match is not None and match[1] == wanted:
        return []
    return [f"{path}: the first lines must say SPDX-License-Identifier: {wanted}"]


def length(path: PurePosixPath, text: str) -> list[str]:
    """A file that has grown too long."""
    lines = text.count("\n")
    is_test = path.stem.endswith("_test") or path.stem.startswith("test_")
    if path.suffix not in _COUNTED or lines <= (TEST_LINES_MAX if is_test else LINES_MAX):
        return []
    return [f"{path}: {lines} lines; split it by subject (at most about 400)"]


def columns(path: PurePosixPath, text: str, columns_max: int) -> list[str]:
    """Lines that are too long and could be broken: no rows of Markdown tables, no word such as a link."""
    if path.suffix == ".py" or (path.suffix not in _WRITTEN and path.name not in _CODE_NAMES):
        return []  # of Python ruff tells
    return [
        f"{path}:{number}: {len(line)} columns; at most {columns_max}"
        for number, line in enumerate(text.splitlines(), start=1)
        if len(line) > columns_max
        and not (path.suffix == ".md" and line.lstrip().startswith("|"))
        and len(line.split()) > 2  # a word alone, or behind the mark of a comment or of a list
    ]


def table_cells(path: PurePosixPath, text: str) -> list[str]:
    """Cells of Markdown tables that are too long to be read; the addresses of links do not count."""
    if path.suffix != ".md":
        return []
    cells = [
        (inline, len(_shown(inline)))
        for opened, inline in pairwise(_MARKDOWN.parse(text))
        if opened.type in ("td_open", "th_open")
    ]
    return [
        f"{path}:{(inline.map or [0])[0] + 1}: a cell of {length} characters; at most {CELL_CHARACTERS_MAX}"
        for inline, length in cells
        if length > CELL_CHARACTERS_MAX
    ]


def machine_paths(path: PurePosixPath, text: str, checkout: str) -> list[str]:
    """Paths that only exist on the machine of whoever wrote them."""
    # A checkout right below the root has too common a name to look for.
    here = [re.escape(checkout) + r"\b"] if len(PurePosixPath(checkout).parts) > 2 else []
    pattern = r"(?<![\w.-])(?:" + "|".join([*_MACHINE_PATHS, *here]) + ")"
    return [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1}: names a path of one machine ({match[0]}...); "
        f"write it relative"
        for match in re.finditer(pattern, text)
    ]


def links(path: PurePosixPath, text: str, read: Callable[[PurePosixPath], str | None]) -> list[str]:
    """Relative links of a Markdown file that lead nowhere.

    `read` gives a file's text, "" for a folder, None for nothing.
    """
    found = []
    for target in targets(text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = PurePosixPath(posixpath.normpath(path.parent / name)) if name else path
        there = text if not name else read(file)
        if there is None:
            found.append(f"{path}: the link to {target} leads nowhere; there is no {file}")
        elif anchor and file.suffix == ".md" and anchor not in anchors(there):
            found.append(f"{path}: the link to {target} leads to a heading that {file} does not have")
    return found


def anchors(text: str) -> set[str]:
    """The anchors of a Markdown file's headings, as code hosts make them."""
    tokens = _MARKDOWN.parse(text)
    headings = [_shown(inline) for opened, inline in pairwise(tokens) if opened.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def targets(text: str) -> list[str]:
    """Where the links and pictures of a Markdown file lead."""
    inlines = [part for token in _MARKDOWN.parse(text) for part in token.children or []]
    return [
        str(part.attrs.get("href") or part.attrs["src"])
        for part in inlines
        if part.type in ("link_open", "image")
    ]


def _shown(inline: Token) -> str:
    """The words of a piece of Markdown, without its marks and the addresses of its links."""
    return "".join(part.content for part in inline.children or [])
