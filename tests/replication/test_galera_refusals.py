# SPDX-License-Identifier: GPL-2.0-only
"""What is refused on a Galera node is refused on all nodes: also where the node has no binlog, and where the
cluster sets bounds.

A node without a binlog keeps a transaction's row events for the cluster, and does not take back those of a
statement that failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pymysql
import pytest

from support.galera import Cluster, GaleraNode
from support.mariadb import Row
from support.raw import RawConnection
from support.tree import ServerTree


@pytest.fixture(scope="module")
def cluster(tree: ServerTree, template: Path) -> Iterator[Cluster]:
    """Two nodes with an empty database `d`; the second has no binlog."""
    with Cluster(tree, template, 2) as cluster:
        yield cluster


@pytest.fixture(params=[0, 1], ids=["with a binlog", "without a binlog"])
def node(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[GaleraNode]:
    """The node that is written to. The tables `t` (with a history) and `plain` are empty."""
    cluster.catch_up()
    cluster[0].sql(
        "CREATE OR REPLACE TABLE d.t (id INT PRIMARY KEY, n INT, u INT UNIQUE) WITH SYSTEM VERSIONING"
    )
    cluster[0].sql("CREATE OR REPLACE TABLE d.plain (id INT PRIMARY KEY, n INT, u INT UNIQUE)")
    cluster.catch_up()
    node = cluster[request.param]
    yield node
    node.sql("SET GLOBAL wsrep_max_ws_rows = DEFAULT")
    node.sql("SET GLOBAL wsrep_max_ws_size = DEFAULT")
    node.sql("SET GLOBAL wsrep_forced_binlog_format = DEFAULT")
    node.sql("SET GLOBAL wsrep_certify_nonPK = DEFAULT")


@pytest.fixture
def wire(node: GaleraNode) -> Iterator[RawConnection]:
    """A connection to the node: 1 = t, 2 = plain; both with id, n, u."""
    with node.raw("write") as wire:
        opens = [b"P\t1\td\tt\t\tid,n,u", b"P\t2\td\tplain\t\tid,n,u"]
        assert wire.ask_all(*opens) == [b"0\t1"] * 2
        yield wire


def rows_everywhere(cluster: Cluster, table: str) -> list[Row]:
    """The table's rows, which are the same on all nodes, and hold every row event that was sent."""
    cluster.catch_up()
    tables = [node.sql(f"SELECT * FROM d.{table} ORDER BY id") for node in cluster]
    assert tables == tables[:1] * len(tables)
    return tables[0]


@pytest.mark.parametrize("format", ["MIXED", "STATEMENT"])
def test_where_another_format_is_forced_a_write_reaches_all_nodes_or_is_refused(
    cluster: Cluster, node: GaleraNode, wire: RawConnection, format: str
) -> None:
    cluster[0].sql("CREATE TRIGGER d.seen BEFORE INSERT ON d.plain FOR EACH ROW SET @seen = 1")
    cluster.catch_up()  # with a trigger a group is several statements in one snapshot
    node.sql(f"SET GLOBAL wsrep_forced_binlog_format = {format}")
    requests = [b"2\t+\t1\t1", b"G", b"1\t+\t1\t2", b"2\t+\t1\t2", b"E", b"1\t+\t1\t3"]
    replies = wire.ask_all(*requests)
    assert [reply == b"0\t1" for reply in replies].count(True) == (6 if format == "MIXED" else 1)
    assert [row[0] for row in rows_everywhere(cluster, "plain")] == ([1, 2] if format == "MIXED" else [])
    assert [row[0] for row in rows_everywhere(cluster, "t")] == ([2, 3] if format == "MIXED" else [])


