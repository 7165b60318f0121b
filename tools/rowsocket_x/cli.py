# SPDX-License-Identifier: GPL-2.0-only
"""The verbs of `./x` and their options. A verb reads its options and calls the module that does the work."""

import errno
import sys
from pathlib import Path
from typing import Annotated

import typer

from rowsocket_x import benchmark, package_proof, parts, serve, site, soaks, training
from rowsocket_x import build as building
from rowsocket_x import check as checking
from rowsocket_x import package as packaging
from rowsocket_x import setup as setting_up
from rowsocket_x.console import Problem, say
from rowsocket_x.mutants import trial
from rowsocket_x.paths import ROOT, STATE, VAR
from rowsocket_x.server_series import DEFAULT, Series

_pytest_arguments: list[str] = []
"""What stands after `--` on the command line of `./x test`."""

ServerOption = Annotated[Series, typer.Option(help="The series of MariaDB; 11.8 is fetched from Debian 13.")]

app = typer.Typer(
    name="./x",
    help="Everything one does with a checkout of RowSocket. Start with `./x run`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def setup(
    server: ServerOption = DEFAULT,
    renew: Annotated[
        bool, typer.Option("--renew", help="Look for a newer MariaDB than the one that is there.")
    ] = False,
) -> None:
    """Install what any verb needs: system packages (apt), Python packages (.venv/), the matched MariaDB
    server and its private headers (.rowsocket/). Says which server this machine would itself install.

    Root (or sudo) is only needed when a system package is missing. The server is unpacked into the project
    folder; a MariaDB that is installed on this machine is neither used nor touched. Other verbs do their part
    of this by themselves.
    """
    have = setting_up.everything(server, renew=renew)
    say(f"MariaDB {have.version}: server in {have.tree}, headers in {have.headers}")


@app.command()
def build(
    preset: Annotated[
        building.Preset, typer.Option(help="What to build; see CMakePresets.json.")
    ] = building.Preset.RELEASE,
    server: ServerOption = DEFAULT,
    headers: Annotated[
        Path | None,
        typer.Option(
            help="Private headers of another server to build the plugin for: a folder like those in "
            ".rowsocket/source, or an installed one with server/private in it, such as /usr/include/mysql.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
) -> None:
    """Build into build/PRESET; into build/PRESET-11.8 with --server 11.8.

    plugin is the plugin alone, in the folder of release; release is the plugin and everything else; trained
    is the plugin as packages have it, compiled by what typical requests run; no-server leaves the plugin out
    and needs no MariaDB; debug has AddressSanitizer and UBSan, tsan ThreadSanitizer, for everything outside
    src/mariadb; fuzz makes the libFuzzer programs.
    """
    if preset is building.Preset.TRAINED:
        if headers is not None:
            raise Problem("a trained plugin is for the server that ./x fetches", "leave out --headers")
        folder = training.trained(server)
    else:
        folder = building.build(preset, series=server, headers=headers)
    if preset.needs_server:
        say(f"plugin: {building.plugin(folder)}")


@app.command()
def package(
    server: ServerOption = DEFAULT,
    prove: Annotated[
        bool, typer.Option("--prove", help="Install and use them in a bare Debian, too; takes root.")
    ] = False,
) -> None:
    """Make Debian packages in build/package: the plugin with its builds for point releases of one series of
    MariaDB, and the command with the Python client.

    The plugin is built for each point release whose headers are in .rowsocket/source. The packages for 11.8
    are for Debian 13, and can be made on Debian 12.
    """
    files = packaging.package(server)
    packaging.tell(files)
    if prove:
        package_proof.prove(server, files)


@app.command()
def run(
    server: ServerOption = DEFAULT,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder for data, sockets and log; made at the first start.", show_default="var/demo"
        ),
    ] = None,
    port_sql: Annotated[
        int, typer.Option(help="TCP port for SQL; 0 = any free one.", min=0, max=65535)
    ] = 13306,
    port_read: Annotated[
        int, typer.Option(help="TCP port for reads; 0 = any free one.", min=0, max=65535)
    ] = 9998,
    port_write: Annotated[
        int, typer.Option(help="TCP port for writes; 0 = any free one.", min=0, max=65535)
    ] = 9999,
    port_memcached: Annotated[
        int | None,
        typer.Option(
            help="TCP port for the memcached protocol, on the containers of the table "
            "innodb_memcache.containers; 0 = any free one.",
            min=0,
            max=65535,
            show_default="not served",
        ),
    ] = None,
    port_resp: Annotated[
        int | None,
        typer.Option(
            help="TCP port for RESP for tables, which redis-cli speaks; 0 = any free one.",
            min=0,
            max=65535,
            show_default="not served",
        ),
    ] = None,
    no_demo: Annotated[bool, typer.Option("--no-demo", help="Do not load the demo database.")] = False,
    demo_users: Annotated[
        int, typer.Option(help="Rows of the table demo.user.", min=0, max=100_000_000)
    ] = 100_000,
    config: Annotated[
        Path | None,
        typer.Option(
            help="A my.cnf to read after our own settings.", exists=True, dir_okay=False, readable=True
        ),
    ] = None,
    ready_file: Annotated[
        Path | None,
        typer.Option(help="A JSON file to write when it serves: pid, ports and sockets. Removed at the end."),
    ] = None,
) -> None:
    """Start a private MariaDB with RowSocket and serve in the foreground until Ctrl-C or SIGTERM.

    Does all set-up that is missing, builds, loads a demo database at the first start (the Debian package
    index of this machine and a table of users), and prints where it serves and what to try. A second start
    takes seconds. SQL user root, no password, on loopback and the printed socket only.
    """
    serve.serve(
        serve.Options(
            series=server,
            data=data or VAR / ("demo" if server is DEFAULT else f"demo-{server}"),
            port_sql=port_sql,
            port_read=port_read,
            port_write=port_write,
            port_memcached=port_memcached,
            port_resp=port_resp,
            demo_users=None if no_demo else demo_users,
            config=config,
            ready_file=ready_file,
        )
    )


