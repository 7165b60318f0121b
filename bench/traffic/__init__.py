# SPDX-License-Identifier: GPL-2.0-only
"""What the generator sends and what must come back. Read in this order:

forms.py         bytes with numbers that are known only when a request is sent
tables.py        what stands in row n
workloads.py     what is asked, and which rows are the answer
protocol.py      what a protocol has to say; the other files are one protocol each
"""

from __future__ import annotations

from bench.traffic.caches import (
    Memcached,
    Redis,
    RedisHash,
    RowSocketHash,
    RowSocketMemcached,
    RowSocketResp,
)
from bench.traffic.handlersocket import Floor, HandlerSocket, RowSocket
from bench.traffic.protocol import Protocol
from bench.traffic.sql import SqlPrepared, SqlText
from bench.traffic.workloads import Workload

PROTOCOLS: dict[str, type[Protocol]] = {
    kind.name: kind
    for kind in (
        *(HandlerSocket, RowSocket, Floor, SqlText, SqlPrepared),
        *(Memcached, RowSocketMemcached),
        *(Redis, RowSocketResp, RedisHash, RowSocketHash),
    )
}
"""A new protocol is one file and its name here."""


def protocols_of(workload: Workload) -> list[str]:
    """Those in which all of the workload can be asked."""
    return [name for name, kind in PROTOCOLS.items() if all(map(kind.knows, workload.requests))]
