# SPDX-License-Identifier: MIT
"""The extensions of RowSocket as the client speaks them: clauses, inserts of many rows, and what is refused
before it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import rowsocket
from fake_server import FakeServer, Peer
from rowsocket import NOW, Filter, Index, Inserted, TextRow

ROWS = b"0\t2\t1\tAda\n"
COUNT = b"0\t1\t3\n"


class Asked:
    """An index on a server that answers every request alike, and what it was asked."""

    def __init__(self, users: Index[TextRow], lines: list[bytes]) -> None:
        self.users = users
        self._lines = lines

    def one(self) -> str:
        """The one line that was asked since the last call, TABs as spaces, without the id."""
        (line,) = self._lines
        self._lines.clear()
        return line.partition(b"\t")[2].replace(b"\t", b" ").decode("latin-1")


@contextmanager
def asking(reply: bytes) -> Iterator[Asked]:
    lines: list[bytes] = []

    def conversation(peer: Peer) -> None:
        peer.open(rest=b"age,city")
        while line := peer.read():
            lines.append(line)
            peer.send(reply)

    with FakeServer(conversation) as server, rowsocket.connect(port=server.port, text=True) as connection:
        yield Asked(
            connection.open_index("app", "user", ["id", "name"], filter_columns=["age", "city"]), lines
        )


# ── reads ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_range_with_two_ends_and_its_reverse() -> None:
    with asking(ROWS) as asked:
        assert asked.users.find(40, ">=", to=("<", 50), limit=None) == [("1", "Ada")]
        assert asked.one() == ">= 1 40 2147483647 0 T < 1 50"
        asked.users.find((1, "a"), "<=", to=(">", (1,)), reverse=True, limit=5)
        assert asked.one() == "<= 2 1 a 5 0 T > 1 1 R"


def test_lists_with_a_limit_for_each_of_their_values() -> None:
    with asking(ROWS) as asked:
        asked.users.find_in([17, 18], limit_per_value=3, reverse=True)
        assert asked.one() == "= 1  2147483647 0 @ 0 2 17 18 L 3 R"
        asked.users.find_keys([("a", 1), ("b", None)], limit_per_value=2)
        assert asked.one() == "= 2   2147483647 0 @@ 2 a 1 b \0 L 2"


def test_keys_of_one_value_are_a_list_that_the_original_knows() -> None:
    with asking(ROWS) as asked:
        asked.users.find_keys([1, 2])
        assert asked.one() == "= 1  2147483647 0 @ 0 2 1 2"
        assert asked.users.find_keys([]) == []
        assert asked.one() == "= 1  2147483647 0 @ 0 1 \0"


def test_columns_of_one_request_are_those_of_its_rows() -> None:
    with asking(b"0\t1\tAda\n") as asked:
        assert asked.users.get(1, columns=["name"]) == ("Ada",)
        assert asked.one() == "= 1 1 1 0 C name"
        assert asked.users.as_dicts().find(1, columns="name") == [{"name": "Ada"}]
        assert asked.one() == "= 1 1 1 0 C name"


def test_text_that_begins_so() -> None:
    with asking(ROWS) as asked:
        assert asked.users.starts_with("Jo") == [("1", "Ada")]
        assert asked.one() == "^= 1 Jo 2147483647 0"
        asked.users.starts_with(("Oslo", "J%"), limit=2)
        assert asked.one() == "^= 2 Oslo J% 2 0"


def test_a_count_has_no_limit_unless_it_is_given_one() -> None:
    with asking(COUNT) as asked:
        assert asked.users.count(40, ">=", filters=[Filter("age", ">", 18)]) == 3
        assert asked.one() == ">= 1 40 2147483647 0 F > 0 18 #"
        assert asked.users.count((), in_values=[1, 2], limit=10) == 3
        assert asked.one() == "= 1  10 0 @ 0 2 1 2 #"


def test_now_stands_for_a_value_and_a_text_of_its_bytes_does_not() -> None:
    with asking(ROWS) as asked:
        asked.users.find(NOW, "<=", filters=[Filter("age", "<", NOW)])
        assert asked.one() == "<= 1 \x01t 1 0 F < 0 \x01t"
        asked.users.find("\x01t")
        assert asked.one() == "= 1 \x01At 1 0"


# ── changes ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_changes_that_return_the_rows_afterwards() -> None:
    with asking(ROWS) as asked:
        assert asked.users.increment_and_fetch(1) == [("1", "Ada")]
        assert asked.one() == "= 1 1 1 0 +! 1"
        asked.users.decrement_and_fetch(1, [1, 2])
        assert asked.one() == "= 1 1 1 0 -! 1 2"
        asked.users.update_and_fetch(1, {"id": 2})
        assert asked.one() == "= 1 1 1 0 U! 2"


def test_changes_by_a_list_of_keys() -> None:
    with asking(COUNT) as asked:
        assert asked.users.update_keys([("a", 1), ("b", 2)], [9]) == 3
        assert asked.one() == "= 2   2147483647 0 @@ 2 a 1 b 2 U 9"
        assert asked.users.delete_keys([1, 2]) == 3
        assert asked.one() == "= 1  2147483647 0 @ 0 2 1 2 D"
        asked.users.delete(1, ">=", to=("<", 9), limit=None)
        assert asked.one() == ">= 1 1 2147483647 0 T < 1 9 D"


def test_a_change_of_other_columns() -> None:
    with asking(COUNT) as asked:
        asked.users.update(1, {"email": "a@b"}, columns=["email", "name"])
        assert asked.one() == "= 1 1 1 0 C email,name U a@b"
        with pytest.raises(ValueError, match="id"):
            asked.users.update(1, {"id": "x"}, columns=["email", "name"])


@pytest.mark.parametrize(("reply", "was_set"), [(b"0\t1\t1\n", True), (b"0\t1\t0\n", False)])
def test_compare_and_set(reply: bytes, was_set: bool) -> None:
    with asking(reply) as asked:
        assert asked.users.compare_and_set(1, {"age": 7, "city": None}, {"id": 1, "name": "x"}) is was_set
        assert asked.one() == "= 1 1 1 0 F = 0 7 F = 1 \0 U 1 x"


# ── inserts ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_many_rows_and_what_came_of_each() -> None:
    with asking(b"0\t2\t1\t7\t2\t3\t0\t\x00\t1\t0\n") as asked:
        assert asked.users.insert_many([[None, "a"], {"id": 3, "name": "b"}, (4, "c"), (5, NOW)]) == [
            Inserted("inserted", 7, None),
            Inserted("changed", 3, None),
            Inserted("unchanged", None, None),
            Inserted("inserted", None, None),
        ]
        assert asked.one() == "++ 2 4 \0 a 3 b 4 c 5 \x01t"


def test_rows_each_for_itself_have_their_own_errors() -> None:
    with asking(b"0\t2\t1\t7\t!121\t\x00\t!1406\t\x00\n") as asked:
        first, second, third = asked.users.insert_many([[1], [2], [3]], each=True)
        assert asked.one() == "++ 1 3 1 2 3 E"
        assert (first.outcome, second.outcome, third.outcome) == ("inserted", "failed", "failed")
        assert isinstance(second.error, rowsocket.DuplicateKey)
        assert isinstance(third.error, rowsocket.InvalidValue)


def test_what_is_done_where_a_row_is_there() -> None:
    with asking(b"0\t2\t2\t\x00\n") as asked:
        users, row = asked.users, (1, "a")
        assert users.insert_ignore(row) == Inserted("changed", None, None)
        assert asked.one() == "++ 2 1 1 a I"
        users.replace(row)
        assert asked.one() == "++ 2 1 1 a R"
        users.upsert(row)
        assert asked.one() == "++ 2 1 1 a U 0,1"
        users.upsert(row, update=["name"])
        assert asked.one() == "++ 2 1 1 a U 1"
        users.upsert(row, add="name")
        assert asked.one() == "++ 2 1 1 a U 0 + 1"
        users.upsert({"visits": 1, "id": 7}, update=(), add=["visits"], columns=["id", "visits"])
        assert asked.one() == "++ 2 1 7 1 C id,visits + 1"
        users.insert_many([row], on_duplicate="keep", each=True)
        assert asked.one() == "++ 2 1 1 a I E"


def test_what_is_no_outcome_breaks_the_connection() -> None:
    for reply in (b"0\t2\n", b"0\t1\t1\n", b"0\t2\t1\n", b"0\t2\t5\t1\n", b"0\t2\t1\tx\n"):
        with asking(reply) as asked, pytest.raises(rowsocket.ProtocolError):
            asked.users.insert_many([[1]])


# ── mistakes ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "arguments",
    [
        {"to": ("<", 5)},
        {"op": ">", "to": (">", 5)},
        {"op": "^=", "to": ("<", 5)},
        {"limit_per_value": 3},
        {"in_values": [1], "limit_per_value": 0},
        {"in_values": [1], "limit_per_value": 2**63},
        {"limit": 2**63},
        {"offset": 2**63},
        {"in_values": [1], "keys": [1]},
        {"in_values": []},
        {"keys": [1]},
        {"columns": ["a,b"]},
        {"columns": ["a\tb"]},
    ],
)
def test_a_selection_that_makes_no_sense_is_seen_before_it_is_sent(arguments: dict[str, Any]) -> None:
    with asking(ROWS) as asked, pytest.raises(ValueError):
        asked.users.find(1, **arguments)


def test_keys_of_different_lengths_are_refused() -> None:
    with asking(ROWS) as asked, pytest.raises(ValueError, match="same length"):
        asked.users.find_keys([("a", 1), ("b",)])


def test_an_unknown_argument_is_a_type_error() -> None:
    with asking(ROWS) as asked, pytest.raises(TypeError, match="limits"):
        asked.users.find(1, limits=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "arguments",
    [
        {"rows": []},
        {"rows": [[1], [1, "a"]]},
        {"rows": [[1, "a", 3]]},
        {"rows": [[1, "a"]], "update": ["email"]},
        {"rows": [[1]], "update": ["name"]},
        {"rows": [[1, "a"]], "update": ["name"], "add": ["name"]},
        {"rows": [[1, "a"]], "update": ["name"], "on_duplicate": "keep"},
        {"rows": [[1, "a"]], "on_duplicate": "ignore"},
    ],
)
def test_an_insert_that_makes_no_sense_is_seen_before_it_is_sent(arguments: dict[str, Any]) -> None:
    with asking(ROWS) as asked, pytest.raises(ValueError):
        asked.users.insert_many(**arguments)
