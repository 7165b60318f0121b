# SPDX-License-Identifier: GPL-2.0-only
from rowsocket_x.apt_sources import Mirror, mirrors_of, parse

ARCHIVE, SECURITY = "http://mirror.example/debian", "http://mirror.example/debian-security"
MACHINE = [
    Mirror(ARCHIVE, "bookworm"),
    Mirror(ARCHIVE, "bookworm-updates"),
    Mirror(SECURITY, "bookworm-security"),
]


def test_what_apt_shows_becomes_mirrors() -> None:
    shown = f"{ARCHIVE}/ bookworm Debian\n{ARCHIVE}/ bookworm Debian\n{SECURITY}/ bookworm-security \n"
    assert parse(shown) == [Mirror(ARCHIVE, "bookworm"), Mirror(SECURITY, "bookworm-security")]


def test_archives_of_others_are_left_out() -> None:
    assert (
        parse("https://apt.example.com/ bookworm Somebody\nhttps://other.example/ bookworm Some Body\n") == []
    )


def test_foreign_suites_and_mariadbs_own_archive_give_nothing() -> None:
    others = [
        Mirror("https://deb.mariadb.org/10.11/debian", "bookworm"),
        Mirror("https://apt.example", "nodistro"),
    ]
    assert mirrors_of("bookworm", [*others, *MACHINE], "bookworm") == mirrors_of(
        "bookworm", MACHINE, "bookworm"
    )


def test_the_mirrors_of_another_release_are_those_of_the_machine() -> None:
    assert mirrors_of("trixie", MACHINE, "bookworm") == [
        Mirror(ARCHIVE, "trixie"),
        Mirror(SECURITY, "trixie-security"),
        Mirror(ARCHIVE, "trixie-updates"),
    ]


def test_a_machine_without_mirrors_gets_the_default_ones() -> None:
    assert {mirror.suite for mirror in mirrors_of("bookworm", [], "bookworm")} == {
        "bookworm",
        "bookworm-security",
    }


def test_a_mirror_is_asked_for_sources_too() -> None:
    assert Mirror(ARCHIVE, "bookworm").lines("/keys.gpg") == [
        f"deb [signed-by=/keys.gpg] {ARCHIVE} bookworm main",
        f"deb-src [signed-by=/keys.gpg] {ARCHIVE} bookworm main",
    ]
