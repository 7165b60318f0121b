# SPDX-License-Identifier: GPL-2.0-only
"""RowSocket as a memcached: a server with a table of containers, and connections that speak bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from support.mariadb import RowSocketServer
from support.raw import RawConnection

CONTAINERS = "innodb_memcache.containers"
CREATE_CONTAINERS = f"""
    CREATE TABLE {CONTAINERS} (
        name VARCHAR(50) NOT NULL PRIMARY KEY,
        db_schema VARCHAR(250) NOT NULL,
        db_table VARCHAR(250) NOT NULL,
        key_columns VARCHAR(250) NOT NULL,
        value_columns VARCHAR(250),
        flags VARCHAR(250) NOT NULL DEFAULT '0',
        cas_column VARCHAR(250),
        expire_time_column VARCHAR(250),
        unique_idx_name_on_key VARCHAR(250) NOT NULL
    ) ENGINE=InnoDB
"""
"""As InnoDB's memcached plugin creates it."""

CREATE_ITEMS = """
    CREATE OR REPLACE TABLE {table} (
        k VARBINARY(250) PRIMARY KEY,
        v LONGBLOB,
        flags INT UNSIGNED NOT NULL DEFAULT 0,
        cas BIGINT UNSIGNED NOT NULL DEFAULT 0,
        expires INT UNSIGNED NOT NULL DEFAULT 0
    ) ENGINE=InnoDB
"""
"""A table that can do all that memcached can."""


class MemcachedServer(RowSocketServer):
    """A server whose door for memcached is open."""

    def defaults(self) -> dict[str, str | int | None]:
        return {
            **super().defaults(),
            "loose-rowsocket-port-memcached": 0,
            "loose-rowsocket-containers": CONTAINERS,
        }

    def prepare(self) -> None:
        """Make the table of containers, and one container for any key: app.item. It is served then."""
        self.prepare_tables()
        self.await_containers()

    def prepare_tables(self) -> None:
        """The same, and wait for nothing."""
        self.sql("CREATE DATABASE innodb_memcache")
        self.sql("CREATE DATABASE app")
        self.sql(CREATE_CONTAINERS)
        self.sql(CREATE_ITEMS.format(table="app.item"))
        self._contain("default", "app.item", "k", "v", "flags", "cas", "expires", "PRIMARY")

    def contain(
        self,
        name: str,
        table: str,
        *,
        key: str = "k",
        value: str = "v",
        flags: str = "flags",
        cas: str | None = "cas",
        expires: str | None = "expires",
        index: str = "PRIMARY",
    ) -> None:
        """Make a container, or change it, and wait until it is served as it stands."""
        self._contain(name, table, key, value, flags, cas, expires, index)
        self.await_containers()

    def _contain(self, name: str, table: str, *columns: str | None) -> None:
        schema, bare = table.split(".")
        self.sql(
            f"REPLACE INTO {CONTAINERS} VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [name, schema, bare, *columns],
        )

    def await_containers(self) -> None:
        """Wait until what stands in the table of containers now is served.

        A row that is written now is seen later than what was written before. Its name is the last one in any
        collation: that of 11.8 has ~ before the letters, and the first container serves keys without a name.
        """
        marker = f"zz~{self.value('SELECT UUID_SHORT()')}"
        self.sql(
            f"REPLACE INTO {CONTAINERS} SELECT %s, 'innodb_memcache', 'containers', 'name', 'db_table',"
            " '0', NULL, NULL, 'PRIMARY'",
            [marker],
        )
        with self.memcached() as client:
            self.wait_until("serves the containers", lambda: client.ask(f"get @@{marker}.none") == [b"END"])
        self.sql(f"DELETE FROM {CONTAINERS} WHERE name = %s", [marker])

    def memcached(self) -> MemcachedConnection:
        """A new connection to the door of memcached."""
        return MemcachedConnection(("127.0.0.1", self.memcached_port))


class MemcachedConnection(RawConnection):
    """Bytes out, lines in; a reply is read up to its end."""

    def ask(self, request: str | bytes) -> list[bytes]:  # type: ignore[override]
        """Send a command, without its line end, and read its reply: lines without theirs."""
        data = request.encode() if isinstance(request, str) else request
        self.send(data + b"\r\n")
        return list(self._reply(data))

    def word(self, request: str | bytes) -> str:
        """The reply of one line."""
        (line,) = self.ask(request)
        return line.decode()

    def store(self, command: str, value: bytes) -> str:
        """A storage command, with the value's length behind `command`; its reply."""
        words = command.split(" ")
        words.insert(4, str(len(value)))
        return self.word(" ".join(words).encode() + b"\r\n" + value)

    def value(self, key: str) -> bytes | None:
        """The value of a key; None if it is missed."""
        self.send(f"get {key}\r\n".encode())
        head = self.line().rstrip(b"\r")
        if head == b"END":
            return None
        assert head.startswith(b"VALUE "), head
        value = self.take(int(head.split()[3]))
        assert self.take(7) == b"\r\nEND\r\n"
        return value

    def cas(self, key: str) -> str:
        """The version of a row that is there."""
        (head, *_) = self.ask(f"gets {key}")
        return head.decode().split()[4]

    def stats(self) -> dict[str, str]:
        """What `stats` tells, by name."""
        return dict(line.decode().split(" ", 2)[1:] for line in self.ask("stats")[:-1])

    def _reply(self, request: bytes) -> Iterator[bytes]:
        has_end = re.match(rb"(get|gets|gat|gats|stats)\b", request) is not None
        while True:
            line = self.line().removesuffix(b"\r")
            yield line
            is_error = line == b"ERROR" or line.startswith((b"CLIENT_ERROR", b"SERVER_ERROR"))
            if not has_end or is_error or line == b"END":
                return