def test_where_rows_without_a_primary_key_are_not_certified_they_are_refused_as_in_sql(
    cluster: Cluster, node: GaleraNode, wire: RawConnection
) -> None:
    cluster[0].sql("CREATE OR REPLACE TABLE d.keyless (id INT, KEY (id))")
    cluster[0].sql("CREATE OR REPLACE TABLE d.loose (id INT PRIMARY KEY)")
    cluster[0].sql(
        "CREATE TRIGGER d.loose AFTER INSERT ON d.loose FOR EACH ROW INSERT INTO keyless VALUES (7)"
    )
    cluster.catch_up()
    opens = [b"P\t3\td\tkeyless\tid\tid", b"P\t4\td\tloose\t\tid"]
    assert wire.ask_all(*opens, b"3\t+\t1\t1") == [b"0\t1"] * 3
    node.sql("SET GLOBAL wsrep_certify_nonPK = OFF")
    requests = [b"3\t+\t1\t2", b"2\t+\t1\t1", b"4\t+\t1\t1", b"G", b"2\t+\t1\t2", b"3\t+\t1\t3", b"E"]
    outcomes = [reply.split(b"\t")[2:3] for reply in wire.ask_all(*requests)]
    refused = [b"1213"]
    assert outcomes == [refused, [], refused, [], [b"group"], refused, [b"group"]]
    with pytest.raises(pymysql.Error, match="1213"):
        node.sql("INSERT INTO d.keyless VALUES (4)")
    node.sql("SET GLOBAL wsrep_certify_nonPK = ON")
    assert wire.ask(b"3\t+\t1\t5") == b"0\t1"
    assert [row[0] for row in rows_everywhere(cluster, "keyless")] == [1, 5]
    assert [row[0] for row in rows_everywhere(cluster, "plain")] == [1]


@pytest.fixture(scope="module")
def narrow(tree: ServerTree, template: Path) -> Iterator[Cluster]:
    """Two nodes whose transactions hold few bytes of row events; the second has no binlog."""
    few = {"max-binlog-cache-size": 16384, "binlog-cache-size": 4096, "binlog-row-event-max-size": 1024}
    with Cluster(tree, template, 2, few) as cluster:
        cluster[0].sql("CREATE TABLE d.plain (id INT PRIMARY KEY, v LONGTEXT)")
        cluster.catch_up()
        yield cluster


@pytest.mark.parametrize("number", [0, 1], ids=["with a binlog", "without a binlog"])
def test_rows_of_a_turn_that_fills_the_cache_of_row_events_reach_all_nodes(
    narrow: Cluster, number: int
) -> None:
    narrow[0].sql("TRUNCATE d.plain")
    narrow.catch_up()
    with narrow[number].raw("write") as wire:
        assert wire.ask(b"P\t1\td\tplain\t\tid,v") == b"0\t1"
        row = b"%d\t" + b"x" * 3000
        singles = [b"1\t+\t2\t" + row % key for key in range(30)]
        too_many = b"1\t++\t2\t10\t" + b"\t".join(row % key for key in range(40, 50))
        replies = wire.ask_all(*singles[:20], too_many, *singles[20:])
    assert replies[:20] + replies[21:] == [b"0\t1"] * 30
    assert replies[20][:4] == b"1\t1\t"
    assert [row[0] for row in rows_everywhere(narrow, "plain")] == list(range(30))


def test_a_many_row_insert_whose_last_row_is_refused(cluster: Cluster, wire: RawConnection) -> None:
    assert wire.ask(b"2\t++\t1\t3\t1\t2\t1")[:4] == b"1\t1\t"
    assert wire.ask_all(b"2\t+\t1\t7", b"2\t++\t1\t3\t8\t9\t8", b"2\t+\t1\t10")[::2] == [b"0\t1"] * 2
    assert [row[0] for row in rows_everywhere(cluster, "plain")] == [7, 10]


