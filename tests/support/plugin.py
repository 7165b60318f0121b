# SPDX-License-Identifier: GPL-2.0-only
"""RowSocket as a plugin that comes and goes, and its variables: small steps that the tests of it share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import rowsocket
from support.mariadb import MariaDB, RowSocketServer
from support.raw import RawConnection


class EmptyServer(RowSocketServer):
    """A server that could load RowSocket and has not."""

    def defaults(self) -> dict[str, str | int | None]:
        return {name: value for name, value in super().defaults().items() if name != "plugin-load-add"}


def is_loaded(server: MariaDB) -> bool:
    query = (
        "SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_name = 'rowsocket' AND plugin_status"
        " = 'ACTIVE'"
    )
    return bool(server.value(query))


def threads(server: MariaDB) -> list[str]:
    """The names of RowSocket's threads."""
    assert server.process is not None
    names = []
    for task in Path(f"/proc/{server.process.pid}/task").iterdir():
        with contextlib.suppress(OSError):  # it ended meanwhile
            names.append((task / "comm").read_text().strip())
    return [name for name in names if name.startswith("rowsocket")]


def wait_for_end_of_threads(server: MariaDB) -> None:
    """None of RowSocket's threads is left; raises ServerFailure if some stay.

    The system shows a thread for a moment more when it has been joined.
    """
    server.wait_until("its threads have ended", lambda: threads(server) == [])


def wait_for_end_of_stand_ins(server: MariaDB, names: list[str]) -> None:
    """RowSocket's threads are those of the start again; raises ServerFailure if some more stay."""
    server.wait_until("its stand-ins have ended", lambda: sorted(threads(server)) == sorted(names))


def make_table(server: MariaDB, name: str = "app") -> None:
    server.sql(f"CREATE DATABASE {name}")
    server.sql(
        f"CREATE TABLE {name}.t (k INT PRIMARY KEY, v VARCHAR(20), n INT NOT NULL DEFAULT 0) ENGINE=InnoDB"
    )
    server.sql(f"INSERT INTO {name}.t (k, v) VALUES (1, 'one'), (2, 'two')")


def opened(connection: RawConnection, database: str = "app", columns: str = "k,v") -> RawConnection:
    assert connection.ask(f"P\t1\t{database}\tt\t\t{columns}".encode()) == b"0\t1"
    return connection


@contextlib.contextmanager
def changed(server: MariaDB, **values: int | str) -> Iterator[None]:
    """Variables of the running server with other values for a while."""
    before = {name: server.value(f"SELECT @@GLOBAL.rowsocket_{name}") for name in values}
    try:
        for name, value in values.items():
            server.sql(f"SET GLOBAL rowsocket_{name} = %s", [value])
        yield
    finally:
        for name, value in before.items():
            server.sql(f"SET GLOBAL rowsocket_{name} = %s", [value])


def change_everything(server: RowSocketServer) -> None:
    """Every kind of write, over RowSocket."""
    server.sql("CREATE DATABASE app")
    server.sql(
        "CREATE TABLE app.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(30), n DECIMAL(10,2), at"
        " DATETIME(6) DEFAULT NOW(6), "
        "data BLOB, KEY by_v (v)) ENGINE=InnoDB CHARSET=utf8mb4"
    )
    server.sql(
        "CREATE TABLE app.p (k INT PRIMARY KEY, v INT) ENGINE=InnoDB PARTITION BY HASH (k) PARTITIONS 3"
    )
    with rowsocket.connect(*server.write_address(), text=True) as client:
        t = client.open_index("app", "t", "v,n,data")
        with client.group(gtid=True) as group:  # the first commit of its worker finds nothing to do
            group.delete(t, 1)
        for number in range(50):
            t.insert([f"näme {number % 7} 🐬", str(number), bytes(range(number))])
        by_v = client.open_index("app", "t", "n", index="by_v")
        assert by_v.increment("näme 3 🐬", "0.50", limit=100) == 7
        assert by_v.update("näme 4 🐬", values=[None], limit=3) == 3
        assert t.delete(7, op=">", limit=5) == 5
        p = client.open_index("app", "p", "k,v")
        for k in range(20):
            p.insert([k, k])
        assert p.update(3, values=[33, 3]) == 1
