# SPDX-License-Identifier: GPL-2.0-only
"""SQL on the rows of a history: a transaction that locks one, a look at all of them. Both are recorded."""

from __future__ import annotations

import contextlib
import time
from random import Random

import pymysql

from linearizability.clients import Clients
from linearizability.history import Operation, Step
from linearizability.requests import TABLE
from support.mariadb import MariaDB

DEADLOCK = 1213


def lock_a_row(
    clients: Clients,
    server: MariaDB,
    random: Random,
    replies_while_locked: float,
    waits: str = "Rowsocket_parked",
) -> None:
    """Lock a hot row until so many requests were answered or one waits, and change it or not.

    A row that nobody asks for any more is not kept, either. `waits` is the status value that counts those
    that wait.

    Raises what went wrong with the clients, and pymysql.err.MySQLError.
    """
    row = random.choice(clients.workload.hot)
    [key] = row.values
    read, change = Step(key, "read"), Step(key, "update", clients.workload.new_value())
    operation = Operation(row.name, clients.first_free_name, time.monotonic_ns(), [read])
    with contextlib.closing(server.connect()) as connection, connection.cursor() as session:
        try:
            session.execute("BEGIN")
            session.execute(f"SELECT v FROM {TABLE} WHERE k = %s FOR UPDATE", [key])
            found = session.fetchone()
            read.result = None if found is None else int(found[0])
            before, aim = wait_count(server, waits), clients.answered + replies_while_locked
            clients.wait_until(
                "a request that waits for a locked row",
                lambda: clients.answered >= aim or row.is_worn() or wait_count(server, waits) > before,
            )
            if random.random() < 0.5:
                statement = f"UPDATE {TABLE} SET v = %s WHERE k = %s"
                change.result = session.execute(statement, [change.value, key])
                operation.steps.append(change)
            session.execute("COMMIT")
        except pymysql.err.OperationalError as error:
            assert error.args[0] == DEADLOCK, error
            return
    operation.returned_ns = time.monotonic_ns()
    clients.history.add([operation])


def wait_count(server: MariaDB, status: str) -> int:
    """How many requests had to wait for a lock, by this status value."""
    return int(server.status(status)[status])


def read_the_table(clients: Clients, server: MariaDB) -> None:
    """Read all rows in one statement, and record for each register what it has."""
    called_ns = time.monotonic_ns()
    name = clients.first_free_name + 1
    values = {int(key): int(value) for key, value in server.sql(f"SELECT k, v FROM {TABLE}")}
    returned_ns = time.monotonic_ns()
    for register in list(clients.workload.registers.values()):
        steps = [Step(key, "read", result=values.get(key)) for key in register.values]
        clients.history.add([Operation(register.name, name, called_ns, steps, returned_ns)])
