# SPDX-License-Identifier: GPL-2.0-only
"""The binlog equals the tables: the whole binlog of a server, replayed into an empty one, makes every row of
every table.

A ledger of acknowledged writes can agree with the tables while the binlog tells replicas and point-in-time
recovery another story. So this is asked after every test of crashes, faults, backups and replicas:

    facts = assert_binlog_equals_tables(server)

It reads the binlog with mariadb-binlog, which must find nothing to complain of, and feeds it to an empty
server of the same version. On the way it follows the events:

- a transaction that touched nothing but transactional tables ends in an Xid event: only then was its commit
  of two phases, so that a crash leaves it in both, the binlog and the engine, or in neither. One that ends in
  a `COMMIT` statement was of one phase;
- sequence numbers of GTIDs follow each other;
- no savepoint is rolled back to that was not set, and one of RowSocket's own stands before changes that it
  guards. (SQL leaves savepoints behind that guard nothing.)

Then the tables of the two servers are compared, row by row (support/tables.py), and CHECK TABLE looks at
those of the first. The server must have `log-bin`, and have had it from its first table on.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from support.mariadb import MariaDB, Options
from support.tables import damage, differences, tables_of

TWO_PHASES: Options = {"sync-binlog": 1, "innodb-flush-log-at-trx-commit": 1}
"""What a server needs so that a crash must not part its binlog from its tables."""
NOT_TRANSACTIONAL = {"MyISAM", "Aria", "MEMORY", "CSV", "MRG_MyISAM", "ARCHIVE", "BLACKHOLE"}
FAULTS_SHOWN_MAX = 3
"""Of each kind."""

_MAGIC_BYTES = 4
_HEADER_BYTES = 19
_XID_EVENT, _GTID_EVENT = 16, 162
_EVENT = re.compile(rb"#\d{6} +[\d:]+ server id +\d+ +end_log_pos \d+ (?:CRC32 0x[0-9a-f]+ )?\t(.*)")
_GTID = re.compile(rb"GTID (\d+)-(\d+)-(\d+)(.*)")
_TABLE_MAP = re.compile(rb"Table_map: `(.*)`\.`(.*)` mapped to number")
_ROWS = (b"Write_rows", b"Update_rows", b"Delete_rows")
_SAVEPOINT = re.compile(
    rb"(SAVEPOINT|ROLLBACK TO(?: SAVEPOINT)?|RELEASE SAVEPOINT) `?([^`]*)`?", re.IGNORECASE
)
_OWN_SAVEPOINT = "rowsocket"
_END_OF_STATEMENT = b"/*!*/;"


@dataclass
class EventGroup:
    """One transaction or statement of the binlog, under one GTID."""

    gtid: str
    is_transaction: bool = False
    says_transactional: bool = False
    tables: set[str] = field(default_factory=set)
    statements: int = 0
    savepoints: list[str] = field(default_factory=list)
    guards_nothing: bool = False
    """Whether nothing has followed a savepoint of RowSocket's yet."""
    end: str | None = None


@dataclass
class BinlogFacts:
    """What a whole binlog holds, and what is wrong with it."""

    transactions: int = 0
    two_phase: int = 0
    row_events: int = 0
    last_gtids: dict[int, int] = field(default_factory=dict)
    """Sequence number by domain."""
    tables: dict[tuple[int, int], set[str]] = field(default_factory=dict)
    """What each group changed, by domain and sequence number."""
    faults: dict[str, list[str]] = field(default_factory=dict)
    """By kind: where."""

    def fault(self, kind: str, where: str) -> None:
        """Note a fault."""
        self.faults.setdefault(kind, []).append(where)

    def complaints(self) -> list[str]:
        """One text for each kind of fault."""
        return [
            f"{kind}, {len(places)} times: {'; '.join(places[:FAULTS_SHOWN_MAX])}"
            for kind, places in self.faults.items()
        ]


