# SPDX-License-Identifier: GPL-2.0-only
"""Three Galera nodes that are all written to over RowSocket and SQL: an ok is a row on every node, and what
conflicts is refused.

The load takes ROWSOCKET_SOAK_SECONDS in a soak (support/soak.py). The last node has no binlog, the others
have one.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pymysql
import pytest

import rowsocket
from replication.servers import assert_equal_tables
from rowsocket import Connection, Index
from support.galera import Cluster, GaleraNode
from support.load import Load
from support.mariadb import Options
from support.memcached import CONTAINERS, CREATE_CONTAINERS, MemcachedConnection
from support.resp import RespConnection
from support.soak import Soak
from support.tree import ServerTree

LOAD_S = 12.0
HOT_ROWS = 3
DEPTH = 8
NOT_READY = 1047
LOST_A_RACE = (1205, 1213)
READ = b"1\t=\t1\t-1"


@pytest.fixture(scope="module")
def cluster(tree: ServerTree, template: Path) -> Iterator[Cluster]:
    """Three nodes with an empty database `d`, and all doors open."""
    doors: Options = {
        "loose-rowsocket-port-memcached": 0,
        "loose-rowsocket-port-resp": 0,
        "loose-rowsocket-containers": CONTAINERS,
    }
    with Cluster(tree, template, options=doors) as cluster:
        yield cluster


@pytest.fixture
def make_table(cluster: Cluster) -> Iterator[Callable[[str], str]]:
    """make_table("id INT PRIMARY KEY"): a new table of `d` on every node; its name. Dropped at the end."""
    names: list[str] = []

    def make(definition: str) -> str:
        names.append(f"t{len(names)}")
        cluster[0].sql(f"CREATE TABLE d.{names[-1]} {definition}")
        cluster.catch_up()
        return names[-1]

    yield make
    for name in names:
        cluster[0].sql(f"DROP TABLE d.{name}")
    cluster.catch_up()


@pytest.fixture
def open_on(cluster: Cluster) -> Iterator[Callable[..., Index[tuple[str | None, ...]]]]:
    """open_on(node, table, columns): an index of a new connection to a node's write port, closed at the
    end."""
    with ExitStack() as stack:

        def open_one(node: GaleraNode, table: str, columns: str) -> Index[tuple[str | None, ...]]:
            connection = stack.enter_context(rowsocket.connect(*node.write_address(), timeout=60, text=True))
            return connection.open_index("d", table, columns)

        yield open_one


OpenOn = Callable[..., Index[tuple[str | None, ...]]]
MakeTable = Callable[[str], str]


def rows(node: GaleraNode, table: str) -> list[tuple[object, ...]]:
    """The table as SQL sees it."""
    return node.sql(f"SELECT * FROM d.{table} ORDER BY 1")


def assert_equal(cluster: Cluster, *tables: str) -> None:
    """All nodes have the same rows."""
    cluster.catch_up()
    for node in cluster.nodes[1:]:
        assert_equal_tables(node, cluster[0], *(f"d.{table}" for table in tables))


# ---- what a write leaves behind


def test_a_write_is_on_every_node(cluster: Cluster, make_table: MakeTable, open_on: OpenOn) -> None:
    table = make_table("(id INT PRIMARY KEY, n INT)")
    for number, node in enumerate(cluster):
        open_on(node, table, "id,n").insert([number, 10])
        cluster.catch_up()
    open_on(cluster[1], table, "n").increment(0, [5])
    open_on(cluster[2], table, "n").update(1, [7])
    open_on(cluster[0], table, "n").delete(2)
    cluster.catch_up()
    assert [rows(node, table) for node in cluster] == [[(0, 15), (1, 7)]] * 3


def test_the_read_port_of_every_node_serves_what_was_written_on_another(
    cluster: Cluster, make_table: MakeTable, open_on: OpenOn
) -> None:
    table = make_table("(id INT PRIMARY KEY, n INT)")
    open_on(cluster[0], table, "id,n").insert([1, 10])
    cluster.catch_up()
    for node in cluster:
        with rowsocket.connect(*node.read_address(), text=True) as reader:
            assert reader.open_index("d", table, "n").get(1) == ("10",)


def test_a_group_of_finds_on_the_read_port_of_a_node_tells_the_rows(
    cluster: Cluster, make_table: MakeTable
) -> None:
    table = make_table("(id INT PRIMARY KEY, n INT)").encode()
    with cluster[0].raw("read") as wire:
        assert wire.ask(b"P\t1\td\t%s\t\tid,n" % table) == b"0\t1"
        requests = [b"G", b"1\t=\t1\t1", b"1\t>=\t1\t0\t9", b"E"]
        assert wire.ask_all(*requests) == [b"0\t1", b"0\t2", b"0\t2", b"0\t1"]


def test_a_container_is_served_by_all_nodes(cluster: Cluster) -> None:
    first, second, _ = cluster
    for statement in ("CREATE DATABASE innodb_memcache", CREATE_CONTAINERS):
        first.sql(statement)
    first.sql("CREATE TABLE d.item (k VARBINARY(250) PRIMARY KEY, v LONGBLOB)")
    first.sql(f"INSERT INTO {CONTAINERS} VALUES ('a', 'd', 'item', 'k', 'v', '0', NULL, NULL, 'PRIMARY')")
    cluster.catch_up()
    with RespConnection(("127.0.0.1", first.resp_port)) as writer:
        first.wait_until("serves it", lambda: writer.command("SET", "key", "value") == b"+OK\r\n")
    cluster.catch_up()
    with MemcachedConnection(("127.0.0.1", second.memcached_port)) as reader:
        second.wait_until("serves it", lambda: reader.ask("get key") == [b"VALUE key 0 5", b"value", b"END"])


def test_a_turn_is_one_writeset(cluster: Cluster, make_table: MakeTable) -> None:
    table = make_table("(id INT PRIMARY KEY, n INT)")
    before = int(cluster[0].wsrep("replicated"))
    with cluster[0].raw("write") as connection:
        connection.ask(b"P\t1\td\t%s\t\tid,n" % table.encode())
        connection.send(b"".join(b"1\t+\t2\t%d\t1\n" % number for number in range(500)))
        assert [connection.line() for _ in range(500)] == [b"0\t1"] * 500
    assert int(cluster[0].wsrep("replicated")) - before < 100
    assert_equal(cluster, table)


def test_a_request_that_fails_is_undone_alone(cluster: Cluster, make_table: MakeTable) -> None:
    table = make_table("(id INT PRIMARY KEY, n INT)")
    with rowsocket.connect(*cluster[0].write_address(), text=True) as connection:
        index = connection.open_index("d", table, "id,n")
        with connection.pipeline() as pipe:
            promised = [pipe.insert(index, [number // 2, number]) for number in range(10)]
    assert [type(pending.error) for pending in promised] == [type(None), rowsocket.DuplicateKey] * 5
    cluster.catch_up()
    assert [rows(node, table) for node in cluster] == [[(number, 2 * number) for number in range(5)]] * 3


def test_what_follows_a_group_that_failed_is_replicated(cluster: Cluster, make_table: MakeTable) -> None:
    table = make_table("(id INT PRIMARY KEY, n INT)").encode()
    with cluster[0].raw("write") as connection:
        connection.ask(b"P\t1\td\t%s\t\tid,n" % table)
        connection.send(b"G\n1\t+\t2\t1\t1\n1\t+\t2\t1\t1\nE\n1\t+\t2\t2\t2\n")
        assert [connection.line() for _ in range(5)][-1] == b"0\t1"
    cluster.catch_up()
    assert [rows(node, table.decode()) for node in cluster] == [[(2, 2)]] * 3


def test_nodes_generate_different_ids(cluster: Cluster, make_table: MakeTable, open_on: OpenOn) -> None:
    table = make_table("(id INT AUTO_INCREMENT PRIMARY KEY, n INT)")
    indexes = [open_on(node, table, "n") for node in cluster]
    with ThreadPoolExecutor(3) as threads:
        made = list(threads.map(lambda index: [index.insert([number]) for number in range(50)], indexes))
    assert len(set(itertools.chain(*made))) == 150
    assert_equal(cluster, table)


def test_what_a_trigger_writes_is_replicated_too(
    cluster: Cluster, make_table: MakeTable, open_on: OpenOn
) -> None:
    table, log = make_table("(id INT PRIMARY KEY, n INT)"), make_table("(id INT PRIMARY KEY, n INT)")
    cluster[1].sql(
        f"CREATE TRIGGER d.keep AFTER INSERT ON d.{table} FOR EACH ROW INSERT INTO {log} VALUES (NEW.id,"
        f" NEW.n)"
    )
    cluster.catch_up()
    for number, node in enumerate(cluster):
        open_on(node, table, "id,n").insert([number, 10 * number])
    cluster.catch_up()
    assert [rows(node, log) for node in cluster] == [[(0, 0), (1, 10), (2, 20)]] * 3


def test_tables_that_galera_does_not_replicate_are_not_written_to(
    cluster: Cluster, make_table: MakeTable, open_on: OpenOn
) -> None:
    table = make_table("(id INT PRIMARY KEY, n INT) ENGINE=MyISAM")
    with pytest.raises(rowsocket.OpenTableError):
        open_on(cluster[0], table, "id,n").insert([1, 1])
    assert rows(cluster[0], table) == []


# ---- conflicts


class Counters:
    """Clients that increment a few rows and insert equal keys, on every node, over RowSocket and SQL; and
    what they were told."""

    def __init__(self, cluster: Cluster, counters: str, keys: str, end_s: float) -> None:
        self.cluster = cluster
        self.counters = counters
        self.keys = keys
        self.end_s = end_s
        self.increments = [0] * HOT_ROWS
        self.inserted: set[tuple[int, int]] = set()
        self.conflicts = 0

    def over_rowsocket(self, client: int) -> None:
        """Batches of increments and inserts; those that conflict answer so, and did nothing."""
        choose = random.Random(client)
        with rowsocket.connect(
            *self.cluster[client % 3].write_address(), timeout=60, text=True
        ) as connection:
            counters = connection.open_index("d", self.counters, "n")
            keys = connection.open_index("d", self.keys, "id,client")
            for key in itertools.count():
                if time.monotonic() > self.end_s:
                    return
                with connection.pipeline() as pipe:
                    hot = [choose.randrange(HOT_ROWS) for _ in range(1 if client % 2 else DEPTH)]
                    promised = [(row, pipe.increment(counters, row, [1])) for row in hot]
                    insert = pipe.insert(keys, [key, client])
                for row, pending in promised:
                    with self._noting_conflicts():
                        assert pending.result() == 1
                        self.increments[row] += 1
                with self._noting_conflicts(), contextlib.suppress(rowsocket.DuplicateKey):
                    insert.result()
                    self.inserted.add((key, client))

    def over_sql(self, client: int) -> None:
        """Increments, some of them two to a transaction."""
        choose = random.Random(client)
        with (
            contextlib.closing(self.cluster[client % 3].connect("d")) as connection,
            connection.cursor() as cursor,
        ):
            while time.monotonic() < self.end_s:
                pair = [choose.randrange(HOT_ROWS) for _ in range(1 + client % 2)]
                try:
                    connection.begin()
                    for row in pair:
                        cursor.execute(f"UPDATE {self.counters} SET n = n + 1 WHERE id = {row}")
                    connection.commit()
                    for row in pair:
                        self.increments[row] += 1
                except pymysql.err.OperationalError as error:
                    assert error.args[0] in LOST_A_RACE, error
                    connection.rollback()

    @contextlib.contextmanager
    def _noting_conflicts(self) -> Iterator[None]:
        try:
            yield
        except (rowsocket.Deadlock, rowsocket.LockWaitTimeout):
            self.conflicts += 1


def test_an_ok_is_kept_and_a_conflict_leaves_nothing(
    cluster: Cluster, make_table: MakeTable, soak: Soak
) -> None:
    counters = make_table("(id INT PRIMARY KEY, n BIGINT NOT NULL)")
    keys = make_table("(id INT PRIMARY KEY, client INT NOT NULL)")
    cluster[0].sql(f"INSERT INTO d.{counters} VALUES (0, 0), (1, 0), (2, 0)")
    cluster.catch_up()
    clients = Counters(cluster, counters, keys, time.monotonic() + soak.duration_s(LOAD_S))
    with ThreadPoolExecutor(12) as threads:
        running = [threads.submit(clients.over_rowsocket, client) for client in range(9)]
        running += [threads.submit(clients.over_sql, client) for client in range(3)]
        for one in running:
            one.result()
    assert_equal(cluster, counters, keys)
    assert [total for _, total in rows(cluster[0], counters)] == clients.increments
    assert set(rows(cluster[0], keys)) == clients.inserted
    soak.saw("increments", sum(clients.increments))
    soak.saw("rows inserted once", len(clients.inserted))
    soak.saw("conflicts refused", clients.conflicts)
    soak.saw(
        "transactions aborted by another node", sum(int(node.wsrep("local_bf_aborts")) for node in cluster)
    )


def test_ddl_of_another_node_passes_beside_busy_clients(cluster: Cluster, make_table: MakeTable) -> None:
    table = make_table("(id INT PRIMARY KEY, n INT NOT NULL)")
    cluster[0].sql(f"INSERT INTO d.{table} VALUES (0, 0), (1, 0), (2, 0), (3, 0)")
    cluster.catch_up()

    def make(number: int, stack: ExitStack) -> Callable[[], None]:
        node = cluster[0 if number % 2 else 2]
        port = node.read_address() if number == 2 else node.write_address()
        connection: Connection = stack.enter_context(rowsocket.connect(*port, timeout=60, text=True))
        index = connection.open_index("d", table, "n")

        def change() -> None:
            with contextlib.suppress(rowsocket.Deadlock):
                index.increment(number, [1])

        def read() -> None:
            assert index.get(number) is not None

        return read if number >= 2 else change

    with Load(4, make) as load:
        for number in range(8):
            cluster[1].sql(f"ALTER TABLE d.{table} ADD COLUMN c{number} INT")
            cluster[1].sql(f"ALTER TABLE d.{table} DROP COLUMN c{number}, FORCE")
            load.wait_for_more()
    assert_equal(cluster, table)


def test_ddl_on_a_child_passes_beside_clients_that_change_its_parent_on_other_nodes(
    cluster: Cluster, make_table: MakeTable
) -> None:
    parent = make_table("(id INT PRIMARY KEY)")
    key = f"FOREIGN KEY (parent) REFERENCES {parent} (id) ON DELETE CASCADE ON UPDATE CASCADE"
    cluster[0].sql(f"CREATE TABLE d.child (id INT PRIMARY KEY, parent INT, {key})")
    cluster.catch_up()

    def make(number: int, stack: ExitStack) -> Callable[[], None]:
        node = cluster[0 if number % 2 else 2]
        connection = stack.enter_context(rowsocket.connect(*node.write_address(), timeout=60, text=True))
        parents = connection.open_index("d", parent, "id")
        children = connection.open_index("d", "child", "id,parent")

        def come_and_go() -> None:
            with contextlib.suppress(
                rowsocket.Deadlock, rowsocket.ForeignKeyViolation, rowsocket.DuplicateKey
            ):
                parents.insert([number])
            with contextlib.suppress(
                rowsocket.Deadlock, rowsocket.ForeignKeyViolation, rowsocket.DuplicateKey
            ):
                children.insert([number, number])
            with contextlib.suppress(rowsocket.Deadlock):
                parents.update(number, [100 + number])
            with contextlib.suppress(rowsocket.Deadlock):
                parents.delete(100 + number)

        return come_and_go

    with Load(4, make) as load:
        for number in range(6):
            cluster[1].sql(f"ALTER TABLE d.child ADD COLUMN c{number} INT")
            cluster[1].sql(f"ALTER TABLE d.child DROP COLUMN c{number}, FORCE")
            load.wait_for_more()
    assert_equal(cluster, parent, "child")
    orphans = f"SELECT * FROM d.child WHERE parent NOT IN (SELECT id FROM d.{parent})"
    assert [node.sql(orphans) for node in cluster] == [[]] * 3
    cluster[0].sql("DROP TABLE d.child")


def test_a_kill_that_comes_during_the_commit_is_kept_until_after_it(
    cluster: Cluster, make_table: MakeTable
) -> None:
    table = make_table("(id INT PRIMARY KEY)")
    node = cluster[0]
    waiting = (
        "SELECT id FROM information_schema.processlist WHERE host = 'rowsocket' AND state LIKE"
        " '%%semi-sync%%'"
    )
    with node.raw("write") as connection:
        assert connection.ask(f"P\t1\td\t{table}\t\tid".encode()) == b"0\t1"
        node.sql("SET GLOBAL rpl_semi_sync_master_wait_point = AFTER_SYNC")
        node.sql("SET GLOBAL rpl_semi_sync_master_timeout = 60000")
        node.sql("SET GLOBAL rpl_semi_sync_master_enabled = ON")
        try:
            connection.send(b"1\t+\t1\t1\n")
            node.wait_until(
                "the commit waits for a replica that is not there", lambda: bool(node.sql(waiting))
            )
            [[worker]] = node.sql(waiting)
            node.sql(f"KILL {worker}")
            assert connection.unread() == b""
        finally:
            node.sql("SET GLOBAL rpl_semi_sync_master_enabled = OFF")
        assert connection.line() == b"0\t1"
        assert connection.closed()
    with node.raw("write") as connection:
        assert connection.ask(f"P\t1\td\t{table}\t\tid".encode()) == b"0\t1"
        assert connection.ask(b"1\t+\t1\t2") == b"0\t1"
    cluster.catch_up()
    assert [rows(each, table) for each in cluster] == [[(1,), (2,)]] * 3


# ---- nodes that wait, and nodes that are alone


def test_a_read_waits_for_what_the_cluster_has_done_where_that_is_asked_for(
    cluster: Cluster, make_table: MakeTable, open_on: OpenOn
) -> None:
    table = make_table("(id INT PRIMARY KEY, n INT)")
    here, there = open_on(cluster[0], table, "id,n"), open_on(cluster[1], table, "id,n")
    cluster[1].sql("SET GLOBAL wsrep_sync_wait = 1")
    try:
        for number in range(200):
            here.insert([number, number])
            assert there.get(number) == (str(number), str(number))
    finally:
        cluster[1].sql("SET GLOBAL wsrep_sync_wait = 0")


def test_a_write_waits_for_what_the_cluster_has_done_where_that_is_asked_for(
    cluster: Cluster, make_table: MakeTable, open_on: OpenOn
) -> None:
    table = make_table("(id INT PRIMARY KEY, n INT)")
    here, there = open_on(cluster[0], table, "id,n"), open_on(cluster[1], table, "n")
    cluster[1].sql("SET GLOBAL wsrep_sync_wait = 2")  # before UPDATE and DELETE
    try:
        for number in range(200):
            here.insert([number, 0])
            assert there.update(number, [1]) == 1
    finally:
        cluster[1].sql("SET GLOBAL wsrep_sync_wait = 0")


def test_a_write_waits_for_the_cluster_also_where_reads_do_not(
    cluster: Cluster, make_table: MakeTable, open_on: OpenOn
) -> None:
    table = make_table("(id INT PRIMARY KEY, n INT)")
    here = open_on(cluster[0], table, "id,n")
    cluster[1].sql("SET GLOBAL wsrep_sync_wait = 3, wsrep_dirty_reads = ON")
    try:
        with cluster[1].raw("write") as there:
            assert there.ask(f"P\t1\td\t{table}\t\tn".encode()) == b"0\t1"
            for number in range(200):
                assert there.ask(READ) == b"0\t1"
                here.insert([number, 0])
                update = b"1\t=\t1\t%d\t1\t0\tU\t1" % number
                assert there.ask_all(READ, update) == [b"0\t1", b"0\t1\t1"]
    finally:
        cluster[1].sql("SET GLOBAL wsrep_sync_wait = 0, wsrep_dirty_reads = OFF")


def test_a_node_that_is_cut_off_refuses_and_comes_back(
    cluster: Cluster, make_table: MakeTable, open_on: OpenOn
) -> None:
    table = make_table("(id INT PRIMARY KEY, n INT)")
    index = open_on(cluster[2], table, "id,n")
    index.insert([1, 10])
    with cluster[2].isolated():
        for request in (lambda: index.insert([2, 20]), lambda: index.get(1)):
            with pytest.raises(rowsocket.EngineError, match=str(NOT_READY)):
                request()
        cluster[2].sql("SET GLOBAL wsrep_dirty_reads = 1")
        assert index.get(1) == ("1", "10")
        with pytest.raises(rowsocket.EngineError, match=str(NOT_READY)):
            index.insert([2, 20])
        cluster[2].sql("SET GLOBAL wsrep_dirty_reads = 0")
        open_on(cluster[0], table, "id,n").insert([3, 30])
    index.insert([4, 40])
    cluster.catch_up()
    assert [rows(node, table) for node in cluster] == [[(1, 10), (3, 30), (4, 40)]] * 3


def test_a_node_that_rejects_queries_refuses(
    cluster: Cluster, make_table: MakeTable, open_on: OpenOn
) -> None:
    table = make_table("(id INT PRIMARY KEY, n INT)")
    index = open_on(cluster[1], table, "id,n")
    with contextlib.closing(cluster[1].connect()) as operator, operator.cursor() as cursor:
        cursor.execute("SET GLOBAL wsrep_reject_queries = ALL")
        with pytest.raises(rowsocket.EngineError, match=str(NOT_READY)):
            index.insert([1, 10])
        cursor.execute("SET GLOBAL wsrep_reject_queries = NONE")
    index.insert([1, 10])
    assert_equal(cluster, table)


def test_a_node_that_crashed_under_load_joins_again(cluster: Cluster, make_table: MakeTable) -> None:
    table = make_table("(id INT PRIMARY KEY, n INT)")

    def make(number: int, stack: ExitStack) -> Callable[[], None]:
        connection = stack.enter_context(
            rowsocket.connect(*cluster[number].write_address(), timeout=60, text=True)
        )
        index, keys = connection.open_index("d", table, "id,n"), itertools.count(number, 2)
        return lambda: acknowledged[number].append(int(index.insert([next(keys), 1]) or 0) or 1)

    acknowledged: list[list[int]] = [[], []]
    with Load(2, make) as load:
        cluster[2].crash()
        cluster[0].wait_until("the others go on without it", lambda: cluster[0].wsrep("cluster_size") == "2")
        load.wait_for_more()
        cluster[2].recover_position()
        cluster[2].start_in(cluster.addresses)
        load.wait_for_more()
    assert_equal(cluster, table)
    assert len(rows(cluster[2], table)) == sum(map(len, acknowledged))