@pytest.mark.parametrize(("clauses", "refused"), [(b"E", b"!121"), (b"E\tR", b"!151")])
def test_a_row_for_itself_that_is_refused_takes_no_other_row_along(
    cluster: Cluster, node: GaleraNode, wire: RawConnection, clauses: bytes, refused: bytes
) -> None:
    """Its statement has changed other rows by then: its trigger's, or one that it was to replace."""
    node.sql("CREATE OR REPLACE TABLE d.seen (id INT AUTO_INCREMENT PRIMARY KEY, of_row INT)")
    node.sql("CREATE OR REPLACE TABLE d.parent (id INT PRIMARY KEY)")
    node.sql("INSERT INTO d.parent VALUES (1)")
    node.sql("CREATE OR REPLACE TABLE d.child (id INT PRIMARY KEY, p INT REFERENCES d.parent (id))")
    node.sql(
        "CREATE TRIGGER d.sees BEFORE INSERT ON d.child FOR EACH ROW INSERT INTO seen SET of_row = NEW.id"
    )
    cluster.catch_up()
    try:
        assert wire.ask_all(b"3\t+\t1\t1", b"P\t3\td\tchild\t\tid,p")[1] == b"0\t1"
        rows = b"1\t1\t2\t1\t2\t7\t3\t7\t4\t1"
        replies = wire.ask_all(b"2\t+\t1\t1", b"3\t++\t2\t5\t%s\t%s" % (rows, clauses), b"2\t+\t1\t2")
        assert replies[::2] == [b"0\t1"] * 2
        outcomes = replies[1].split(b"\t")[2::2]
        assert outcomes == [b"1", b"1", refused, b"!151", b"1"]
        assert [row[0] for row in rows_everywhere(cluster, "child")] == [1, 2, 4]
        assert [row[0] for row in rows_everywhere(cluster, "plain")] == [1, 2]
        assert sorted(row[1] for row in rows_everywhere(cluster, "seen")) == [1, 2, 4]
    finally:
        node.sql("DROP TABLE d.child, d.parent, d.seen")
        cluster.catch_up()


def test_a_change_of_history_that_is_refused(cluster: Cluster, wire: RawConnection) -> None:
    assert wire.ask_all(b"1\t+\t3\t1\t0\t5", b"1\t+\t3\t2\t0\t6") == [b"0\t1"] * 2
    replies = wire.ask_all(b"2\t+\t1\t1", b"1\t=\t1\t1\t1\t0\tU\t1\t9\t6", b"2\t+\t1\t2")
    assert [reply[:3] for reply in replies] == [b"0\t1", b"1\t1", b"0\t1"]
    assert rows_everywhere(cluster, "t") == [(1, 0, 5), (2, 0, 6)]
    assert [row[0] for row in rows_everywhere(cluster, "plain")] == [1, 2]


def test_a_group_that_fails_after_its_first_write(cluster: Cluster, wire: RawConnection) -> None:
    wire.send(b"2\t+\t1\t1\nG\n2\t+\t1\t2\n2\t+\t1\t1\nE\n2\t+\t1\t3\n")
    assert [line[:3] for line in wire.lines(6)] == [b"0\t1", b"0\t1", b"1\t1", b"1\t1", b"1\t1", b"0\t1"]
    assert [row[0] for row in rows_everywhere(cluster, "plain")] == [1, 3]


@pytest.mark.parametrize(
    "insert",
    [
        "SET SESSION wsrep_trx_fragment_size = 1; INSERT INTO notes VALUES (NEW.id);",
        "SET STATEMENT wsrep_trx_fragment_size = 1 FOR INSERT INTO notes VALUES (NEW.id);",
    ],
    ids=["the session streams", "a statement streams"],
)
def test_what_a_trigger_lets_stream_and_is_refused_reaches_no_node(
    cluster: Cluster, node: GaleraNode, wire: RawConnection, insert: str
) -> None:
    """Parts of the transaction are on the other nodes when the trigger refuses it."""
    with_streaming_trigger(cluster, insert)
    requests = [b"1\t+\t1\t1", b"2\t+\t2\t1\t0", b"1\t+\t1\t2", b"G", b"2\t+\t2\t2\t9", b"1\t+\t1\t1", b"E"]
    outcomes = [reply.split(b"\t")[2:3] for reply in wire.ask_all(*requests)]
    assert outcomes == [[], [b"1644"], [], [], [b"group"], [b"121"], [b"group"]]
    assert [row[0] for row in rows_everywhere(cluster, "t")] == [1, 2]
    assert rows_everywhere(cluster, "plain") == []
    assert rows_everywhere(cluster, "notes") == []


