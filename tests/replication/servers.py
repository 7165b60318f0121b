# SPDX-License-Identifier: GPL-2.0-only
"""A primary and its replicas: real servers, with GTIDs, each with RowSocket."""

from __future__ import annotations

from support.mariadb import RowSocketServer
from support.ports import free_ports

CATCH_UP_S = 100  # less than a connection of SQL waits for an answer


class Primary(RowSocketServer):
    """A server that replicas can connect to: over TCP, at the same port after a restart."""

    def defaults(self) -> dict[str, str | int | None]:
        [port] = free_ports(1)
        return {**super().defaults(), "skip-networking": 0, "bind-address": "127.0.0.1", "port": port}

    @property
    def port(self) -> int:
        """Where SQL is served over TCP."""
        return int(self.options["port"] or 0)


class Replica(Primary):
    """A read-only server that applies what another one does, and may be promoted."""

    def defaults(self) -> dict[str, str | int | None]:
        return {**super().defaults(), "server-id": 2, "read-only": 1, "log-slave-updates": 1}

    def follow(self, primary: Primary) -> None:
        """Apply everything from the primary's first event on."""
        self.sql(
            f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={primary.port}, MASTER_USER='root',"
            " MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1"
        )
        self.sql("START SLAVE")

    def slave_status(self) -> dict[str, object]:
        """SHOW SLAVE STATUS."""
        connection = self.connect()
        try:
            with connection.cursor() as cursor:
                cursor.execute("SHOW SLAVE STATUS")
                row = cursor.fetchone() or ()
                return {str(column[0]): value for column, value in zip(cursor.description, row, strict=True)}
        finally:
            connection.close()

    def wait_for(self, position: str) -> None:
        """Wait until everything up to this GTID position is applied; raises AssertionError with the replica's
        own error."""
        waited = self.value("SELECT MASTER_GTID_WAIT(%s, %s)", [position, CATCH_UP_S])
        assert waited == 0, self.slave_status()

    def catch_up(self, primary: Primary) -> None:
        """Apply all that the primary has done so far."""
        self.wait_for(str(primary.value("SELECT @@gtid_binlog_pos")))

    def promote(self) -> None:
        """Apply what was received, and be a primary from then on."""
        self.wait_for(str(self.slave_status()["Gtid_IO_Pos"]))
        self.sql("STOP SLAVE")
        self.sql("RESET SLAVE ALL")
        self.sql("SET GLOBAL read_only = 0")


def assert_equal_tables(one: RowSocketServer, other: RowSocketServer, *tables: str) -> None:
    """The same rows, read by rows and summed up by the server; and the indexes of both agree with them."""
    for table in tables:
        [rows, expected] = [server.sql(f"SELECT * FROM {table} ORDER BY 1") for server in (one, other)]
        assert rows == expected, table
        if "VIRTUAL" not in str(
            one.sql(f"SHOW CREATE TABLE {table}")
        ):  # the server sums up what stood there before
            [checksum, expected_checksum] = [server.sql(f"CHECKSUM TABLE {table}") for server in (one, other)]
            assert checksum == expected_checksum, table
        # SQL alone leaves warnings, of deleted entries of hash indexes over BLOBs.
        assert [server.sql(f"CHECK TABLE {table} EXTENDED")[-1][-1] for server in (one, other)] == [
            "OK",
            "OK",
        ], table


def assert_equal_history(one: RowSocketServer, other: RowSocketServer, *tables: str) -> None:
    """The same rows with the same history, to the microsecond."""
    for table in tables:
        query = (
            f"SELECT *, row_start, row_end FROM {table} FOR SYSTEM_TIME ALL ORDER BY id, row_start, row_end"
        )
        [history, expected] = [server.sql(query) for server in (one, other)]
        assert history == expected, table
