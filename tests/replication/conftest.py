# SPDX-License-Identifier: GPL-2.0-only
"""Fixtures of the replication tests.

primary      a server with row events to replicate, that replicas can connect to
make_replica make_replica(primary, {option: value}): a replica from the primary's first event on (see
servers.py)
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from replication.servers import Primary, Replica
from support.mariadb import Options, Start


@pytest.fixture
def primary(start: Start) -> Primary:
    """A server that replicas can connect to."""
    return start(Primary)


@pytest.fixture
def make_replica(start: Start) -> Callable[..., Replica]:
    """make_replica(primary, {option: value}): a running replica with everything since the primary's first
    event."""

    def make(primary: Primary, options: Options | None = None) -> Replica:
        replica = start(Replica, options)
        replica.follow(primary)
        return replica

    return make
