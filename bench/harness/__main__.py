# SPDX-License-Identifier: GPL-2.0-only
"""The harness's command line. `./x bench` and `./x profile` build what is needed and call this."""

from __future__ import annotations

import datetime
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from bench.harness import (
    askers,
    budget,
    changes,
    clients,
    cold,
    facts,
    fair,
    flame,
    markdown,
    paired,
    player,
    report,
    results,
    runner,
    scenario,
    stacks,
    summary,
    tls,
)
from bench.harness import peers as all_peers
from bench.harness.data import Template
from bench.harness.environment import Environment, Missing, from_variables
from bench.harness.measuring import Run
from bench.harness.player import Load
from bench.harness.progress import Progress
from bench.harness.results import FILE, Folder, Writer
from bench.harness.servers import GENERATOR_CPU, ROOT, Servers
from bench.traffic import PROTOCOLS, workloads
from bench.traffic.protocol import Address, WrongAnswer

from support.tree import ServerFailure

ARTEFACTS = ROOT / ".rowsocket/bench"
"""Where results go if nothing else is asked for; git ignores it."""
FAILURES = (
    *(WrongAnswer, ServerFailure, Missing, FileNotFoundError),
    *(scenario.ScenarioMistake, workloads.WorkloadMistake, stacks.CannotProfile, changes.OtherProcessor),
)

Found = TypeVar("Found")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

Names = Annotated[list[str] | None, typer.Argument()]
Out = Annotated[Path | None, typer.Option(help="Folder for the results.")]
RowsMax = Annotated[int | None, typer.Option(help="Fewer rows, for a smoke run.")]


@app.command()
def run(
    scenarios: Names = None,
    quick: Annotated[bool, typer.Option("--quick")] = False,
    out: Out = None,
    budget_minutes: float | None = None,
    rounds: Annotated[int | None, typer.Option(help="Instead of 5.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Of each measurement.")] = None,
    peers: Annotated[str | None, typer.Option(help="Only these, with commas between.")] = None,
    rows_max: RowsMax = None,
) -> None:
    """`./x bench`."""
    deadline_s = time.monotonic() + budget_minutes * 60 if budget_minutes else None
    environment = from_variables()
    chosen = scenario.select(scenario.load(), scenarios or [])
    chosen = [scenario.narrowed(one, peers.split(",") if peers else None, rows_max) for one in chosen]
    plan = budget.plan(chosen, quick=quick, budget_minutes=budget_minutes)
    plan = budget.with_overrides(plan, rounds, seconds)
    folder = _folder(out)
    known = {**facts.gather(environment), "rounds": plan.rounds, "seconds": plan.seconds}
    writer = Writer(folder / FILE, known)
    progress = Progress(sys.stderr, runner.measurements(plan))
    cases = [case for one in plan.scenarios for case in one.cases]
    template = Template(lambda: servers.folder, cases, progress.say)
    try:
        with Servers(environment, progress.say, template) as servers:
            servers.warm_up_seconds = 1.0 if quick else 4.0
            runner.run_plan(plan, all_peers.make(servers), writer, progress, deadline_s)
    finally:  # what was measured before a failure is worth reading, too
        progress.end()
        _write_pages(writer.folder, folder)
    print(summary.text(writer.folder))
    print(f"\n{folder / 'report.html'}")


@app.command()
def against(
    plugin: Path,
    scenarios: Names = None,
    out: Out = None,
    rounds: int = paired.ROUNDS,
    seconds: Annotated[float, typer.Option(help="Of each measurement.")] = paired.SECONDS,
    rows_max: RowsMax = None,
) -> None:
    """`./x bench --against PLUGIN.so`."""
    os.environ[paired.VARIABLE] = str(paired.plugin_file(plugin))
    environment = from_variables()
    cases = paired.chosen(scenario.load(), scenarios or [], rows_max)
    folder = _folder(out)
    writer = Writer(folder / FILE, {**facts.gather(environment), "rounds": rounds, "seconds": seconds})
    progress = Progress(sys.stderr, 2 * rounds * len(cases))
    template = Template(lambda: servers.folder, cases, progress.say)
    try:
        with Servers(environment, progress.say, template) as servers:
            paired.measure(cases, servers, writer, progress, rounds=rounds, seconds=seconds)
    finally:
        progress.end()
    print(paired.text(writer.folder.results))
    print(f"\n{folder / FILE}")


@app.command("fair")
def measure_fair(
    cases: Names = None,
    out: Out = None,
    rounds: int = 3,
    seconds: Annotated[float, typer.Option(help="Of each measurement.")] = 2.0,
    threads_max: Annotated[int | None, typer.Option(help="rowsocket_threads_max.")] = None,
) -> None:
    """`./x bench fair`."""
    environment, folder = from_variables(), _folder(out)
    progress = Progress(sys.stderr, rounds * len(fair.chosen(cases or [])))
    try:
        measured = fair.run(
            environment,
            folder,
            progress,
            cases or [],
            rounds=rounds,
            seconds=seconds,
            threads_max=threads_max,
        )
    finally:
        progress.end()
    (folder / "fair.svg").write_text(fair.picture(measured), encoding="utf-8")
    (folder / "fair.md").write_text(fair.table(measured) + "\n", encoding="utf-8")
    print(fair.table(measured))
    print(f"\n{folder / 'fair.svg'}")


