# SPDX-License-Identifier: GPL-2.0-only
"""The site that `./x docs` makes: every link in it leads somewhere, it shows what a forge shows of the same
Markdown, it can be searched, and it fetches nothing from elsewhere.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tomllib
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt

from rowsocket_x import site

ROOT = Path(__file__).resolve().parents[2]
SHOWN = ("h1", "h2", "h3", "h4", "li", "table", "tr", "pre", "ol", "ul", "img", "strong", "blockquote")
"""What a page must have as many of as a forge makes of its Markdown."""


@dataclass
class Page(HTMLParser):
    """What stands in a page of HTML."""

    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    shown: Counter[str] = field(default_factory=Counter)
    """Elements of the article itself."""
    in_article: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        self.in_article |= tag == "article"
        self.shown[tag] += self.in_article
        self.anchors |= {str(own[name]) for name in ("id", "name") if name in own}
        if "href" in own and tag == "a":
            self.links.append(str(own["href"]))
        self.fetched += [str(own[name]) for name in ("src", "href") if name in own and tag != "a"]

    def handle_endtag(self, tag: str) -> None:
        self.in_article &= tag != "article"


@pytest.fixture(scope="module")
def folder() -> Path:
    return site.build()


@pytest.fixture(scope="module")
def pages(folder: Path) -> dict[Path, Page]:
    """Every page that Zensical made, by its file. (404.html is served from anywhere.)"""
    made = {}
    for file in folder.rglob("*.html"):
        if file.name not in ("404.html", "report.html"):
            made[file] = Page()
            made[file].feed(file.read_text())
    return made


def documents() -> Iterator[tuple[Path, str]]:
    """The documents as they were laid out, with the page that each becomes."""
    for path in sorted((site.FOLDER / "pages").rglob("*.md")):
        text = path.read_text()
        if not text.startswith("---"):  # no source
            name = path.relative_to(site.FOLDER / "pages").with_suffix(".html")
            yield name.with_name(name.name.replace("README.html", "index.html")), text


def test_every_link_inside_the_site_leads_somewhere(folder: Path, pages: dict[Path, Page]) -> None:
    wrong, followed = [], 0
    for file, page in pages.items():
        for link in page.links + page.fetched:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            followed += 1
            there = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            there = there / "index.html" if there.is_dir() else there
            missing = not there.is_file() or not there.is_relative_to(folder)
            if missing or (parts.fragment and there in pages and parts.fragment not in pages[there].anchors):
                wrong.append(f"{file.relative_to(folder)}: {link}")
    assert not wrong, "\n".join(wrong)
    assert followed > 1000


def test_every_document_is_a_page_and_the_menu_leads_to_it(folder: Path, pages: dict[Path, Page]) -> None:
    led = {
        (file.parent / urlsplit(link).path).resolve() for file, page in pages.items() for link in page.links
    }
    there = [name for name, _ in documents()]
    assert len(there) > 30
    assert [str(name) for name in there if folder / name not in led] == []


def test_a_tab_leads_to_the_first_page_of_its_part(folder: Path) -> None:
    tabs = re.findall(r'href="([^"]+)" class="md-tabs__link"', (folder / "index.html").read_text())
    nav = tomllib.loads((site.SETTINGS / "zensical.toml").read_text())["project"]["nav"]
    first = [next(iter(pages[0].values())) for part in nav for pages in part.values()]
    made = [name.replace("README.md", "index.html").replace(".md", ".html") for name in first]
    assert [tab.removeprefix("./") for tab in tabs] == made


def test_a_page_shows_what_a_forge_shows(folder: Path, pages: dict[Path, Page]) -> None:
    """Lists, tables and blocks of code are the same ones.

    The two read Markdown a little differently. Where a list item holds a block (a table, code), indent it by
    four spaces, and leave a line empty before the next item.
    """
    wrong = []
    for name, text in documents():
        forge = Page(in_article=True)
        forge.feed(MarkdownIt("gfm-like", {"linkify": False}).render(text))
        shown = pages[folder / name].shown
        wrong += [
            f"{name}: {shown[tag]} of {tag}, and {forge.shown[tag]} on a forge"
            for tag in SHOWN
            if shown[tag] != forge.shown[tag]
        ]
    assert not wrong, "\n".join(wrong)


def test_a_page_fetches_nothing_from_elsewhere(folder: Path, pages: dict[Path, Page]) -> None:
    fetched = [address for page in pages.values() for address in page.fetched]
    fetched += [
        str(address)
        for style in folder.rglob("*.css")
        for address in re.findall(r"url\(([^)]+)\)|@import", style.read_text())
    ]
    assert [address for address in fetched if re.match(r"['\"]?(https?:)?//", address)] == []


def test_a_page_is_made_for_phones_and_for_the_dark(pages: dict[Path, Page], folder: Path) -> None:
    text = (folder / "index.html").read_text()
    assert '<meta name="viewport" content="width=device-width' in text
    assert "(prefers-color-scheme: dark)" in text


def test_the_search_knows_the_words_of_every_document(folder: Path) -> None:
    found = json.loads((folder / "search.json").read_text())["items"]
    text = " ".join(item["text"] for item in found)
    assert all(
        word in text for word in ("libhsclient", "rowsocket_threads_read", "innodb_memcache.containers")
    )
    named = {urlsplit(item["location"]).path for item in found}
    assert {str(name) for name, _ in documents()} - {"index.html"} <= named


def test_the_site_is_served_until_it_is_interrupted() -> None:
    command = [sys.executable, "-m", "rowsocket_x", "docs", "--serve", "--port=0"]
    environment = {"PYTHONPATH": str(ROOT / "tools"), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = (re.search(r"http://\S+", line) for line in process.stderr)
        address = next(found[0] for found in said if found)
        with urllib.request.urlopen(address + "docs/security.html", timeout=10) as answer:
            assert "Accounts and TLS" in answer.read().decode()
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(120)
    assert code == 130
