# SPDX-License-Identifier: GPL-2.0-only
"""`./x setup`: what a verb needs, each thing only where it is missing."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from rowsocket_x import machine, machine_server, python_layers, server_fetch
from rowsocket_x.console import say
from rowsocket_x.machine import Layer
from rowsocket_x.paths import STATE
from rowsocket_x.server_series import DEFAULT, Series


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    STATE.mkdir(exist_ok=True)
    with (STATE / "setup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def packages(*layers: Layer) -> None:
    """The system packages of some layers."""
    with _one_at_a_time():
        machine.install_missing_packages(*layers)


def server(series: Series = DEFAULT, *, renew: bool = False) -> server_fetch.Server:
    """The matched server of a series and its headers. Fast when they are there."""
    with _one_at_a_time():
        machine.install_missing_packages(Layer.RUN)
        before = server_fetch.current(series)
        have = server_fetch.fetch(series, renew=renew)
    if have != before or renew:
        for line in machine_server.advice(series, have):
            say(line)
    return have


def everything(series: Series = DEFAULT, *, renew: bool = False) -> server_fetch.Server:
    """All that any verb needs, so that later ones fetch nothing."""
    packages(*Layer)
    with _one_at_a_time():
        python_layers.require(*python_layers.Layer)
    return server(series, renew=renew)