@app.command()
def test(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[PART]...", help="Parts to run; all of them without.")
    ] = None,
    server: ServerOption = DEFAULT,
    fuzz_seconds: Annotated[int, typer.Option(help="How long each fuzzing program runs.", min=1)] = 10,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the output of the test runners as they go.")
    ] = False,
    list_parts: Annotated[bool, typer.Option("--list", help="List the parts and end.")] = False,
) -> None:
    """Build and run the tests: unit (plain, ASan and UBSan, TSan), on real servers, and a short fuzz.

    One line per part says what ran and how many passed; the last line counts all. Arguments after -- go to
    pytest: ./x test integration -- -k decimal -x
    """
    if list_parts:
        print("\n".join(part.name for part in parts.all_parts()))
        return
    settings = parts.Settings(
        pytest_arguments=_pytest_arguments, fuzz_seconds=fuzz_seconds, verbose=verbose, series=server
    )
    if not parts.run_parts(names or [], settings):
        raise typer.Exit(1)


@app.command()
def soak(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Which soak; without a name they are listed.")
    ] = None,
    minutes: Annotated[float, typer.Option(help="For how long.", min=0.01)] = 10,
    seed: Annotated[
        int | None, typer.Option(help="Where its choices begin; printed with the result. Any without.", min=0)
    ] = None,
) -> None:
    """Run one of the tests of faults and crashes for long. It ends with an entry for docs/reliability.md.

    ./x soak crash --minutes 60
    """
    if name is None:
        print("\n".join(f"{soak.name:<12} {soak.what}" for soak in soaks.SOAKS))
        return
    if not soaks.run(name, minutes=minutes, seed=seed):
        raise typer.Exit(1)


@app.command()
def mutants(
    under: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PLACE]...", help="Folders or files to change, such as src/exec; src without."
        ),
    ] = None,
    count: Annotated[int, typer.Option(help="How many changes.", min=1)] = 100,
    seed: Annotated[
        int | None, typer.Option(help="Which changes; printed with the result. Any without.", min=0)
    ] = None,
    no_servers: Annotated[
        bool, typer.Option("--no-servers", help="Only the unit tests: minutes instead of an hour.")
    ] = False,
    seconds: Annotated[
        float,
        typer.Option(
            help="What either kind of tests may take per change: the likely ones are chosen.", min=1
        ),
    ] = 120,
) -> None:
    """Change lines of the source at random, one at a time, and name those changes that no test notices.

    All changes are compiled into one build, each behind a switch. What the unit tests do not notice is tried
    with tests on real servers, the likely ones within a time.
    """
    trial.run_trial(
        trial.Options(
            seed=trial.any_seed() if seed is None else seed,
            count=count,
            under=under or [],
            servers=not no_servers,
            seconds_max=seconds,
        )
    )


