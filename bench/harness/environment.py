# SPDX-License-Identifier: GPL-2.0-only
"""Where the programs are that the harness runs. `./x bench` sets the variables; so can anyone else.

ROWSOCKET_SERVER_TREE   the unpacked MariaDB
ROWSOCKET_PLUGIN_DIR    folder with rowsocket.so
ROWSOCKET_BENCH_DIR     folder with player and echo_server
ROWSOCKET_FLOOR_PLUGIN  rowsocket_handler_floor.so; without it that peer takes no part
ROWSOCKET_PEERS_TREE    unpacked memcached, redis-server, sysbench; without it those of PATH
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class Missing(Exception):
    """A variable is not set or names nothing."""


@dataclass(frozen=True)
class Environment:
    """The variables above."""

    server_tree: Path
    programs: Path
    floor_plugin: Path | None = None
    peers_tree: Path | None = None

    @property
    def player(self) -> Path:
        """The load generator."""
        return self.programs / "player"

    @property
    def echo_server(self) -> Path:
        """The floor."""
        return self.programs / "echo_server"

    def program(self, name: str) -> str | None:
        """A peer's program: from the peers' tree, else from PATH; None if there is none."""
        if self.peers_tree is not None and (self.peers_tree / "usr/bin" / name).exists():
            return str(self.peers_tree / "usr/bin" / name)
        return shutil.which(name)

    def of_peers(self) -> Mapping[str, str]:
        """The environment for programs of the peers' tree, with its libraries and sysbench's scripts."""
        if self.peers_tree is None:
            return os.environ
        places = ("usr/lib/*-linux-gnu", "usr/lib/*-linux-gnu/ceph", "lib/*-linux-gnu")
        libraries = [str(path) for place in places for path in self.peers_tree.glob(place)]
        scripts = str(self.peers_tree / "usr/share/sysbench/?.lua")
        return {
            **os.environ,
            "LD_LIBRARY_PATH": ":".join([*libraries, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]),
            "LUA_PATH": ";".join([scripts, os.environ.get("LUA_PATH", "") or ";"]),
        }


def from_variables(variables: Mapping[str, str] = os.environ) -> Environment:
    """What the variables say. Raises Missing."""
    floor = variables.get("ROWSOCKET_FLOOR_PLUGIN")
    peers = variables.get("ROWSOCKET_PEERS_TREE")
    return Environment(
        server_tree=_folder(variables, "ROWSOCKET_SERVER_TREE"),
        programs=_folder(variables, "ROWSOCKET_BENCH_DIR"),
        floor_plugin=Path(floor) if floor and Path(floor).is_file() else None,
        peers_tree=Path(peers) if peers and Path(peers).is_dir() else None,
    )


def _folder(variables: Mapping[str, str], name: str) -> Path:
    path = Path(variables.get(name) or "/nowhere")
    if not path.is_dir():
        raise Missing(f"{name} names no folder; ./x bench sets it")
    return path.resolve()
