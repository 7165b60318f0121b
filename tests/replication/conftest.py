# SPDX-License-Identifier: GPL-2.0-only
"""Fixtures of the replication tests.

primary      a server with row events to replicate, that replicas can connect to
make_replica make_replica(primary, {option: value}): a replica from the primary's first event on (see servers.py)
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from replication.servers import Primary, Replica
from support.mariadb import Options, Start


@pytest.fixture
def make_primary(start: Start) -> Callable[..., Primary]:
    """make_primary({option: value}): a server that replicas can connect to."""
    return lambda options=None: start(Primary, options)


@pytest.fixture
def primary(make_primary: Callable[..., Primary]) -> Primary:
    """A server that replicas can connect to."""
    return make_primary()


@pytest.fixture
def make_replica(start: Start) -> Callable[..., Replica]:
    """make_replica(primary, {option: value}): a running replica with everything since the primary's first event."""

    def make(primary: Primary, options: Options | None = None) -> Replica:
        replica = start(Replica, options)
        replica.follow(primary)
        return replica

    return make
