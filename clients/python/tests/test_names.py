# SPDX-License-Identifier: MIT
"""The blocking and the asyncio client have the same names and parameters."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import rowsocket
from rowsocket import aio


@pytest.mark.parametrize("name", ["connect", "Connection", "ConnectionPool", "Group", "Index", "Pipeline"])
def test_both_clients_have_it(name: str) -> None:
    blocking, asynchronous = getattr(rowsocket, name), getattr(aio, name)
    assert names(blocking) == names(asynchronous)
    assert parameters(blocking) == parameters(asynchronous)


@pytest.mark.parametrize("name", [name for name in dir(rowsocket.Index) if not name.startswith("_")])
def test_methods_of_an_index_are_documented_and_can_be_promised(name: str) -> None:
    method = getattr(rowsocket.Index, name)
    assert method.__doc__
    assert name in ("as_dicts", "as_objects") or parameters(getattr(rowsocket.Pipeline, name)) == parameters(
        method
    )


def names(thing: Any) -> list[str]:
    return [name for name in dir(thing) if not name.startswith("_")]


def parameters(thing: Any) -> list[tuple[str, Any]]:
    return [(parameter.name, parameter.default) for parameter in inspect.signature(thing).parameters.values()]