class BinlogReader:
    """Follows the output of mariadb-binlog, line by line."""

    def __init__(
        self, not_transactional: Collection[str] = (), may_miss: Collection[tuple[int, int]] = ()
    ) -> None:
        self.facts = BinlogFacts()
        self.line_number = 0
        self._not_transactional = not_transactional
        self._may_miss = may_miss
        self._group: EventGroup | None = None
        self._starts: list[tuple[int, str]] = []
        self._statement: list[bytes] | None = None

    def read(self, line: bytes) -> None:
        """The next line, without its LF."""
        self.line_number += 1
        if event := _EVENT.fullmatch(line):
            self._event(event[1])
        elif line == b"START TRANSACTION" and self._group is not None:
            self._group.is_transaction = True
        elif self._statement is not None:
            self._statement_line(line)

    def end(self) -> BinlogFacts:
        """There are no more lines."""
        self._end_of_group()
        return self.facts

    def gtid_at(self, line_number: int) -> str:
        """In which group the line stands."""
        return next((gtid for first, gtid in reversed(self._starts) if first <= line_number), "the beginning")

    def _event(self, text: bytes) -> None:
        self._statement = None
        if gtid := _GTID.fullmatch(text):
            self._gtid(int(gtid[1]), int(gtid[2]), int(gtid[3]), gtid[4])
        elif text.startswith(b"Query"):
            self._statement = []
        elif text.startswith(b"Xid = "):
            self._close("Xid")
        elif table := _TABLE_MAP.match(text):
            if self._group is not None:
                self._group.tables.add(f"{table[1].decode()}.{table[2].decode()}")
        elif text.startswith(_ROWS) and self._group is not None:
            self._group.guards_nothing = False
            self.facts.row_events += 1

    def _gtid(self, domain: int, server_id: int, number: int, flags: bytes) -> None:
        self._end_of_group()
        name = f"{domain}-{server_id}-{number}"
        last = self.facts.last_gtids.get(domain, number - 1)
        if number <= last or any(
            (domain, missed) not in self._may_miss for missed in range(last + 1, number)
        ):
            self.facts.fault("a gap between GTIDs", f"{name} follows {domain}-x-{last}")
        self.facts.last_gtids[domain] = number
        self._group = EventGroup(name, says_transactional=b" trans" in flags)
        self.facts.tables[domain, number] = self._group.tables
        self._starts.append((self.line_number, name))

    def _statement_line(self, line: bytes) -> None:
        assert self._statement is not None
        if line.endswith(_END_OF_STATEMENT):
            line = line.removesuffix(_END_OF_STATEMENT)
            if line and not self._statement:
                return  # SET and use, before the statement itself
            if line == b"" and self._statement:
                self._whole_statement(b"\n".join(self._statement))
                self._statement = None
        else:
            self._statement.append(line)

    def _whole_statement(self, text: bytes) -> None:
        if self._group is None:
            return
        if savepoint := _SAVEPOINT.fullmatch(text.strip()):
            self._savepoint(savepoint[1].upper(), savepoint[2].decode(errors="replace"))
        elif text.strip() in (b"COMMIT", b"ROLLBACK"):
            self._close(text.strip().decode())
        else:
            self._group.statements += 1
            self._group.guards_nothing = False
            if not self._group.is_transaction:
                self._close("statement")

    def _savepoint(self, verb: bytes, name: str) -> None:
        assert self._group is not None
        group = self._group
        if verb == b"SAVEPOINT":
            if group.guards_nothing:
                self.facts.fault("a SAVEPOINT that guards nothing", group.gtid)
            group.savepoints.append(name)
            group.guards_nothing = name == _OWN_SAVEPOINT
        elif name not in group.savepoints:
            self.facts.fault("back to a SAVEPOINT that was not set", f"{group.gtid} {verb.decode()} {name}")
        else:
            group.guards_nothing = False

    def _close(self, end: str) -> None:
        if self._group is None:
            self.facts.fault("an end without a GTID before it", end)
            return
        group = self._group
        if group.end is not None:
            self.facts.fault("two ends of one transaction", f"{group.gtid} {group.end}, then {end}")
        group.end = end
        if not group.is_transaction:
            return
        self.facts.transactions += 1
        self.facts.two_phase += end == "Xid"
        foreign = group.tables & set(self._not_transactional)
        # A statement may have found nothing to change.
        changed_rows = bool(group.tables) or group.statements == 0
        if end != "Xid" and changed_rows and (group.says_transactional or not foreign):
            touched = ", ".join(sorted(group.tables)) or f"{group.statements} statements"
            self.facts.fault(
                f"a commit of one phase: {end} instead of an Xid event", f"{group.gtid} ({touched})"
            )
        if group.guards_nothing:
            self.facts.fault("a SAVEPOINT that guards nothing", group.gtid)

    def _end_of_group(self) -> None:
        if self._group is not None and self._group.end is None:
            self.facts.fault("a transaction without an end", self._group.gtid)
        self._group = None


