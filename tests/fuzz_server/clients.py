# SPDX-License-Identifier: GPL-2.0-only
"""Clients of all manners: by the grammar, mutated, in pieces, short-lived, slow, and gone in the middle.

What a client sends depends on its seed alone, not on what it is answered.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from dataclasses import dataclass, field

from fuzz_server.grammar import Asked, Grammar
from fuzz_server.journal import Journal
from fuzz_server.mutation import mutated, pieces
from fuzz_server.replies import ANY
from fuzz_server.scene import MARK_COUNT, Shape
from fuzz_server.wire import GONE, Fault, Wire

SLOW_S = 0.05
LONG_LINE = 70_000
LOGINS_MAX = 20
"""Of one mutated batch. Each login that is refused is answered a second later, and in its order: more than
these are only a wait."""


@dataclass
class Target:
    """The server as clients see it."""

    addresses: dict[str, tuple[str, int]]
    secrets: dict[str, bytes]
    shapes: tuple[Shape, ...]
    journal: Journal
    seed: int
    patience_s: float
    workers_are_killed: bool
    stop: threading.Event = field(default_factory=threading.Event)
    faults: list[str] = field(default_factory=list)


class Client(threading.Thread):
    """One after the other of such connections, until `target.stop` is set; the first fault sets it."""

    def __init__(self, target: Target, number: int) -> None:
        super().__init__(daemon=True)
        self.target = target
        self.number = number
        self.choose = random.Random(f"{target.seed} client {number}")
        self.seen: Counter[str] = Counter()

    def run(self) -> None:
        try:
            while not self.target.stop.is_set():
                self._connection()
        except Exception as error:  # whatever it is, the test is to see it
            self.target.faults.append(f"client {self.number}: {type(error).__name__}: {error}")
            self.target.stop.set()

    def _connection(self) -> None:
        choose, target = self.choose, self.target
        port = choose.choice(("read", "write", "write"))
        name = f"{self.number}.{self.seen['connections']}"
        self.seen["connections"] += 1
        grammar = Grammar(choose, target.shapes, writes=port == "write")
        manners = (self._by_grammar, self._mutated, self._vanish, self._short, self._slowly, self._too_long)
        [manner] = choose.choices(manners, (30, 30, 14, 10, 3, 1))
        rounds = choose.choice((1, 3, 20)) if manner in (self._by_grammar, self._mutated) else 1
        address, secret = target.addresses[port], target.secrets[port]
        with Wire(address, target.journal, name, port, secret, target.patience_s) as wire:
            try:
                wire.greet()
                for _ in range(rounds):
                    if not target.stop.is_set():
                        manner(wire, grammar)
                if manner != self._vanish:
                    wire.close(with_reset=choose.random() < 0.2)
            except GONE as gone:
                if not wire.may_be_closed() and not target.workers_are_killed:
                    raise Fault(
                        f"{name}: closed without a reason: {gone!r} after {wire.last_reply!r}"
                    ) from None

    # ---- manners

    def _by_grammar(self, wire: Wire, grammar: Grammar, line_count: int = 0) -> None:
        opens = grammar.opens()
        asked = [*opens, *grammar.requests(line_count or self.choose.choice((1, 5, 60, 200)))]
        self._send(wire, _joined(asked))
        self._expect(wire, asked, len(opens))
        if self.choose.random() < 0.2:
            self._prove(wire, 0)

    def _mutated(self, wire: Wire, grammar: Grammar) -> None:
        asked = [*grammar.opens(), *grammar.requests(self.choose.choice((1, 2, 10, 40)))]
        data = mutated(self.choose, _joined(asked))
        if data.count(b"A\t") > LOGINS_MAX:
            return
        self._send(wire, data)
        self._prove(wire, data.count(b"\n"))
        self.seen["mutated batches"] += 1

    def _vanish(self, wire: Wire, grammar: Grammar) -> None:
        """Gone without a word, somewhere in a batch or in a group."""
        opens = _joined(grammar.opens())
        data = _joined(grammar.requests(self.choose.choice((1, 10, 100))))
        if self.choose.random() < 0.3:
            data = mutated(self.choose, data)
        self._send(wire, opens + data[: self.choose.randrange(len(data) + 1)])
        if self.choose.random() < 0.5:
            wire.expect(ANY, b"the first line")
        wire.close(with_reset=self.choose.random() < 0.5)
        self.seen["vanished"] += 1

    def _short(self, wire: Wire, grammar: Grammar) -> None:
        asked = [*grammar.opens()[:1], *grammar.requests(1)]
        self._send(wire, _joined(asked))
        for one in asked:
            wire.expect(ANY, one.line)

    def _slowly(self, wire: Wire, grammar: Grammar) -> None:
        asked = [*grammar.opens(), *grammar.requests(400)]
        self._send(wire, _joined(asked))
        self.target.stop.wait(SLOW_S)
        self._expect(wire, asked, len(grammar.opened))

    def _too_long(self, wire: Wire, grammar: Grammar) -> None:
        """A line or a group beyond the limit, or a word of HTTP: the connection ends."""
        line = self.choose.choice(
            (b"1\t=\t1\t" + b"x" * LONG_LINE, b"G\n" + b"0\t=\t1\t1\n" * (LONG_LINE // 8), b"GET / HTTP/1.1")
        )
        self._send(wire, _joined(grammar.opens()) + line + b"\n")
        self._prove(wire, len(grammar.opened) + line.count(b"\n") + 1)
        raise Fault(f"{wire.name}: a connection that must be closed goes on")

    # ---- parts of them

    def _send(self, wire: Wire, data: bytes) -> None:
        wire.will_send(data)
        for piece in pieces(self.choose, data):
            wire.send(piece)
        self.seen["lines"] += data.count(b"\n")

    def _expect(self, wire: Wire, asked: list[Asked], open_count: int) -> None:
        """Take the replies. Where an open_index fails, its id may stand for something else."""
        is_known = True
        for at, one in enumerate(asked):
            reply = wire.expect(one.form if at < open_count or is_known else ANY, one.line)
            is_known = is_known and (at >= open_count or reply.startswith(b"0"))

    def _prove(self, wire: Wire, line_count: int) -> None:
        number = self.choose.randrange(MARK_COUNT)
        wire.prove(number, line_count, may_be_interrupted=self.target.workers_are_killed)


def _joined(asked: list[Asked]) -> bytes:
    return b"".join(one.line + b"\n" for one in asked)
