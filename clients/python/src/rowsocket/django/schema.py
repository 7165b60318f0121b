# SPDX-License-Identifier: MIT
"""The table of a cache, and the event that deletes what has expired: statements of SQL.

cache_key  the key that Django makes, in UTF-8; bytes, so that `a` and `A` are two keys
value      the pickled value, or NULL if it is a number
number     a value that is an int of 64 bits: the server adds to it itself
expires    microseconds since 1970; NEVER for what does not expire
"""

from __future__ import annotations

from rowsocket._names import quoted

KEY_BYTES_MAX = 1000
"""Of a key: four for each of the 250 characters that Django takes without a warning."""

NEVER = 2**63 - 1

ROWS_PER_STEP = 1000
"""What the event, and `clear`, delete at once: locks are held for a moment only."""

KEYED = ("cache_key", "value", "number", "expires")
"""What a row consists of."""


def create_table(database: str, table: str) -> str:
    """The statement that makes the table where it is not there."""
    return f"""CREATE TABLE IF NOT EXISTS {quoted(database)}.{quoted(table)} (
  cache_key VARBINARY({KEY_BYTES_MAX}) NOT NULL PRIMARY KEY,
  value LONGBLOB,
  number BIGINT,
  expires BIGINT NOT NULL,
  KEY by_expiry (expires)
) ENGINE=InnoDB"""


def create_event(database: str, table: str) -> str:
    """The statement that makes the event where it is not there. It runs where `event_scheduler` is ON."""
    event = quoted(f"{table[:50]}_sweep")
    return f"""CREATE EVENT IF NOT EXISTS {quoted(database)}.{event} ON SCHEDULE EVERY 1 MINUTE DO
BEGIN
  REPEAT
    DELETE FROM {quoted(database)}.{quoted(table)}
      WHERE expires <= UNIX_TIMESTAMP(NOW(6)) * 1000000 LIMIT {ROWS_PER_STEP};
  UNTIL ROW_COUNT() < {ROWS_PER_STEP} END REPEAT;
END"""