def binlog_files(server: MariaDB) -> list[Path]:
    """All files of the server's binlog, oldest first."""
    base = server.data / str(server.options["log-bin"])
    index = base.with_name(f"{base.name}.index")
    return [base.with_name(Path(line).name) for line in index.read_text().split()]


def transaction_count(server: MariaDB) -> int:
    """How many transactions and statements the binlog has had: the sequence number of its last GTID."""
    return int(str(server.value("SELECT @@gtid_binlog_pos")).rpartition("-")[2])


def last_group(content: bytes) -> int:
    """Where the last transaction or statement begins in a file of the binlog; the end of the file, if none
    does."""
    starts = [place for place, kind in _events(content) if kind == _GTID_EVENT]
    return starts[-1] if starts else len(content)


def last_transaction(content: bytes) -> bytes:
    """The last one of a file of the binlog, up to its Xid event: a checkpoint may stand behind that."""
    begin = last_group(content)
    after = [place for place, kind in _events(content) if place > begin]
    ended = [place for place, kind in _events(content) if place > begin and kind == _XID_EVENT]
    end = next((place for place in after if ended and place > ended[0]), len(content))
    return content[begin:end]


def _events(content: bytes) -> Iterator[tuple[int, int]]:
    """Place and kind of each event, also of a last one that was cut."""
    place = _MAGIC_BYTES
    while place + _HEADER_BYTES <= len(content):
        yield place, content[place + 4]
        place += max(int.from_bytes(content[place + 9 : place + 13], "little"), _HEADER_BYTES)
    if place < len(content):
        yield place, 0


def without_cut_end(content: bytes) -> bytes:
    """Of a file of the binlog, what stands before a transaction whose last event was cut."""
    events = list(_events(content))
    place, kind = events[-1]
    is_whole = kind != 0 and place + int.from_bytes(content[place + 9 : place + 13], "little") <= len(content)
    if is_whole:
        return content
    # Behind a transaction's end the server may have noted a checkpoint.
    has_ended = any(whole == _XID_EVENT for at, whole in events[:-1] if at >= last_group(content))
    return content[: place if kind == _GTID_EVENT or has_ended else last_group(content)]


def _files_to_read(server: MariaDB) -> list[Path]:
    """The files of the binlog, copies of those whose end a kill may have cut: it ends a large write to a file
    wherever that is, with SQL alone, too. The server rolls such a transaction back when it starts."""
    files = []
    for file in binlog_files(server):
        content = file.read_bytes() if file in server.killed_in else b""
        whole = without_cut_end(content) if content else b""
        if whole != content:
            file = server.folder / f"whole-{file.name}"
            file.write_bytes(whole)
        files.append(file)
    return files


