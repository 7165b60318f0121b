# SPDX-License-Identifier: GPL-2.0-only
"""`./x bench clients`: what a get of one row costs the process that asks, for Python's clients.

It is the row of the scenario point, by its primary key. Each measurement is a process of its own on core 1
(askers.py); the servers are on core 0. A round measures each client once, and the next round goes the other
way round.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import statistics
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from bench.harness.askers import (
    ASKERS,
    COLUMNS,
    HASH_KEY,
    MEMCACHED,
    MEMCACHED_DOOR,
    POOL,
    PYMYSQL,
    PYMYSQL_BEST,
    REDIS,
    RESP_DOOR,
    ROWSOCKET,
    ROWSOCKET_UNIX,
    SQL,
    SQL_UNIX,
    TASKS,
    TYPED,
    Asker,
    Told,
    expected,
    line_for,
)
from bench.harness.data import Template
from bench.harness.environment import Environment
from bench.harness.facts import gather
from bench.harness.figures import Report, Spread, number, ratios, spread, spread_text
from bench.harness.peers.key_value import KeyValuePeer
from bench.harness.peers.other_doors import OtherDoor
from bench.harness.progress import Progress
from bench.harness.scenario import Case
from bench.harness.servers import GENERATOR_CPU, ROOT, RowSocketOverTcp, Servers
from bench.traffic.protocol import WrongAnswer

FIGURE = "cpu_us_per_get"
ROWS = 100_000
SILENCE_SECONDS_MAX = 60.0
"""What a process may take beyond its own time."""
PACKAGES = ("PyMySQL", "redis", "hiredis", "pymemcache")


@dataclass(frozen=True)
class Goal:
    """A client costs at most so many times another one."""

    client: str
    other: str
    at_most: float
    server: str = ROWSOCKET
    other_server: str = SQL


GOALS = (
    Goal(TYPED, PYMYSQL, 0.5),
    Goal(TYPED, PYMYSQL_BEST, 0.5),
    Goal(TYPED, PYMYSQL, 0.5, ROWSOCKET_UNIX, SQL_UNIX),
    Goal(TYPED, PYMYSQL_BEST, 0.5, ROWSOCKET_UNIX, SQL_UNIX),
    Goal(TASKS, PYMYSQL, 0.25),
    Goal(TASKS, PYMYSQL_BEST, 0.25),
    Goal(POOL, TYPED, 1.2, other_server=ROWSOCKET),
)


@dataclass
class Measured:
    """A client's rounds."""

    client: str
    server: str
    reports: list[Report] = field(default_factory=list)

    def values(self, figure: str = FIGURE) -> list[float]:
        """A figure, round by round."""
        return [float(report[figure]) for report in self.reports]


def run(
    environment: Environment,
    folder: Path,
    progress: Progress,
    *,
    rounds: int,
    seconds: float,
    rows_max: int | None = None,
) -> list[Measured]:
    """All rounds. Raises WrongAnswer, ServerFailure."""
    case = Case("clients", workload="point", rows=min(ROWS, rows_max or ROWS), connections=1)
    template = Template(lambda: servers.folder, [case], progress.say)
    with (
        Servers(environment, progress.say, template) as servers,
        (folder / "clients.jsonl").open("w", encoding="utf-8") as lines,
    ):

        def note(line: Mapping[str, object]) -> None:
            print(json.dumps(line), file=lines, flush=True)

        servers.warm_up_seconds = 1.0
        note({"kind": "facts", **gather(environment), **versions(), "rounds": rounds, "seconds": seconds})
        places = serving(servers, case)
        askers = [asker for asker in ASKERS if _takes_part(asker, places, progress)]
        found = [Measured(asker.client, asker.server) for asker in askers]
        for round_number in range(1, rounds + 1):
            pairs = list(zip(askers, found, strict=True))
            for asker, one in pairs if round_number % 2 else reversed(pairs):
                told = Told(
                    asker.client,
                    asker.server,
                    **places[asker.server],
                    database=case.database,
                    rows=case.rows,
                    seconds=seconds,
                    seed=round_number,
                    cpu=GENERATOR_CPU,
                )
                report = ask(told)
                one.reports.append(report)
                note(
                    {
                        "kind": "run",
                        "client": one.client,
                        "server": one.server,
                        "round": round_number,
                        **report,
                    }
                )
                progress.measured(f"{one.client} of {one.server}: {report[FIGURE]:.2f} µs")
    return found