@app.command("cold")
def measure_cold(
    out: Out = None,
    rounds: int = 3,
    seconds: Annotated[float, typer.Option(help="Of each measurement.")] = 3.0,
    rows_max: RowsMax = None,
) -> None:
    """`./x bench cold`."""
    measure = partial(cold.run, rounds=rounds, seconds=seconds, rows_max=rows_max)
    _measure_alone("cold", measure, cold.table, rounds * 7, out)


@app.command("tls")
def measure_tls(
    out: Out = None,
    rounds: int = 12,
    seconds: Annotated[float, typer.Option(help="Of each measurement.")] = 1.0,
    rows_max: RowsMax = None,
) -> None:
    """`./x bench tls`."""
    measure = partial(tls.run, rounds=rounds, seconds=seconds, rows_max=rows_max)
    _measure_alone("tls", measure, tls.table, rounds * tls.MEASUREMENTS, out)


@app.command("clients")
def measure_clients(
    out: Out = None,
    rounds: int = 12,
    seconds: Annotated[float, typer.Option(help="Of each measurement.")] = 1.0,
    rows_max: RowsMax = None,
) -> None:
    """`./x bench clients`."""
    measure = partial(clients.run, rounds=rounds, seconds=seconds, rows_max=rows_max)
    _measure_alone("clients", measure, clients.table, rounds * len(askers.ASKERS), out)


@app.command()
def compare(before: Path, after: Path) -> None:
    """`./x bench --compare BEFORE AFTER`."""
    print(changes.text(results.read(before), results.read(after)))


@app.command()
def pages(folder: Path) -> None:
    """Write figures.md and report.html anew from a folder's results.jsonl."""
    _write_pages(results.read(folder), folder)


@app.command()
def profile(
    name: str, out: Annotated[Path, typer.Option()], peer: str = "rowsocket", seconds: float = 10.0
) -> None:
    """`./x profile`."""
    environment = from_variables()
    [chosen] = scenario.select(scenario.load(), [name])
    case = chosen.cases[0]
    out.mkdir(parents=True, exist_ok=True)
    template = Template(lambda: servers.folder, [case], _tell)
    with Servers(environment, _tell, template) as servers:
        contestant = all_peers.make(servers)[peer]
        server = contestant.server(case)
        if server is None:
            raise stacks.CannotProfile(f"{peer} has no server of its own")
        with stacks.recorded(server.pid, out / "perf.data", GENERATOR_CPU):
            contestant.measure(case, Run(seconds=seconds))
        samples = stacks.read(out / "perf.data")
    picture = out / f"{name}-{peer}.svg"
    picture.write_text(flame.svg(samples, f"{name}, {peer}"), encoding="utf-8")
    for part, share in stacks.shares(samples).items():
        print(f"{share:6.1%}  {part}")
    print(picture)


@app.command()
def load(
    workload: str = "point",
    protocol: str = "rowsocket",
    host: str = "127.0.0.1",
    port: int = 9998,
    socket: Annotated[str, typer.Option(help="A unix socket, instead of host and port.")] = "",
    database: str = "bench",
    rows: int = 1_000_000,
    connections: int = 100,
    in_flight: int = 1,
    rate: Annotated[float, typer.Option(help="Requests due per second; 0 = closed loop.")] = 0.0,
    seconds: float = 3.0,
    first_key: int = 0,
    zipf: float = 0.0,
    seed: int = 1,
    server_pid: int = 0,
    cpu: int = -1,
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER of the workload.")] = None,
    table_sql: Annotated[bool, typer.Option("--table-sql", help="Only print what fills the table.")] = False,
    program: Path = ROOT / "build/release/bench/player",
) -> None:
    """One run against a server that somebody else started and filled; a line of JSON."""
    words = dict(pair.split("=", 1) for pair in settings or [])
    made = workloads.make(workload, rows, **{name: int(number) for name, number in words.items()})
    if table_sql:
        print(";\n".join([*made.table.statements(rows), ""]), end="")
        return
    address: Address = socket or (host, port)
    asked = Load(
        connections=connections,
        in_flight=in_flight,
        rate_per_s=rate,
        seconds=seconds,
        first_key=first_key,
        zipf=zipf,
        seed=seed,
        server_pid=server_pid,
        cpu=cpu,
    )
    print(json.dumps(player.play(program, PROTOCOLS[protocol](made, database), address, asked, workload)))


def _measure_alone(
    name: str,
    measure: Callable[[Environment, Path, Progress], Found],
    table: Callable[[Found], str],
    measurements: int,
    out: Path | None,
) -> None:
    """A comparison that is no scenario: measure, and print its table, which also stands in NAME.md."""
    environment, folder = from_variables(), _folder(out)
    progress = Progress(sys.stderr, measurements)
    try:
        found = measure(environment, folder, progress)
    finally:
        progress.end()
    file, text = folder / f"{name}.md", table(found)
    file.write_text(text + "\n", encoding="utf-8")
    print(text)
    print(f"\n{file}")


def _write_pages(made: Folder, folder: Path) -> None:
    (folder / "report.html").write_text(report.html(made), encoding="utf-8")
    (folder / "figures.md").write_text(markdown.text(made), encoding="utf-8")


def _folder(out: Path | None) -> Path:
    """Where results go: the folder that was asked for, or one named after the time."""
    made = out or ARTEFACTS / datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d-%H%M%S")
    made.mkdir(parents=True, exist_ok=True)
    return made


def _tell(line: str) -> None:
    print(line, file=sys.stderr)


def main() -> int:
    """Run a command; 0 unless a peer failed or the user made a mistake."""
    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # as Ctrl-C: the servers end before the harness does
    try:
        app()
    except FAILURES as failure:
        print(f"failed: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
