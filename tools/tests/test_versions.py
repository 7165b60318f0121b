# SPDX-License-Identifier: GPL-2.0-only
from rowsocket_x.versions import candidates, is_newer, newest_first

NEWEST, OLDER, OLDEST = "1:10.11.19-0+deb12u1", "1:10.11.18-0+deb12u1", "1:10.11.9-0+deb12u1"


def test_versions_are_ordered_as_dpkg_orders_them() -> None:
    assert newest_first([OLDEST, NEWEST, OLDER]) == [NEWEST, OLDER, OLDEST]
    assert is_newer("1.0", "1.0~rc1") and not is_newer("1.0", "1.0")


def test_candidates_are_in_both_lists_newest_first() -> None:
    assert candidates([OLDEST, NEWEST, OLDER], [OLDER, OLDEST, NEWEST], "10.11") == [NEWEST, OLDER, OLDEST]


def test_a_binary_without_source_is_no_candidate() -> None:
    assert candidates([NEWEST, OLDER], [OLDER], "10.11") == [OLDER]


def test_other_series_are_no_candidates() -> None:
    others = ["1:10.6.22-1", "1:11.4.3-1", "1:10.110.1-1"]
    assert candidates([*others, OLDER], [*others, OLDER], "10.11") == [OLDER]
