# SPDX-License-Identifier: GPL-2.0-only
from pathlib import PurePosixPath

from rowsocket_x import rules

SOURCE, CLIENT, PAGE = (
    PurePosixPath("src/base/a.cc"),
    PurePosixPath("clients/python/a.py"),
    PurePosixPath("docs/a.md"),
)


def link_findings(text: str, **files: str) -> list[str]:
    there = {
        "docs/b.md": "",
        "README.md": "",
        **{name.replace("__", "."): text for name, text in files.items()},
    }
    return rules.links(PAGE, text, lambda path: there.get(str(path)))


def test_a_source_needs_the_licence_of_its_place() -> None:
    gpl, mit = "// SPDX-License-Identifier: GPL-2.0-only\n", "# SPDX-License-Identifier: MIT\n"
    assert rules.licence(SOURCE, gpl) == rules.licence(CLIENT, mit) == []
    assert rules.licence(SOURCE, mit) and rules.licence(CLIENT, gpl) and rules.licence(SOURCE, "int x;\n")


def test_an_empty_file_needs_no_licence() -> None:
    assert rules.licence(CLIENT, "") == []


def test_only_code_is_held_to_a_length() -> None:
    long = "line\n" * (rules.LINES_MAX + 1)
    assert rules.length(SOURCE, long) and not rules.length(SOURCE, "line\n" * rules.LINES_MAX)
    assert rules.length(PAGE, long) == []
    assert rules.length(PurePosixPath("src/base/a_test.cc"), long) == []


def test_paths_of_one_machine_are_found_with_their_line() -> None:
    text = "fine\nsee /elsewhere/checkout/src\n"
    assert rules.machine_paths(PAGE, text, "/elsewhere/checkout")[0].startswith("docs/a.md:2: ")
    assert (
        rules.machine_paths(PAGE, "/usr/lib and /tmp/x and src/elsewhere/checkout", "/elsewhere/checkout")
        == []
    )
    assert rules.machine_paths(PAGE, "clients/python/src/rowsocket", "/rowsocket") == []


def test_links_are_followed_from_the_page_that_holds_them() -> None:
    assert (
        link_findings("[b](b.md) [up](../README.md) [web](https://example.com) [here](#top)\n# Top\n") == []
    )
    assert len(link_findings("[gone](gone.md) [outside](../../gone.md)")) == 2


def test_a_link_to_a_heading_needs_that_heading() -> None:
    assert rules.anchors("# What `x` does, today\n") == {"what-x-does-today"}
    assert len(link_findings("[no](#nowhere)\n# Top\n")) == 1


def test_pictures_are_links() -> None:
    assert len(link_findings("![plot](gone.svg)")) == 1


def test_links_in_code_are_no_links() -> None:
    assert link_findings("`[a](gone.md)`\n```\n[a](gone.md)\n```\n") == []


def test_a_line_that_could_be_broken_is_held_to_its_columns() -> None:
    text = "short line\n" + "word " * 5 + "\n"
    assert rules.columns(PAGE, text, 20) == ["docs/a.md:2: 25 columns; at most 20"]
    assert rules.columns(PurePosixPath("src/base/CMakeLists.txt"), text, 20) != []
    assert rules.columns(PurePosixPath("docs/a.svg"), text, 20) == []


def test_a_long_word_and_a_row_of_a_table_may_be_longer() -> None:
    assert (
        rules.columns(PAGE, "- https://example.com/very/long/address\n| a | long | row of a table |\n", 20)
        == []
    )


def cells(row: str) -> list[str]:
    """What is found in a table with this row, and a line behind it that is none."""
    return rules.table_cells(PAGE, f"| a | b |\n|---|---|\n{row}\n\n{'no table ' * 20}\n")


def test_a_cell_of_a_table_is_held_to_its_length() -> None:
    long = "c" * rules.CELL_CHARACTERS_MAX
    assert cells(f"| {long}c | b |")[0].startswith("docs/a.md:3: a cell of 81 ")
    assert cells(f"| {long} | {long} |") == []


def test_the_address_of_a_link_is_not_part_of_a_cell() -> None:
    assert cells(f"| [name](https://example.com/{'x' * 100}) | b |") == []
