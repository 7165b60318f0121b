# SPDX-License-Identifier: GPL-2.0-only
"""Two servers that replicate each other, both written to: generated ids do not meet, and both end with all
rows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import rowsocket
from replication.servers import Replica, assert_equal_tables
from support.mariadb import Start

CLIENTS = 4
INSERTS = 250


def one_of_two(start: Start, number: int) -> Replica:
    """Server 1 or 2, with every second id."""
    options: dict[str, str | int | None] = {
        "server-id": number,
        "gtid-domain-id": number,
        "auto-increment-offset": number,
    }
    return start(Replica, {**options, "auto-increment-increment": 2, "read-only": 0, "log-slave-updates": 0})


def insert(server: Replica, client: int) -> dict[str, int]:
    """Rows of one client, some of them deleted again; the ids that were replied."""
    with rowsocket.connect(*server.write_address(), text=True) as connection:
        index = connection.open_index("d", "t", "name")
        with connection.pipeline() as pipe:
            promised = {
                f"{client}/{number}": pipe.insert(index, [f"{client}/{number}"]) for number in range(INSERTS)
            }
        ids = {name: one.result() or 0 for name, one in promised.items()}
        for name in list(ids)[::10]:
            assert index.delete(ids.pop(name)) == 1
        return ids


def test_ids_of_two_servers_do_not_meet_and_both_have_all_rows(start: Start) -> None:
    one, other = one_of_two(start, 1), one_of_two(start, 2)
    one.sql("CREATE DATABASE d")
    one.sql("CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20))")
    other.follow(one)
    other.catch_up(one)
    one.follow(other)
    with ThreadPoolExecutor(2 * CLIENTS) as threads:
        work = [threads.submit(insert, (one, other)[client % 2], client) for client in range(2 * CLIENTS)]
        ids = [client.result() for client in work]
    one.catch_up(other)
    other.catch_up(one)
    assert_equal_tables(one, other, "d.t")
    assert dict(one.sql("SELECT name, id FROM d.t")) == {
        name: row_id for client in ids for name, row_id in client.items()
    }
    assert [{row_id % 2 for row_id in client.values()} for client in ids] == [{1}, {0}] * CLIENTS
