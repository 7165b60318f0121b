# SPDX-License-Identifier: MIT
"""What a row can consist of, and what is refused since no row could be made of it."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any, Callable

import pytest

import rowsocket
from fake_server import FakeServer, Peer
from rowsocket import aio
from typed_table import answering, opens, users_of

READS: list[Callable[[rowsocket.Index[Any]], Any]] = [
    lambda users: users.get(1),
    lambda users: users.find(1),
    lambda users: users.find_in([1]),
    lambda users: users.find_keys([(1,)]),
    lambda users: users.starts_with("A"),
    lambda users: users.fetch_and_delete(1),
]


def without_columns(*steps: tuple[bytes, bytes]) -> Callable[[Peer], None]:
    """A server whose table is opened without columns, and that answers these lines then."""

    def conversation(peer: Peer) -> None:
        opens(peer, b"", reply=b"0\t1\n")
        for line, reply in steps:
            peer.expect(line)
            peer.send(reply)

    return conversation


@pytest.mark.parametrize("read", READS)
def test_no_columns_can_be_read(read: Callable[[rowsocket.Index[Any]], Any]) -> None:
    with (
        FakeServer(without_columns()) as server,
        rowsocket.connect(port=server.port, database="app") as connection,
    ):
        users = connection.table("user", [])
        with pytest.raises(ValueError, match="a row of no columns"):
            read(users)


@pytest.mark.parametrize("read", READS)
def test_no_columns_can_be_read_by_a_task(read: Callable[[Any], Any]) -> None:
    async def talk(port: int) -> None:
        async with await aio.connect(port=port, database="app") as connection:
            users = await connection.table("user", [])
            with pytest.raises(ValueError, match="a row of no columns"):
                await read(users)

    with FakeServer(without_columns()) as server:
        asyncio.run(talk(server.port))


def test_no_columns_of_one_request_can_be_read() -> None:
    with users_of(answering()) as users, pytest.raises(ValueError, match="a row of no columns"):
        users.get(1, columns=[])


def test_without_columns_rows_are_counted_inserted_and_deleted() -> None:
    steps = (
        (b"0\t=\t1\t1\t2147483647\t0\t#", b"0\t1\t1\n"),
        (b"0\t+\t0", b"0\t1\n"),
        (b"0\t=\t1\t1\t1\t0\tD", b"0\t1\t1\n"),
    )
    with (
        FakeServer(without_columns(*steps)) as server,
        rowsocket.connect(port=server.port, database="app") as connection,
    ):
        users = connection.table("user", [])
        assert (users.count(1), users.insert([]), users.delete(1)) == (1, None, 1)


@dataclasses.dataclass
class Named:
    """One of its fields is not given, but made."""

    id: int
    name: str = dataclasses.field(init=False, default="made")


def test_a_field_that_is_not_given_makes_no_row() -> None:
    with (
        FakeServer(Peer.until_closed) as server,
        rowsocket.connect(port=server.port, database="app") as connection,
        pytest.raises(TypeError, match="'name' with init=False"),
    ):
        connection.table("user", Named)


@pytest.mark.parametrize(
    "use",
    [
        lambda users: users.as_objects(Named),
        lambda users: users.insert(Named(1)),
        lambda users: users.update(1, Named(1)),
    ],
)
def test_a_field_that_is_not_given_is_not_left_out(use: Callable[[rowsocket.Index[Any]], Any]) -> None:
    with users_of(answering()) as users, pytest.raises(TypeError, match="'name' with init=False"):
        use(users)


@dataclasses.dataclass
class Scaled:
    id: int
    scale: dataclasses.InitVar[int]


def test_a_class_that_takes_more_than_its_fields_is_refused_before_the_first_row() -> None:
    with users_of(answering()) as users, pytest.raises(TypeError, match=r"of its fields alone.*'scale'"):
        users.as_objects(Scaled)


def test_a_field_that_is_not_given_makes_no_row_of_a_task() -> None:
    async def talk(port: int) -> None:
        async with await aio.connect(port=port, database="app") as connection:
            with pytest.raises(TypeError, match="'name' with init=False"):
                await connection.table("user", Named)

    with FakeServer(Peer.until_closed) as server:
        asyncio.run(talk(server.port))