def test_a_trigger_lets_no_later_request_stream(
    cluster: Cluster, node: GaleraNode, wire: RawConnection
) -> None:
    with_streaming_trigger(
        cluster, "SET SESSION wsrep_trx_fragment_size = 1; INSERT INTO notes VALUES (NEW.id);"
    )
    cluster[0].sql("""
        CREATE TRIGGER d.refuses AFTER INSERT ON d.t FOR EACH ROW BEGIN
          INSERT INTO notes VALUES (NEW.id);
          IF NEW.n = 0 THEN SIGNAL SQLSTATE '45000'; END IF;
        END
    """)
    cluster.catch_up()
    requests = [b"2\t+\t2\t1\t9", b"1\t+\t2\t2\t9", b"1\t+\t2\t3\t0", b"1\t+\t2\t4\t9"]
    outcomes = [wire.ask(request).split(b"\t")[2:3] for request in requests]
    assert outcomes == [[], [], [b"1644"], []]
    assert [row[0] for row in rows_everywhere(cluster, "t")] == [2, 4]
    assert [row[0] for row in rows_everywhere(cluster, "notes")] == [1, 2, 4]


def with_streaming_trigger(cluster: Cluster, insert: str) -> None:
    """On `plain`, writes to `notes` and refuses rows whose n is 0."""
    cluster[0].sql("CREATE OR REPLACE TABLE d.notes (id INT PRIMARY KEY)")
    cluster[0].sql(f"""
        CREATE TRIGGER d.streams AFTER INSERT ON d.plain FOR EACH ROW BEGIN
          {insert}
          IF NEW.n = 0 THEN SIGNAL SQLSTATE '45000'; END IF;
        END
    """)
    cluster.catch_up()


def test_a_group_that_fails_in_its_second_table_leaves_nothing_of_the_first(
    cluster: Cluster, wire: RawConnection
) -> None:
    """The events of the first table are complete by then, and the second has none."""
    assert wire.ask(b"2\t+\t1\t1") == b"0\t1"
    wire.send(b"2\t+\t1\t2\nG\n1\t+\t1\t7\n2\t+\t1\t1\nE\n2\t+\t1\t3\n")
    assert [line[:3] for line in wire.lines(6)] == [b"0\t1", b"0\t1", b"1\t1", b"1\t1", b"1\t1", b"0\t1"]
    assert [row[0] for row in rows_everywhere(cluster, "plain")] == [1, 2, 3]
    assert rows_everywhere(cluster, "t") == []


def test_a_group_whose_first_write_fails(cluster: Cluster, wire: RawConnection) -> None:
    assert wire.ask(b"2\t+\t1\t1") == b"0\t1"
    wire.send(b"2\t+\t1\t2\nG\n2\t+\t1\t1\nE\n2\t+\t1\t3\n")
    assert [line[:3] for line in wire.lines(5)] == [b"0\t1", b"0\t1", b"1\t1", b"1\t1", b"0\t1"]
    assert [row[0] for row in rows_everywhere(cluster, "plain")] == [1, 2, 3]


def test_a_turn_with_more_rows_than_a_writeset_may_have_loses_none(
    cluster: Cluster, node: GaleraNode, wire: RawConnection
) -> None:
    node.sql("SET GLOBAL wsrep_max_ws_rows = 4")
    replays = node.counter("replays")
    assert wire.ask_all(*(b"2\t+\t1\t%d" % number for number in range(30))) == [b"0\t1"] * 30
    assert node.counter("replays") == replays, "a transaction ends before it has too many rows"
    assert wire.ask(b"2\t++\t1\t6\t40\t41\t42\t43\t44\t45")[:3] == b"1\t1"
    replies = wire.ask_all(b"2\t+\t1\t50", b"2\t++\t1\t6\t60\t61\t62\t63\t64\t65", b"2\t+\t1\t51")
    assert [reply[:3] for reply in replies] == [b"0\t1", b"1\t1", b"0\t1"]
    assert [row[0] for row in rows_everywhere(cluster, "plain")] == [*range(30), 50, 51]


def test_what_follows_an_insert_of_too_many_rows_reaches_all_nodes_with_what_its_trigger_writes(
    cluster: Cluster, node: GaleraNode, wire: RawConnection
) -> None:
    node.sql("CREATE OR REPLACE TABLE d.seen (id INT AUTO_INCREMENT PRIMARY KEY, n INT)")
    node.sql(
        "CREATE TRIGGER d.sees AFTER INSERT ON d.plain FOR EACH ROW IF NEW.id = 6 THEN"
        " INSERT INTO seen (n) VALUES (6), (6), (6); END IF"
    )
    node.sql("SET GLOBAL wsrep_max_ws_rows = 4")
    refused, done = wire.ask_all(b"2\t++\t1\t5\t1\t2\t3\t4\t5", b"2\t+\t1\t6")
    assert (refused[:8], done) == (b"1\t1\t1180", b"0\t1")
    assert [row[0] for row in rows_everywhere(cluster, "plain")] == [6]
    assert [row[1] for row in rows_everywhere(cluster, "seen")] == [6, 6, 6]


