# SPDX-License-Identifier: GPL-2.0-only
"""A time zone for servers, which have none by name until somebody loads them."""

from __future__ import annotations

from support.mariadb import MariaDB

# On 2024-03-31 the clock goes from 2:00 to 3:00, and on 2024-10-27 from 3:00 back to 2:00.
SUMMER = "Test/Summer"
_TABLES = {
    "time_zone": "(1, 'N')",
    "time_zone_name": f"('{SUMMER}', 1)",
    "time_zone_transition_type": "(1, 0, 3600, 0, 'T'), (1, 1, 7200, 1, 'TS')",
    "time_zone_transition": "(1, -2000000000, 0), (1, 1711846800, 1), (1, 1729990800, 0)",
}


def add_summer(server: MariaDB) -> None:
    """Have the server know `SUMMER`."""
    for table, rows in _TABLES.items():
        server.sql(f"INSERT IGNORE INTO mysql.{table} VALUES {rows}")