@app.command()
def bench(
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SCENARIO]...", help="Scenarios or groups of bench/scenarios; all without."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="3 short rounds: to see that it works, not to quote.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for results.jsonl and report.html.", show_default=".rowsocket/bench/TIME"),
    ] = None,
    budget_minutes: Annotated[
        float | None, typer.Option(help="End within this: shorter measurements, then fewer scenarios.", min=1)
    ] = None,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="A B", help="Measure nothing; say what changed between two result folders."),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="PLUGIN.so",
            help="Measure only this tree's build and that older one, in turn: CPU per request.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(help="Instead of 5; of 12 with --against, clients, tls; of 3 with fair, cold.", min=1),
    ] = None,
) -> None:
    """Measure RowSocket beside the original, SQL, memcached, Redis and the floors; a page in report.html.

    Servers run on core 0, the load generator on core 1: nothing else should run. All of it takes about an
    hour and a half; --budget-minutes 20 measures everything that has a goal. See docs/benchmarks.

    --against compares two builds of the plugin instead: point, point_pipelined, in_50, range and insert
    without names, in about five minutes. Give it a copy of rowsocket.so from before a change.

    `./x bench fair`, `cold`, `tls` and `clients` are measurements of their own: what clients get beside
    others who keep the server busy or waiting, and with data beyond memory; what TLS costs; and what a get
    costs a program in Python.
    """
    if compare is not None:
        done = benchmark.compare(compare[0].absolute(), compare[1].absolute())
    else:
        words = [
            *(scenarios or []),
            *(["--out", str(out.absolute())] if out else []),
            *(["--rounds", str(rounds)] if rounds else []),
        ]
        if scenarios and scenarios[0] in ("fair", "cold", "tls", "clients"):
            if quick or budget_minutes or against:
                raise Problem(f"./x bench {scenarios[0]} takes --out and --rounds only")
            done = benchmark.harness(words)
        elif against is not None:
            done = benchmark.against([str(against.absolute()), *words])
        else:
            words += [
                *(["--quick"] if quick else []),
                *(["--budget-minutes", str(budget_minutes)] if budget_minutes else []),
            ]
            done = benchmark.harness(["run", *words])
    if not done:
        raise typer.Exit(1)


@app.command()
def profile(
    scenario: Annotated[
        str, typer.Argument(help="A scenario of bench/scenarios; its first case is profiled.")
    ],
    peer: Annotated[str, typer.Option(help="Whose server.")] = "rowsocket",
    seconds: Annotated[float, typer.Option(help="For how long.", min=1)] = 10,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the flame graph.", show_default=".rowsocket/bench/profile")
    ] = None,
) -> None:
    """Draw a flame graph of the server under a scenario's load (needs perf); say who takes which share."""
    folder = (out or STATE / "bench/profile").absolute()
    if not benchmark.harness(
        ["profile", scenario, "--peer", peer, "--seconds", str(seconds), "--out", str(folder)]
    ):
        raise typer.Exit(1)


@app.command()
def docs(
    show: Annotated[bool, typer.Option("--serve", help="Show it, on loopback, until Ctrl-C.")] = False,
    port: Annotated[
        int, typer.Option(help="TCP port for --serve; 0 = any free one.", min=0, max=65535)
    ] = 8000,
) -> None:
    """Make a site of the documents in build/docs/site, with a search; a link that leads nowhere fails.

    The pages can be read from the disk. The search works where they are served.
    """
    folder = site.build()
    print(folder / "index.html")
    if show:
        site.serve(folder, port)


@app.command()
def check(
    everything: Annotated[
        bool,
        typer.Option("--all", help="clang-tidy over all sources, not only over what changed; takes minutes."),
    ] = False,
) -> None:
    """Check format, lint, types, the layers' include rule, licence lines, lengths, links; run clang-tidy.

    Changes nothing. Without --all clang-tidy looks at what changed since the branch left main.
    """
    if not checking.check(everything=everything):
        raise typer.Exit(1)


@app.command()
def fmt() -> None:
    """Format all C++ and Python sources in place, mend what the linter can, and make the made files anew."""
    checking.fmt()


def main() -> None:
    """Run the command line. Problems that the user can mend end it with exit code 1 and no traceback."""
    if sys.argv[1:2] == ["test"] and "--" in sys.argv:
        position = sys.argv.index("--")
        _pytest_arguments[:] = sys.argv[position + 1 :]
        del sys.argv[position:]
    try:
        app(prog_name="./x")
    except Problem as problem:
        problem.show()
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        Problem(f"the disk is full ({error.filename or ROOT})", "make room and run this again: df -h").show()
        raise SystemExit(1) from None
