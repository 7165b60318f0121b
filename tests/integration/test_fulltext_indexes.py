# SPDX-License-Identifier: GPL-2.0-only
"""Full-text indexes of InnoDB keep what was acknowledged, whichever request of the turn fails behind it.

Where InnoDB undoes a statement, it forgets what earlier statements of the transaction have added to the
index for the same rows: with SQL between BEGIN and COMMIT, too.
"""

from __future__ import annotations

import pytest

from support.binlog import transaction_count
from support.mariadb import Database, Options, RowSocketServer, Start
from support.raw import RawConnection

OPTIONS: Options = {
    "loose-rowsocket-threads-write": 1,
    "loose-rowsocket-threads-max": 0,  # each thread measures for itself what a text costs
    "log-bin": "binlog",
}

# Selections: 1 is the text of `t`, 2 all of `t`, 3 a table whose trigger changes `t`.
WRITE_CHARLIE = b"1\t=\t1\t1\t1\t0\tU\tcharlie"
INSERT_DUPLICATE = b"2\t+\t3\t10\t2\tbravo"
TWO_ROWS_OF_WHICH_ONE_IS_REFUSED = b"2\t>=\t1\t1\t9\t0\tU\t1\t9\tbravo"
REFUSED = {
    "a change of several rows": [TWO_ROWS_OF_WHICH_ONE_IS_REFUSED],
    "an insert of several rows": [b"2\t++\t3\t2\t1\t1\tbravo\t\0\t2\tdelta\tU\t2"],
    "a group": [b"G", b"1\t=\t1\t1\t1\t0\tU\tbravo", INSERT_DUPLICATE, b"E"],
    "a group that reads first": [
        b"G",
        b"1\t=\t1\t1",
        b"1\t=\t1\t1\t1\t0\tU\tbravo",
        INSERT_DUPLICATE,
        b"E",
    ],
    "a trigger": [b"3\t+\t2\t1\t0"],
}
"""Each of them changes row 1, and fails behind that."""


@pytest.fixture
def server(start: Start) -> RowSocketServer:
    return start(RowSocketServer, OPTIONS)


@pytest.fixture
def database(server: RowSocketServer) -> Database:
    database = Database(server, "app")
    database.sql(
        "CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE, text TEXT, FULLTEXT by_word (text)) ENGINE=InnoDB"
    )
    database.sql("INSERT INTO t VALUES (1, 1, 'alpha'), (2, 2, 'alpha')")
    database.sql("CREATE TABLE words (k INT AUTO_INCREMENT PRIMARY KEY, id INT, n INT) ENGINE=InnoDB")
    database.sql("""
        CREATE TRIGGER w BEFORE INSERT ON words FOR EACH ROW BEGIN
          UPDATE t SET text = CONCAT('word', NEW.n) WHERE id = NEW.id;
          IF NEW.n = 0 THEN SIGNAL SQLSTATE '45000'; END IF;
        END
    """)
    return database


def opened(server: RowSocketServer) -> RawConnection:
    client = server.raw("write")
    replies = client.ask_all(
        b"P\t1\tapp\tt\t\ttext", b"P\t2\tapp\tt\t\tid,u,text", b"P\t3\tapp\twords\t\tid,n"
    )
    assert replies == [b"0\t1"] * 3
    return client


def rows_with(database: Database, word: str, table: str = "t", column: str = "text") -> list[object]:
    """As the full-text index has them."""
    found = database.sql(f"SELECT id FROM {table} WHERE MATCH ({column}) AGAINST ('{word}' IN BOOLEAN MODE)")
    return sorted(row[0] for row in found)


@pytest.mark.parametrize("refused", REFUSED)
def test_a_word_is_found_though_a_request_behind_it_is_refused(
    server: RowSocketServer, database: Database, refused: str
) -> None:
    with opened(server) as client:
        replies = client.ask_all(WRITE_CHARLIE, *REFUSED[refused])
    assert replies[0] == b"0\t1\t1"
    assert replies[-1].startswith(b"1\t")
    assert database.sql("SELECT id, text FROM t ORDER BY id") == [(1, "charlie"), (2, "alpha")]
    assert (rows_with(database, "charlie"), rows_with(database, "alpha")) == ([1], [2])


