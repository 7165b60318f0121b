# SPDX-License-Identifier: GPL-2.0-only
"""`./x docs`: the documents as a site, made by Zensical from the same Markdown files that a forge shows.

The pages are laid out in build/docs/pages as the repository has them, so that their links to each other hold.
A link to a source leads to a page made of it, as a forge has one; a link to a folder leads to its README.
What a page shows or links beside that (pictures, the report of the benchmarks) is copied.
"""

import functools
import http.server
import posixpath
import re
import shutil
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from rowsocket_x import python_layers, rules
from rowsocket_x.console import Problem, run, say, step
from rowsocket_x.paths import BUILD, ROOT, VENV

SETTINGS = ROOT / "tools/site"
FOLDER = BUILD / "docs"

FIRST = (PurePosixPath("README.md"), PurePosixPath("docs"))
"""Where the pages begin; what they link to follows."""

_COPIED = (".svg", ".png", ".html")


def build() -> Path:
    """Make the site anew; the folder that it is in. A link that leads nowhere is a `Problem`."""
    python_layers.require(python_layers.Layer.DOCS)
    with step("making the site"):
        shutil.rmtree(FOLDER, ignore_errors=True)
        documents = lay_out(ROOT, FOLDER / "pages")
        require_navigation(documents, (SETTINGS / "zensical.toml").read_text())
        shutil.copyfile(SETTINGS / "zensical.toml", FOLDER / "zensical.toml")
        shutil.copyfile(SETTINGS / "extra.css", FOLDER / "pages/extra.css")
        command = [str(VENV / "bin/python"), "-m", "zensical", "build", "--strict", "--clean"]
        run(command, what="making the site", cwd=FOLDER)
    return FOLDER / "site"


def serve(folder: Path, port: int) -> None:
    """Show the site on loopback until Ctrl-C."""
    handler = functools.partial(_QuietHandler, directory=folder)
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        raise Problem(f"port {port}: {error.strerror}", "another one: ./x docs --serve --port 0") from None
    with server:
        say(f"http://127.0.0.1:{server.server_address[1]}/ (Ctrl-C ends it)")
        server.serve_forever()


def lay_out(root: Path, pages: Path) -> list[PurePosixPath]:
    """Write the pages, and all that they link to, below `pages`; the documents among them."""
    documents: dict[PurePosixPath, str] = {}
    others: set[PurePosixPath] = set()
    waiting = [one for first in FIRST for one in _documents(root, first)]
    while waiting:
        path = waiting.pop()
        if path in documents:
            continue
        text = (root / path).read_text()
        documents[path], linked = _with_links(root, path, text)
        waiting += [one for one in linked if one.suffix == ".md"]
        others.update(one for one in linked if one.suffix != ".md")
    for path, text in documents.items():
        _write(pages / path, text.encode())
    for path in others:
        if path.suffix in _COPIED:
            _write(pages / path, (root / path).read_bytes())
        else:
            _write(pages / _page_of(path), _source(path, (root / path).read_text()).encode())
    return sorted(documents)


def require_navigation(documents: Sequence[PurePosixPath], settings: str) -> None:
    """A `Problem` where the navigation does not have each document once, or has others."""
    named = list(_named(tomllib.loads(settings)["project"]["nav"]))
    wrong = {one for one in named if named.count(one) > 1} ^ (set(named) ^ {str(one) for one in documents})
    if wrong:
        hint = "nav in tools/site/zensical.toml has each document once, and nothing else"
        raise Problem(f"the navigation and the documents differ: {', '.join(sorted(wrong))}", hint)


def _named(entry: object) -> Iterable[str]:
    """The pages that an entry of the navigation names, in their order."""
    if isinstance(entry, str):
        yield entry
    else:
        assert isinstance(entry, list | dict)
        for part in entry if isinstance(entry, list) else entry.values():
            yield from _named(part)


def _documents(root: Path, place: PurePosixPath) -> Iterable[PurePosixPath]:
    found = [root / place] if (root / place).is_file() else (root / place).rglob("*.md")
    return sorted(PurePosixPath(one.relative_to(root)) for one in found)


def _with_links(root: Path, path: PurePosixPath, text: str) -> tuple[str, set[PurePosixPath]]:
    """A document with its links as the site has them, and the files of the repository that it links to."""
    linked = set()
    for target in set(rules.targets(text)):
        name, mark, anchor = target.partition("#")
        if not name or re.match(r"[a-z]+:", target):
            continue
        file = PurePosixPath(posixpath.normpath(path.parent / name))
        if (root / file).is_dir():
            name, file = posixpath.join(name, "README.md"), file / "README.md"
        if not (root / file).is_file():
            raise Problem(f"{path}: the link to {target} leads nowhere; there is no {file}")
        linked.add(file)
        if file.suffix != ".md" and file.suffix not in _COPIED:
            name = str(PurePosixPath(name).with_name(_page_of(file).name))
        text = text.replace(f"]({target})", f"]({name}{mark}{anchor})")
    return text, linked


def _page_of(source: PurePosixPath) -> PurePosixPath:
    return source.with_name(source.name + ".md")


def _source(path: PurePosixPath, text: str) -> str:
    language = {".h": "cpp", ".cc": "cpp", ".py": "python"}.get(path.suffix, "text")
    return f"---\nsearch:\n  exclude: true\n---\n\n# {path}\n\n`````{language}\n{text}`````\n"


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


class _QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """One line per request would hide the line that says where the site is."""
