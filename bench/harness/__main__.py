# SPDX-License-Identifier: GPL-2.0-only
"""The harness's command line; `./x bench` and `./x profile` build everything, set the variables and pass on to this."""

from __future__ import annotations

import argparse
import datetime
import os
import signal
import sys
import time
from pathlib import Path

from bench.harness import (
    budget,
    changes,
    facts,
    flame,
    markdown,
    paired,
    peers,
    report,
    results,
    runner,
    scenario,
    stacks,
    summary,
)
from bench.harness.data import Template
from bench.harness.environment import Environment, Missing, from_variables
from bench.harness.generator import WrongAnswer
from bench.harness.peers.base import Run
from bench.harness.progress import Progress
from bench.harness.results import FILE, Folder, Writer
from bench.harness.servers import GENERATOR_CPU, ROOT, Servers

from support.mariadb import ServerFailure


def main() -> int:
    """Run a command; 0 unless a peer failed or the user made a mistake."""
    options = parse_arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the servers end before the harness does
    try:
        return int(options.command(options))
    except (WrongAnswer, ServerFailure, scenario.ScenarioMistake, Missing, stacks.CannotProfile) as failure:
        print(f"failed: {failure}", file=sys.stderr)
        return 1


def parse_arguments(words: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.harness", description=__doc__)
    commands = parser.add_subparsers(required=True)
    measure = commands.add_parser("run")
    measure.add_argument("scenarios", nargs="*")
    measure.add_argument("--quick", action="store_true")
    measure.add_argument("--out", type=Path)
    measure.add_argument("--budget-minutes", type=float)
    measure.add_argument("--rounds", type=int, help="instead of 5")
    measure.add_argument("--seconds", type=float, help="of each measurement")
    measure.add_argument("--peers", help="only these, with commas between")
    measure.add_argument("--rows-max", type=int, help="fewer rows, for a smoke run")
    measure.set_defaults(command=run)
    against = commands.add_parser("against")
    against.add_argument("plugin", type=Path)
    against.add_argument("scenarios", nargs="*")
    against.add_argument("--out", type=Path)
    against.add_argument("--rounds", type=int, default=paired.ROUNDS)
    against.add_argument("--seconds", type=float, default=paired.SECONDS, help="of each measurement")
    against.add_argument("--rows-max", type=int, help="fewer rows, for a smoke run")
    against.set_defaults(command=compare_builds)
    compare = commands.add_parser("compare")
    compare.add_argument("folders", nargs=2, type=Path)
    compare.set_defaults(command=compare_runs)
    draw = commands.add_parser("profile")
    draw.add_argument("scenario")
    draw.add_argument("--peer", default="rowsocket")
    draw.add_argument("--seconds", type=float, default=10.0)
    draw.add_argument("--out", type=Path, required=True)
    draw.set_defaults(command=profile)
    return parser.parse_args(words)


def run(options: argparse.Namespace) -> int:
    """`./x bench`."""
    started_s = time.monotonic()
    environment = from_variables()
    plan = _plan(options)
    out = _folder(options.out)
    writer = Writer(out / FILE, {**facts.gather(environment), "rounds": plan.rounds, "seconds": plan.seconds})
    try:
        measure(environment, plan, writer, started_s, options)
    finally:  # what was measured before a failure is worth reading, too
        (out / "report.html").write_text(report.html(writer.folder), encoding="utf-8")
        (out / "figures.md").write_text(markdown.text(writer.folder), encoding="utf-8")
    print(summary.text(writer.folder))
    print(f"\n{out / 'report.html'}")
    return 0


def compare_builds(options: argparse.Namespace) -> int:
    """`./x bench --against PLUGIN.so`."""
    os.environ[paired.VARIABLE] = str(paired.plugin_file(options.plugin))
    environment = from_variables()
    cases = paired.chosen(scenario.load(), options.scenarios, options.rows_max)
    out = _folder(options.out)
    writer = Writer(out / FILE, {**facts.gather(environment), "rounds": options.rounds, "seconds": options.seconds})
    progress = Progress(sys.stderr, 2 * options.rounds * len(cases))
    template = Template(environment.load, lambda: servers.folder, cases, progress.say)
    try:
        with Servers(environment, progress.say, template) as servers:
            paired.measure(cases, servers, writer, progress, rounds=options.rounds, seconds=options.seconds)
    finally:
        progress.end()
    print(paired.text(writer.folder.results))
    print(f"\n{out / FILE}")
    return 0


def _folder(out: Path | None) -> Path:
    """Where results go: the folder that was asked for, or one named after the time."""
    made = out or ROOT / "var/bench" / datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d-%H%M%S")
    made.mkdir(parents=True, exist_ok=True)
    return made


def compare_runs(options: argparse.Namespace) -> int:
    """`./x bench --compare A B`."""
    print(changes.text(*(results.read(folder) for folder in options.folders)))
    return 0


def profile(options: argparse.Namespace) -> int:
    """`./x profile`."""
    environment = from_variables()
    [chosen] = scenario.select(scenario.load(), [options.scenario])
    case = chosen.cases[0]
    options.out.mkdir(parents=True, exist_ok=True)
    template = Template(environment.load, lambda: servers.folder, [case], lambda line: print(line, file=sys.stderr))
    with Servers(environment, lambda line: print(line, file=sys.stderr), template) as servers:
        peer = peers.make(servers)[options.peer]
        server = peer.server(case)
        if server is None:
            raise stacks.CannotProfile(f"{options.peer} has no server of its own")
        data = options.out / "perf.data"
        with stacks.recorded(server.pid, data, GENERATOR_CPU):
            peer.measure(case, Run(seconds=options.seconds))
        samples = stacks.read(data)
    picture = options.out / f"{options.scenario}-{options.peer}.svg"
    picture.write_text(flame.svg(samples, f"{options.scenario}, {options.peer}"), encoding="utf-8")
    for part, share in stacks.shares(samples).items():
        print(f"{share:6.1%}  {part}")
    print(picture)
    return 0


def measure(environment: Environment, plan: budget.Plan, writer: Writer, started_s: float, options: argparse.Namespace) -> Folder:
    """Start what is needed, and measure the plan."""
    deadline_s = started_s + options.budget_minutes * 60 if options.budget_minutes else None
    cases = [case for one in plan.scenarios for case in one.cases]

    progress = Progress(sys.stderr, runner.measurements(plan))
    template = Template(environment.load, lambda: servers.folder, cases, progress.say)
    try:
        with Servers(environment, progress.say, template) as servers:
            servers.warm_up_seconds = 1.0 if options.quick else 4.0
            runner.run_plan(plan, peers.make(servers), writer, progress, deadline_s)
    finally:
        progress.end()
    return writer.folder


def _plan(options: argparse.Namespace) -> budget.Plan:
    chosen = scenario.select(scenario.load(), options.scenarios)
    if options.peers or options.rows_max:
        chosen = [scenario.narrowed(one, options.peers.split(",") if options.peers else None, options.rows_max) for one in chosen]
    plan = budget.plan(chosen, quick=options.quick, budget_minutes=options.budget_minutes)
    return budget.with_overrides(plan, options.rounds, options.seconds)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(main())
