# SPDX-License-Identifier: GPL-2.0-only
import pytest

from rowsocket_x.debian_version import candidates, compare, newest_by_name

NEWEST, OLDER, OLDEST = "1:10.11.19-0+deb12u1", "1:10.11.18-0+deb12u1", "1:10.11.9-0+deb12u1"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("1.9", "1.10"),
        ("1.0", "1.0-1"),
        ("1.0~rc1", "1.0"),
        ("1.0~~", "1.0~"),
        ("9.0", "1:0.1"),
        ("1.0-1", "1.0-1+b1"),
        ("1.0a", "1.0+"),
        ("10.11.18-0+deb12u1", "10.11.18-0+deb12u2"),
        (OLDEST, OLDER),
    ],
)
def test_versions_are_ordered_as_dpkg_orders_them(older: str, newer: str) -> None:
    assert compare(older, newer) < 0 < compare(newer, older)
    assert compare(older, older) == 0


def test_candidates_are_in_both_lists_newest_first() -> None:
    assert candidates([OLDEST, NEWEST, OLDER], [OLDER, OLDEST, NEWEST], "10.11") == [NEWEST, OLDER, OLDEST]


def test_a_binary_without_source_is_no_candidate() -> None:
    assert candidates([NEWEST, OLDER], [OLDER], "10.11") == [OLDER]


def test_other_series_are_no_candidates() -> None:
    others = ["1:10.6.22-1", "1:11.4.3-1", "1:10.110.1-1"]
    assert candidates([*others, OLDER], [*others, OLDER], "10.11") == [OLDER]


def test_the_newest_version_of_each_name_wins() -> None:
    assert newest_by_name([("bash", "5.2-1"), ("bash", "5.10-1"), ("zsh", "5.9")]) == {"bash": "5.10-1", "zsh": "5.9"}