def test_a_turn_whose_triggers_change_more_rows_than_a_writeset_may_have_loses_none(
    cluster: Cluster, node: GaleraNode, wire: RawConnection
) -> None:
    """The trigger's row is the one too many."""
    node.sql("CREATE OR REPLACE TABLE d.seen (id INT PRIMARY KEY)")
    node.sql("CREATE TRIGGER d.sees AFTER INSERT ON d.plain FOR EACH ROW INSERT INTO seen SET id = NEW.id")
    node.sql("SET GLOBAL wsrep_max_ws_rows = 5")
    requests = [b"2\t+\t1\t%d" % number for number in range(20)]
    group = [b"G", b"2\t+\t1\t20", b"2\t+\t1\t21", b"E"]
    assert wire.ask_all(*requests, *group) == [b"0\t1"] * 24
    assert wire.ask(b"2\t++\t1\t3\t30\t31\t32")[:8] == b"1\t1\t1180"
    assert [row[0] for row in rows_everywhere(cluster, "plain")] == list(range(22))
    assert [row[0] for row in rows_everywhere(cluster, "seen")] == list(range(22))


def test_a_request_that_takes_too_much_memory_ends_alone(
    cluster: Cluster, node: GaleraNode, wire: RawConnection
) -> None:
    cluster[0].sql(
        "CREATE TRIGGER d.takes BEFORE INSERT ON d.plain FOR EACH ROW"
        " SET NEW.u = LENGTH(@x := REPEAT('x', NEW.n))"
    )
    cluster.catch_up()
    node.sql(f"SET GLOBAL max_session_mem_used = {1 << 20}")
    replays = node.counter("replays")
    try:
        inserts = [b"2\t+\t2\t%d\t%d" % row for row in ((1, 10), (2, 5_000_000), (3, 20))]
        replies = wire.ask_all(*inserts, b"2\t>=\t1\t1\t10\t0")
    finally:
        node.sql("SET GLOBAL max_session_mem_used = DEFAULT")
    assert [reply[:8] for reply in replies[:3]] == [b"0\t1", b"1\t1\t1290", b"0\t1"]
    assert replies[3] == b"0\t3\t1\t10\t10\t3\t20\t20", "a walk in the same turn is not interrupted"
    assert node.counter("replays") == replays, "the others of its turn do not run again"
    assert rows_everywhere(cluster, "plain") == [(1, 10, 10), (3, 20, 20)]


def test_a_turn_that_is_larger_than_a_writeset_may_be_is_divided(
    cluster: Cluster, node: GaleraNode, wire: RawConnection
) -> None:
    cluster[0].sql("CREATE OR REPLACE TABLE d.plain (id INT PRIMARY KEY, n INT, u INT UNIQUE, body LONGTEXT)")
    cluster.catch_up()
    assert wire.ask(b"P\t3\td\tplain\t\tid,body") == b"0\t1"
    node.sql("SET GLOBAL wsrep_max_ws_size = 65536")
    small = [b"3\t+\t2\t%d\t%s" % (number, b"x" * 9000) for number in range(12)]
    too_large = b"3\t+\t2\t90\t" + b"x" * 100_000
    parked = node.counter("parked")
    replies = wire.ask_all(*small[:6], too_large, *small[6:])
    assert node.counter("parked") == parked, "another try does no better"
    assert replies[:6] + replies[7:] == [b"0\t1"] * 12
    assert replies[6][:3] == b"1\t1"
    assert not replies[6].startswith(b"1\t1\tcommit")  # it is known that nothing was done
    assert [row[0] for row in rows_everywhere(cluster, "plain")] == list(range(12))


