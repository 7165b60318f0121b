# SPDX-License-Identifier: GPL-2.0-only
from pathlib import Path

from rowsocket_x.apt_sources import Mirror, debian_mirrors, machine_mirrors, parse_deb822, parse_one_line

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"

DEB822 = f"""\
# the archive
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm
  bookworm-updates
Components: main contrib
# a comment inside
Signed-By: {KEYS}

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main

Enabled: no
Types: deb
URIs: http://disabled.example/debian
Suites: bookworm
Components: main
"""


def test_deb822_stanzas_give_every_suite() -> None:
    assert parse_deb822(DEB822) == [
        Mirror("http://mirror.example/debian", "bookworm", KEYS),
        Mirror("http://mirror.example/debian", "bookworm-updates", KEYS),
        Mirror("http://mirror.example/debian-security", "bookworm-security"),
    ]


def test_one_line_entries_with_and_without_options() -> None:
    text = f"""\
deb http://mirror.example/debian bookworm main  # the archive
deb [arch=amd64 signed-by={KEYS}] http://mirror.example/debian bookworm-updates contrib main
# deb http://commented.example/debian bookworm main
deb-src http://mirror.example/debian bookworm main
deb http://mirror.example/debian bookworm non-free
"""
    assert parse_one_line(text) == [
        Mirror("http://mirror.example/debian", "bookworm"),
        Mirror("http://mirror.example/debian", "bookworm-updates", KEYS),
    ]


def test_foreign_archives_are_left_out() -> None:
    ours = Mirror("http://mirror.example/debian", "bookworm")
    others = [Mirror("https://deb.mariadb.org/10.11/debian", "bookworm"), Mirror("https://tools.example/apt", "nodistro")]
    assert debian_mirrors([*others, ours, ours], "bookworm") == [ours]


def test_a_machine_without_mirrors_gets_the_default_ones() -> None:
    assert {mirror.suite for mirror in debian_mirrors([], "bookworm")} == {"bookworm", "bookworm-security"}


def test_a_mirror_is_asked_for_sources_too() -> None:
    assert Mirror("http://m/debian", "bookworm", KEYS).lines() == [
        f"deb [signed-by={KEYS}] http://m/debian bookworm main",
        f"deb-src [signed-by={KEYS}] http://m/debian bookworm main",
    ]


def test_both_formats_are_read_from_a_machine(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text("deb http://one.example/debian bookworm main\n")
    (tmp_path / "sources.list.d/two.sources").write_text(DEB822)
    (tmp_path / "sources.list.d/off.sources.disabled").write_text(DEB822)
    assert [mirror.uri for mirror in machine_mirrors(tmp_path)][:2] == [
        "http://one.example/debian",
        "http://mirror.example/debian",
    ]
    assert len(machine_mirrors(tmp_path)) == 4
