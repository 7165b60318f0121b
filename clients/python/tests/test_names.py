# SPDX-License-Identifier: MIT
from rowsocket._names import quoted


def test_a_name_of_sql_is_quoted() -> None:
    assert quoted("a`b") == "`a``b`"