def test_a_conflict_on_a_table_with_a_trigger_is_over_when_it_is_over(
    cluster: Cluster, node: GaleraNode, wire: RawConnection
) -> None:
    """A worker that lost a conflict serves the next request as if nothing had been."""
    other = next(one for one in cluster if one is not node)
    cluster[0].sql("CREATE TRIGGER d.logs BEFORE UPDATE ON d.plain FOR EACH ROW SET NEW.u = NEW.n + 1000")
    cluster[0].sql("INSERT INTO d.plain VALUES (1, 0, NULL)")
    cluster.catch_up()
    increment = b"2\t=\t1\t1\t1\t0\tU\t1\t%d"
    with other.raw("write") as rival:
        assert rival.ask(b"P\t2\td\tplain\t\tid,n,u") == b"0\t1"
        for number in range(150):
            wire.send(increment % (2 * number) + b"\n")
            rival.send(increment % (2 * number + 1) + b"\n")
            for connection in (wire, rival):
                assert connection.line() in (
                    b"0\t1\t1",
                    b"1\t1\t149\taborted in favour of another node's transaction",
                )
    cluster.catch_up()
    for number in range(10):
        assert wire.ask(b"2\t+\t1\t%d" % (100 + number)) == b"0\t1"
        assert wire.ask(increment % (5000 + number)) == b"0\t1\t1"
    assert rows_everywhere(cluster, "plain")[0] == (1, 5009, 6009)


def test_behind_a_conflict_that_is_over_a_table_is_not_waited_for_in_place(
    tree: ServerTree, template: Path
) -> None:
    """What a conflict makes run again waits for tables in place; the turns behind it do not."""
    one_thread = {"loose-rowsocket-threads-write": 1, "loose-rowsocket-threads-max": 0}
    with Cluster(tree, template, 2, one_thread) as cluster:
        node, other = cluster
        node.sql("CREATE TABLE d.t (id INT PRIMARY KEY, n INT)")
        node.sql("INSERT INTO d.t VALUES (1, 0), (2, 0)")
        cluster.catch_up()
        increment = b"1\t=\t1\t%d\t1\t0\tC\tn\t+\t1\n"
        waits = "Innodb_row_lock_current_waits"
        aborts = int(node.wsrep("local_bf_aborts"))
        with node.raw("write") as wire, node.connect() as session, session.cursor() as cursor:
            assert wire.ask(b"P\t1\td\tt\t\tid,n") == b"0\t1"
            cursor.execute("BEGIN")
            cursor.execute("UPDATE d.t SET n = 10 WHERE id = 2")
            wire.send(increment % 1 + increment % 2)
            node.wait_until("the second row is waited for", lambda: node.status(waits)[waits] != "0")
            other.sql("UPDATE d.t SET n = n + 1 WHERE id = 1")
            node.wait_until("it gives way", lambda: int(node.wsrep("local_bf_aborts")) > aborts)
            cursor.execute("ROLLBACK")
            assert wire.lines(2) == [b"0\t1\t1"] * 2
            parked = node.counter("parked")
            waits_in_place = (
                "SELECT COUNT(*) FROM information_schema.processlist"
                " WHERE host = 'rowsocket' AND state LIKE 'Waiting for table%%'"
            )
            cursor.execute("LOCK TABLES d.t WRITE")
            wire.send(b"1\t+\t1\t3\n")
            node.wait_until(
                "it waits for the table",
                lambda: node.counter("parked") > parked or int(str(node.value(waits_in_place))) > 0,
            )
            assert node.counter("parked") > parked
            cursor.execute("UNLOCK TABLES")
            assert wire.line() == b"0\t1"
        cluster.catch_up()
        assert other.sql("SELECT id, n FROM d.t ORDER BY id") == [(1, 2), (2, 1), (3, None)]


def test_a_write_whose_node_loses_the_cluster_at_its_commit_has_no_reply(cluster: Cluster) -> None:
    """Whether the other nodes have the row is not known. Here they have not: it never left the node."""
    cluster[0].sql("CREATE TABLE d.lost (id INT PRIMARY KEY)")
    cluster.catch_up()
    node = cluster[1]
    with node.raw("write") as wire:
        assert wire.ask(b"P\t1\td\tlost\t\tid") == b"0\t1"
        node.sql("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'")
        wire.send(b"1\t+\t1\t1\n")  # waits for nodes that are not there, until this one sees that
        with node.isolated():
            assert wire.closed()
    assert rows_everywhere(cluster, "lost") == []
