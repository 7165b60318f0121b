# SPDX-License-Identifier: GPL-2.0-only
"""node-handlersocket 0.1.0, the client for Node.js that its users have, unchanged from the npm registry."""

from __future__ import annotations

import json
import os
from pathlib import Path

from support.commands import run
from support.mariadb import Database, RowSocketServer

TOUR = Path(__file__).with_name("node_tour.js")

ANSWERS = [
    {"error": "1 open_table"},
    [["2", "two", "20"]],
    [["2", "two", "20"], ["3", None, "30"], ["4", "", "40"]],
    [["5", "a\tb", "50"], ["1", "one", "10"]],
    [["4", "", "40"], ["5", "a\tb", "50"]],
    [["1", "one", "10"], ["2", "two", "20"], ["3", None, "30"]],
    None,  # an insert: the client takes the missing number of rows for NaN
    {"error": "1 121"},
    1,
    [["2", None, "21"]],
    1,
    [["4", "", "40"]],
    1,
    [["15"]],
    1,
    [["19"]],
    [[["1", "one", "18"]], [["2", "zwei", "22"]], [["5", "a\tb", "50"]], [["9", "nüün\t", "90"]]],
]


def tour(server: RowSocketServer, database: str, node_client: Path, secret: str = "") -> list[object]:
    """What the script prints, one JSON value per line."""
    environment = {**os.environ, "NODE_PATH": str(node_client / "node_modules"), "HS_SECRET": secret}
    printed = run(
        ["node", "--no-deprecation", TOUR, "127.0.0.1", str(server.write_port), database],
        environment=environment,
    )
    return [json.loads(line) for line in printed.splitlines()]


def make_users(database: Database) -> None:
    database.sql("CREATE TABLE user (k INT PRIMARY KEY, v VARCHAR(30), n INT NOT NULL) CHARSET=utf8mb4")
    database.sql(
        "INSERT INTO user VALUES (1, 'one', 10), (2, 'two', 20), (3, NULL, 30), (4, '', 40), (5, 'a\\tb', 50)"
    )


def test_every_call_of_the_client(server: RowSocketServer, database: Database, node_client: Path) -> None:
    make_users(database)
    assert tour(server, database.name, node_client) == ANSWERS
    rows = [(1, "one", 18), (2, "zwei", 22), (5, "a\tb", 50), (9, "nüün\t", 90)]
    assert database.sql("SELECT * FROM user ORDER BY k") == rows


def test_the_client_authenticates(server: RowSocketServer, database: Database, node_client: Path) -> None:
    make_users(database)
    server.sql("SET GLOBAL rowsocket_secret_write = 'open sesame'")
    try:
        assert tour(server, database.name, node_client, "open sesame") == ANSWERS
        assert tour(server, database.name, node_client, "guess") == [{"connection": "3 unauth"}]
    finally:
        server.sql("SET GLOBAL rowsocket_secret_write = ''")