def _takes_part(asker: Asker, places: Collection[str], progress: Progress) -> bool:
    reason = asker.cannot() or ("" if asker.server in places else f"{asker.server} is not there")
    if reason:
        progress.say(f"{asker.client} is left out: {reason}")
    return not reason


def ask(told: Told) -> Report:
    """One measurement, in a process of its own. Raises WrongAnswer."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.harness.askers"],
        cwd=ROOT,
        input=line_for(told),
        capture_output=True,
        text=True,
        check=False,
        timeout=told.seconds + SILENCE_SECONDS_MAX,
    )
    if done.returncode != 0:
        raise WrongAnswer(f"{told.client} of {told.server}: {done.stderr.strip()[-1000:]}")
    report: Report = json.loads(done.stdout)
    return report


class Place(TypedDict):
    """Where a server is asked: a port, or the path of a Unix socket."""

    port: int
    unix_socket: str


def serving(servers: Servers, case: Case) -> dict[str, Place]:
    """Where the servers are, which hold the case's rows; those that can be had. Raises ServerFailure."""
    places = {}
    for name, door in ((RESP_DOOR, "rowsocket-resp"), (MEMCACHED_DOOR, "rowsocket-memcached")):
        target = OtherDoor(servers, door).target(case)
        sql = target.server.sql
        assert isinstance(sql, RowSocketOverTcp)
        places[name] = _port(target.address[1])
        places[ROWSOCKET], places[SQL] = _port(sql.read_port), _port(sql.options["port"])
        places[ROWSOCKET_UNIX] = _path(sql.options["loose-rowsocket-socket-read"])
        places[SQL_UNIX] = _path(sql.socket)
    for name, protocol in ((REDIS, "redis"), (MEMCACHED, "memcached")):
        store = KeyValuePeer(servers, protocol)
        if not store.cannot(case):
            places[name] = _port(store.target(case).server.port)
    if REDIS in places:
        _fill_hashes(places[REDIS]["port"], case.rows)
    return places


def _port(number: object) -> Place:
    return {"port": int(str(number)), "unix_socket": ""}


def _path(path: object) -> Place:
    return {"port": 0, "unix_socket": str(path)}


def _fill_hashes(port: int, rows: int) -> None:
    """Redis's rows as hashes; the strings are there already."""
    import redis

    with redis.Redis(port=port) as client, client.pipeline(transaction=False) as pipe:
        for key in range(1, rows + 1):
            pipe.hset(HASH_KEY % key, mapping=dict(zip(COLUMNS, expected(key, typed=False), strict=True)))
            if key % 10_000 == 0 or key == rows:
                pipe.execute()


def versions() -> dict[str, str]:
    """Of the language and of the clients that are not ours."""
    found = {"python": f"{platform.python_implementation()} {platform.python_version()}"}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not there"
    return found


def table(found: Sequence[Measured]) -> str:
    """The medians of the rounds with the least and the most, what each is of PyMySQL, and the goals."""
    sql = _named(found, PYMYSQL, SQL)
    lines = [
        f"| client | asks | µs CPU per get | of {PYMYSQL}'s | gets per second |",
        "|---|---|---|---|---|",
    ]
    for one in found:
        lines.append(
            f"| {one.client} | {one.server} | {spread_text(spread(one.values()))} |"
            f" {_quotient_text(spread(ratios(one.values(), sql.values())))} |"
            f" {number(statistics.median(one.values('gets_per_s')))} |"
        )
    return "\n".join([*lines, "", *(verdict(goal, found) for goal in GOALS)])


def verdict(goal: Goal, found: Sequence[Measured]) -> str:
    """A line that says whether a goal is met."""
    ours, others = _named(found, goal.client, goal.server), _named(found, goal.other, goal.other_server)
    quotient = spread(ratios(ours.values(), others.values()))
    assert quotient is not None
    is_met = "met" if quotient.median <= goal.at_most else "NOT MET"
    where = ", over Unix sockets" if goal.server == ROWSOCKET_UNIX else ""
    what = f"{goal.client} / {goal.other}{where}: {_quotient_text(quotient)}"
    return f"- {what} (goal: at most {goal.at_most}): {is_met}."


def _quotient_text(value: Spread | None) -> str:
    return "-" if value is None else f"{value.median:.2f} ({value.least:.2f} - {value.most:.2f})"


def _named(found: Sequence[Measured], client: str, server: str) -> Measured:
    return next(one for one in found if (one.client, one.server) == (client, server))
