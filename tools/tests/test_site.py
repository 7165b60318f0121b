# SPDX-License-Identifier: GPL-2.0-only
"""What `./x docs` lays out. The site itself is tried in tests/site."""

from pathlib import Path, PurePosixPath

import pytest

from rowsocket_x import site
from rowsocket_x.console import Problem


def pages_of(folder: Path, **files: str) -> tuple[list[str], Path]:
    """What becomes of a repository with these files; the documents' names, and the pages."""
    root, pages = folder / "root", folder / "pages"
    for name, text in {"README.md": "", "docs/a.md": "", **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [str(one) for one in site.lay_out(root, pages)], pages


def test_a_document_outside_docs_is_a_page_if_one_links_to_it(tmp_path: Path) -> None:
    documents, pages = pages_of(tmp_path, **{"docs/b.md": "[s](../S.md#top)", "S.md": "# Top\n", "T.md": ""})
    assert documents == ["README.md", "S.md", "docs/a.md", "docs/b.md"]
    assert (pages / "docs/b.md").read_text() == "[s](../S.md#top)"


def test_a_link_to_a_folder_leads_to_its_readme(tmp_path: Path) -> None:
    _, pages = pages_of(tmp_path, **{"README.md": "[all](docs/more/)", "docs/more/README.md": ""})
    assert (pages / "README.md").read_text() == "[all](docs/more/README.md)"


def test_a_link_to_a_source_leads_to_a_page_of_it(tmp_path: Path) -> None:
    documents, pages = pages_of(tmp_path, **{"docs/a.md": "[l](../src/l.h)", "src/l.h": "int x;\n"})
    assert (pages / "docs/a.md").read_text() == "[l](../src/l.h.md)"
    assert "int x;\n" in (pages / "src/l.h.md").read_text()
    assert "src/l.h.md" not in documents


def test_a_picture_is_copied(tmp_path: Path) -> None:
    _, pages = pages_of(tmp_path, **{"docs/a.md": "![p](p.svg)", "docs/p.svg": "<svg/>"})
    assert (pages / "docs/p.svg").read_text() == "<svg/>"


def test_a_picture_of_bytes_is_copied(tmp_path: Path) -> None:
    picture = tmp_path / "root/docs/p.png"
    picture.parent.mkdir(parents=True)
    picture.write_bytes(b"\x89PNG\r\n")
    _, pages = pages_of(tmp_path, **{"docs/a.md": "![p](p.png)"})
    assert (pages / "docs/p.png").read_bytes() == b"\x89PNG\r\n"


@pytest.mark.parametrize("target", ["gone.md", "gone.h", "gone/", "../docs"])
def test_a_link_to_nothing_is_a_problem(tmp_path: Path, target: str) -> None:
    with pytest.raises(Problem, match="leads nowhere"):
        pages_of(tmp_path, **{"docs/a.md": f"[gone]({target})"})


@pytest.mark.parametrize("nav", ['["a.md"]', '["a.md", "b.md", "c.md"]', '["a.md", {S = ["b.md", "a.md"]}]'])
def test_the_navigation_has_each_document_once(nav: str) -> None:
    documents = [PurePosixPath("a.md"), PurePosixPath("b.md")]
    site.require_navigation(documents, '[project]\nnav = ["a.md", {S = [{B = "b.md"}]}]')
    with pytest.raises(Problem, match="differ"):
        site.require_navigation(documents, f"[project]\nnav = {nav}")
