# SPDX-License-Identifier: GPL-2.0-only
"""The judge of replies notices what it is there for, and a seed always sends the same."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fuzz_server import journal
from fuzz_server.fuzzing import errors_in_log
from fuzz_server.grammar import Grammar
from fuzz_server.mutation import mutated, pieces
from fuzz_server.replies import ANY, DONE, INSERTED, NUMBER, REFUSED, Form, fault, outcomes, rows
from fuzz_server.scene import shapes
from fuzz_server.wire import Fault, Wire

PLUGINS = ("ha_rocksdb",)
Answer = Callable[[bytes], bytes]


@pytest.mark.parametrize(
    ("reply", "form"),
    [
        (b"", ANY),
        (b"0", ANY),
        (b"x\t1", ANY),
        (b"4\t1\tsyntax", ANY),
        (b"0\t2\ta", rows(2)),
        (b"0\t3\ta\tb\tc", rows(2)),
        (b"0\t0\ta", rows(0)),
        (b"0\t1\ta\x00", rows(1)),
        (b"0\t1\t\x01", rows(1)),
        (b"0\t1\t\x01\x50", rows(1)),
        (b"0\t1\t\x02", rows(1)),
        (b"0\t1\t1", DONE),
        (b"0\t1", NUMBER),
        (b"0\t1\tx", NUMBER),
        (b"0\t1\t1\t2", INSERTED),
        (b"0\t2\t1\t\0", outcomes(2)),
        (b"0\t1", REFUSED),
        (b"1\t1\t0", ANY),
        (b"1\t1\t120", ANY),
        (b"1\t1\tnonsense", ANY),
        (b"1\t1\t1194", ANY),
        (b"2\t1\t1062", ANY),
        (b"1\t2\topen_table", ANY),
        (b"1\t1", ANY),
        (b"1\t1\topen_table\tdetail\tmore", ANY),
    ],
)
def test_a_reply_that_no_client_could_understand_is_a_fault(reply: bytes, form: Form) -> None:
    assert fault(reply, form)


@pytest.mark.parametrize(
    ("reply", "form"),
    [
        (b"0\t1", DONE),
        (b"0\t2\ta\t\0\t\x01\x40b\t", rows(2)),
        (b"0\t0", rows(0)),
        (b"0\t1\t17", NUMBER),
        (b"0\t2\t1\t\0\t!121\t\0", outcomes(2)),
        (b"1\t1\t1062", NUMBER),
        (b"1\t1\topen_table\twith a detail", REFUSED),
    ],
)
def test_a_good_reply_is_none(reply: bytes, form: Form) -> None:
    assert fault(reply, form) == ""


@pytest.fixture
def prove(tmp_path: Path) -> Iterator[Callable[[Answer], None]]:
    """prove(answer): `Wire.prove` against a server that answers each line with what `answer` says."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:

        def serve(answer: Answer) -> None:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as lines:
                for line in lines:
                    connection.sendall(answer(line.rstrip(b"\n")))

        def make(answer: Answer) -> None:
            threading.Thread(target=serve, args=(answer,), daemon=True).start()
            log = journal.Journal(tmp_path / "journal", 1, ())
            with closing(log), Wire(listener.getsockname(), log, "x", "read", b"", 1.0) as wire:
                wire.prove(7, 0, may_be_interrupted=False)

        yield make


def as_rowsocket(line: bytes) -> bytes:
    """What RowSocket says to the lines of `Wire.prove`."""
    return {b"": b"2\t1\tcmd\n", b"E": b"2\t1\tgroup\n", b"4": b"0\t1\t7\n"}.get(line[:1], b"0\t1\n")


def test_replies_in_step_are_taken(prove: Callable[[Answer], None]) -> None:
    prove(as_rowsocket)


@pytest.mark.parametrize("line", [b"", b"E", b"4"])
@pytest.mark.parametrize("change", [lambda reply: b"", lambda reply: reply * 2, lambda reply: b"1\t1\t0\n"])
def test_a_reply_too_few_or_too_many_is_noticed(
    prove: Callable[[Answer], None], line: bytes, change: Callable[[bytes], bytes]
) -> None:
    """A second reply to the last line is noticed by what comes next: here there is nothing."""
    if line == b"4" and change(b"x") == b"xx":
        prove(lambda sent: change(as_rowsocket(sent)) if sent[:1] == line else as_rowsocket(sent))
        return
    with pytest.raises(Fault):
        prove(lambda sent: change(as_rowsocket(sent)) if sent[:1] == line else as_rowsocket(sent))


def test_a_seed_always_sends_the_same() -> None:
    def sent(seed: int) -> list[bytes]:
        choose = random.Random(seed)
        lines = [asked.line for asked in Grammar(choose, shapes(PLUGINS)).requests(300)]
        return pieces(choose, mutated(choose, b"\n".join(lines)))

    assert sent(1) == sent(1) != sent(2)


def test_pieces_are_the_whole() -> None:
    choose = random.Random(1)
    for size in (0, 1, 2, 500, 5000):
        data = choose.randbytes(size)
        assert all(b"".join(pieces(choose, data)) == data for _ in range(50))


def test_only_lines_of_level_error_count() -> None:
    log = "2026-01-01 [Note] fine\n2026-01-01 [ERROR] InnoDB: damage\n2026-01-01 [Warning] hm"
    assert errors_in_log(log) == ["2026-01-01 [ERROR] InnoDB: damage"]