def test_a_word_is_found_that_a_cascade_has_written(server: RowSocketServer, database: Database) -> None:
    database.sql("CREATE TABLE names (name VARCHAR(20) PRIMARY KEY, u INT UNIQUE) ENGINE=InnoDB")
    database.sql("""
        CREATE TABLE child (id INT PRIMARY KEY, name VARCHAR(20), KEY (name), FULLTEXT by_word (name),
          FOREIGN KEY (name) REFERENCES names (name) ON UPDATE CASCADE) ENGINE=InnoDB
    """)
    database.sql("INSERT INTO names VALUES ('alpha', 1), ('zulu', 2)")
    database.sql("INSERT INTO child VALUES (1, 'alpha')")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tnames\t\tname,u") == b"0\t1"
        changed, refused = client.ask_all(
            b"1\t=\t1\talpha\t1\t0\tU\tcharlie\t3", b"1\t>=\t1\tb\t9\t0\tU\tbravo\t9"
        )
    assert (changed, refused[:2]) == (b"0\t1\t1", b"1\t")
    assert database.sql("SELECT id, name FROM child") == [(1, "charlie")]
    assert rows_with(database, "charlie", "child", "name") == [1]


def test_a_word_is_found_though_a_cascade_that_changed_it_was_refused_behind_that(
    server: RowSocketServer, database: Database
) -> None:
    """A child of the same parent refuses the change, when the cascade to the other child is done. The turn
    goes on."""
    database.script("""
        CREATE TABLE names (name VARCHAR(20) PRIMARY KEY) ENGINE=InnoDB;
        CREATE TABLE child (id INT PRIMARY KEY, name VARCHAR(20), KEY (name), FULLTEXT by_word (name),
          FOREIGN KEY (name) REFERENCES names (name) ON UPDATE CASCADE) ENGINE=InnoDB;
        CREATE TABLE refuses (name VARCHAR(20), FOREIGN KEY (name) REFERENCES names (name)) ENGINE=InnoDB;
        INSERT INTO names VALUES ('alpha'), ('zulu');
        INSERT INTO child VALUES (1, 'alpha');
        INSERT INTO refuses VALUES ('alpha')""")
    with server.raw("write") as client:
        assert client.ask(b"P\t1\tapp\tnames\t\tname") == b"0\t1"
        replies = client.ask_all(
            b"1\t+\t1\tyankee", b"1\t=\t1\talpha\t1\t0\tU\tcharlie", b"1\t=\t1\tzulu\t1\t0\tU\txray"
        )
    assert [reply[:4] for reply in replies] == [b"0\t1", b"1\t1\t", b"0\t1\t"]
    assert database.sql("SELECT id, name FROM child") == [(1, "alpha")]
    assert rows_with(database, "alpha", "child", "name") == [1]


def test_words_of_rows_that_stand_alone_are_found_though_one_of_them_is_refused(
    server: RowSocketServer, database: Database
) -> None:
    with opened(server) as client:
        reply = client.ask(b"3\t++\t2\t3\t1\t7\t1\t0\t2\t8\tE")
    assert reply.split(b"\t")[0] == b"0"
    assert database.sql("SELECT id, text FROM t ORDER BY id") == [(1, "word7"), (2, "word8")]
    assert (rows_with(database, "word7"), rows_with(database, "word8")) == ([1], [2])


def test_a_long_text_has_a_commit_of_its_own_which_others_need_not_wait_for(
    server: RowSocketServer, database: Database
) -> None:
    """The engine splits it into words there. So it counts for who has sent the text."""
    text = b" ".join(b"word%d" % number for number in range(6_000))
    inserts = [b"2\t+\t3\t%d\t%d\t%b" % (number, number, text) for number in range(10, 18)]
    with opened(server) as client:
        for measured in inserts[:3]:
            assert client.ask(measured) == b"0\t1"
        before = transaction_count(server)
        assert client.ask_all(*inserts[3:]) == [b"0\t1"] * 5
        assert transaction_count(server) == before + 5


def test_changes_of_single_rows_share_a_commit(server: RowSocketServer, database: Database) -> None:
    with opened(server) as client:
        before = transaction_count(server)
        replies = client.ask_all(*[WRITE_CHARLIE, INSERT_DUPLICATE] * 3)
        assert replies == [b"0\t1\t1", b"1\t1\t121"] * 3
        assert transaction_count(server) == before + 1
    assert rows_with(database, "charlie") == [1]