def read_binlog(server: MariaDB, files: Iterable[Path], reader: BinlogReader) -> Iterator[bytes]:
    """The lines of mariadb-binlog, LF included; each goes to `reader`, and so do its complaints at the
    end."""
    command = [str(server.tree.program("mariadb-binlog")), "--no-defaults", *map(str, files)]
    with (
        (server.folder / "mariadb-binlog.log").open("w+b") as complaints,
        subprocess.Popen(
            command,
            env=server.tree.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            reader.read(line.removesuffix(b"\n"))
            yield line
        code = process.wait()
        complaints.seek(0)
        text = complaints.read().decode(errors="replace").strip()
        if code != 0 or text:
            where = f"behind {reader.gtid_at(reader.line_number)}"
            reader.facts.fault(f"mariadb-binlog ends with code {code} and a complaint", f"{where}: {text}")


def groups_of_sequences(server: MariaDB) -> set[tuple[int, int]]:
    """Domain and sequence number of the groups that changed nothing but sequences.

    Two sessions that take values at the same time may log them in the other order. A replica that has the
    later value already changes nothing then, and its own binlog has no such group: a gap, with SQL alone as
    well.
    """
    reader = BinlogReader()
    for _ in read_binlog(server, _files_to_read(server), reader):
        pass
    sequences = {str(table) for table in tables_of(server) if table.kind == "SEQUENCE"}
    return {group for group, tables in reader.end().tables.items() if tables and tables <= sequences}


class EmptyReplay(MariaDB):
    """An empty server that a binlog is replayed into: with no binlog of its own."""

    def defaults(self) -> dict[str, str | int | None]:
        kept = {name: value for name, value in super().defaults().items() if name != "log-bin"}
        # What a session may do to tables with history does not stand in the binlog.
        lenient: Options = {"system-versioning-alter-history": "KEEP", "max-allowed-packet": "1G"}
        return {**kept, **lenient, "skip-log-bin": None, "innodb-flush-log-at-trx-commit": 0}

    def replay(self, lines: Iterable[bytes]) -> str:
        """Execute the lines of mariadb-binlog; what the client complained of, empty if nothing."""
        client = str(self.tree.program("mariadb"))
        command = [
            client,
            "--no-defaults",
            "--binary-mode",
            "--user=root",
            f"--socket={self.socket}",
            "--max-allowed-packet=1G",
        ]
        with (self.folder / "mariadb.log").open("w+b") as complaints:
            process = subprocess.Popen(
                command,
                env=self.tree.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
            )
            assert process.stdin is not None
            _feed(process.stdin, lines)
            code = process.wait()
            complaints.seek(0)
            text = complaints.read().decode(errors="replace").strip()
            return f"mariadb (exit code {code}): {text}" if code != 0 or text else ""


def _feed(sink: IO[bytes], lines: Iterable[bytes]) -> None:
    """Write all lines, and take all of them even when nobody reads any more."""
    is_open = True
    for line in lines:
        if is_open:
            try:
                sink.write(line)
            except BrokenPipeError:
                is_open = False
    with suppress(BrokenPipeError):
        sink.close()


def assert_binlog_equals_tables(
    server: MariaDB,
    databases: Collection[str] | None = None,
    options: Options | None = None,
    changing: Collection[str] = (),
    has_crashed: bool = False,
    primary: MariaDB | None = None,
) -> BinlogFacts:
    """Replay the binlog and compare; raises AssertionError with all that is wrong.

    `databases` are those whose rows are compared, None: all but the
    system's; `options` are for the empty server, where the meaning of statements depends on them; `changing`
    are tables (`database.table`) that had no transactions for a while. When the server `has_crashed`, a table
    without transactions may have a row that the binlog has not, and a sequence may be behind it: they are
    left out. `primary` is where the server has its changes from, if it is a replica.
    """
    not_transactional = {
        str(table)
        for table in tables_of(server)
        if table.engine in NOT_TRANSACTIONAL or table.kind == "SEQUENCE"
    }
    left_out = not_transactional if has_crashed else set()
    reader = BinlogReader(
        not_transactional | set(changing), set() if primary is None else groups_of_sequences(primary)
    )
    with ExitStack() as stack:
        replayed = stack.enter_context(EmptyReplay(server.tree, server.template, options))
        complaint = replayed.replay(read_binlog(server, _files_to_read(server), reader))
        facts = reader.end()
        if complaint:
            at = re.search(r"at line (\d+)", complaint)
            facts.fault(
                "the replay stops", f"in {reader.gtid_at(int(at[1])) if at else 'some place'}: {complaint}"
            )
        _check_position(server, facts)
        found = facts.complaints()
        found += differences(server, replayed, ("the server", "the replayed binlog"), databases, left_out)
        found += damage(server, databases, left_out)
        assert not found, (
            f"the binlog ({facts.transactions} transactions) or the tables are wrong\n" + "\n".join(found)
        )
    return facts


def _check_position(server: MariaDB, facts: BinlogFacts) -> None:
    """The server says of its own binlog what stands in it."""
    said = str(server.value("SELECT @@gtid_binlog_pos"))
    position = {int(gtid.split("-")[0]): int(gtid.split("-")[2]) for gtid in said.split(",") if gtid}
    if position != facts.last_gtids:
        facts.fault("gtid_binlog_pos", f"{said!r}, and the binlog ends with {facts.last_gtids}")
