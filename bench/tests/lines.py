# SPDX-License-Identifier: GPL-2.0-only
"""A server of tests, which answers every line as the test says, and runs of bench/player against it."""

from __future__ import annotations

import contextlib
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

from bench.harness.environment import from_variables
from bench.harness.figures import Report
from bench.harness.player import Load, play
from bench.tests.small import environment_variables
from bench.traffic import PROTOCOLS, workloads
from bench.traffic.forms import filled

Answer = Callable[[bytes], bytes]
SHORT = Load(connections=2, in_flight=4, warm_up_s=0.02, seconds=0.1)
REQUESTS = replace(SHORT, requests=300)


class Lines(socketserver.ThreadingTCPServer):
    """Serves every connection from a thread of its own."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, answer: Answer, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.tls = tls
        self.batches: list[list[bytes]] = []
        """The lines that came together."""

    def lines(self) -> list[bytes]:
        """All requests but those that open an index."""
        return [line for batch in self.batches for line in batch if not line.startswith(b"P")]


class Handler(socketserver.BaseRequestHandler):
    """One connection. An empty answer closes it."""

    def handle(self) -> None:
        assert isinstance(self.server, Lines)
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            if self.server.tls is not None:
                self.request = self.server.tls.wrap_socket(self.request, server_side=True)
            begun = b""
            while received := self.request.recv(1 << 20):
                *lines, begun = (begun + received).split(b"\n")
                lines = [line + b"\n" for line in lines]
                self.server.batches.append(lines)
                for line in lines:
                    answer = self.server.answer(line)
                    if not answer:
                        return
                    self.request.sendall(answer)


@contextlib.contextmanager
def serving(answer: Answer, tls: ssl.SSLContext | None = None) -> Iterator[Lines]:
    """The server, while the block runs."""
    with Lines(answer, tls) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def right(line: bytes) -> bytes:
    """What a right server answers to a point select, an insert, and the opening of an index."""
    words = line.rstrip(b"\n").split(b"\t")
    if words[0] == b"P" or words[1] == b"+":
        return b"0\t1\n"
    protocol = PROTOCOLS["rowsocket"](workloads.point(1000))
    return filled(protocol.reply(protocol.workload.requests[0]), [int(words[3])])


def asked(server: Lines, load: Load, workload: str = "point") -> Report:
    """A run of the player."""
    protocol = PROTOCOLS["rowsocket"](workloads.make(workload, 1000))
    host, port = server.server_address[:2]
    player = from_variables(environment_variables()).player
    return play(player, protocol, (str(host), port), load, "a run")
