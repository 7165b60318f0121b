# SPDX-License-Identifier: GPL-2.0-only
"""A server with traffic, watched by Debian's exporter, `rowsocket metrics` and Prometheus, as
docs/monitoring.md sets them up: the dashboard and the alerts name only what is there, and say what happens.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.commands import run
from support.mariadb import RowSocketServer
from support.monitors import (
    ROOT,
    Monitor,
    Prometheus,
    mysqld_exporter,
    program,
    prometheus,
    rowsocket_metrics,
    samples_of,
    until,
)
from support.plugin import is_loaded, make_table, opened
from support.schema_tables import of_table
from support.tree import ServerTree

PAGE = (ROOT / "docs/monitoring.md").read_text()
FILES = ROOT / "packaging/monitoring"
ALERTS = (FILES / "rowsocket-alerts.yml").read_text()
DASHBOARD = json.loads((FILES / "rowsocket-dashboard.json").read_text())
SOCKET = "/run/mysqld/mysqld.sock"
CASES = Path(__file__).with_name("alerts_test.yml")

EXPRESSIONS = [
    (f"{panel['title']}: {target['legendFormat']}", str(target["expr"]))
    for panel in DASHBOARD["panels"]
    for target in panel.get("targets", [])
]
CHOSEN = {"$__rate_interval": "1m", "$job": "mariadb", "$instance": ".+", "$tables_instance": ".+"}
METRIC = re.compile(r"\b(?:mysql|rowsocket)_\w+\b(?!['\"|])")


def blocks(language: str) -> list[str]:
    """The code blocks of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Watched:
    """A server, and who watches it."""

    server: RowSocketServer
    status: Monitor
    tables: Monitor
    prometheus: Prometheus
    configuration: Path


@pytest.fixture(scope="module")
def watched(tree: ServerTree, template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folders = [tmp_path_factory.mktemp(name) for name in ("status", "tables", "prometheus")]
    shutil.copy(FILES / "rowsocket-alerts.yml", folders[2])
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(RowSocketServer(tree, template))
        for block_of_sql in blocks("sql"):
            # On the page, an account that is the user of the system.
            for statement in block_of_sql.split(";\n")[:-1]:
                server.sql(statement.replace("VIA unix_socket", "BY 'unused'"))
        make_table(server)
        access = blocks("conf")[0].replace(SOCKET, str(server.socket))
        status = stack.enter_context(mysqld_exporter(access, folders[0]))
        url = f"mysql://prometheus:unused@/?unix_socket={server.socket}"
        tables = stack.enter_context(rowsocket_metrics(url, folders[1]))
        ports = {"mariadb": status.port, "rowsocket": tables.port}
        yield Watched(
            server,
            status,
            tables,
            stack.enter_context(prometheus(blocks("yaml")[0], ports, folders[2])),
            folders[2] / "prometheus.yml",
        )


def traffic(server: RowSocketServer) -> None:
    """Some of everything: what is found, changed and refused."""
    with server.raw("write") as client:
        opened(client)
        client.ask_all(
            b"1\t=\t1\t1",
            b"1\t+\t2\t7\tseven",
            b"1\t+\t2\t7\tagain",
            b"1\t=\t1\t7\t1\t0\tU\t7\tSeven",
            b"1\t=\t1\t7\t1\t0\tD",
            b"1\t=\t1\tno\tkey",
        )


def test_prometheus_takes_the_configuration_of_the_page(watched: Watched) -> None:
    assert "SUCCESS: 1 rule files found" in run(
        [program("promtool"), "check", "config", watched.configuration]
    )
    until(
        "both exporters are looked at",
        lambda: (
            sorted(watched.prometheus.values("up")) == [1, 1]
            and watched.prometheus.values("mysql_up") == watched.prometheus.values("rowsocket_up") == [1]
        ),
    )


def test_the_account_of_the_page_may_do_what_the_exporters_do(watched: Watched) -> None:
    assert watched.status.samples() and watched.tables.samples()
    # On a busy machine a look may also have taken too long.
    assert "denied" not in (watched.status.log() + watched.tables.log()).lower()


def test_the_exporter_shows_every_status_value_as_it_is(watched: Watched) -> None:
    traffic(watched.server)

    def differences() -> bool:
        numbers = {
            name.lower(): float(value)
            for name, value in watched.server.status("Rowsocket%").items()
            if re.fullmatch(r"[\d.]+", value)
        }
        told = {
            name.removeprefix("mysql_global_status_"): value
            for (name, labels), value in watched.status.samples().items()
            if name.startswith("mysql_global_status_rowsocket_") and not labels
        }
        return len(numbers) > 50 and told == numbers

    until("nothing moves, and both say the same", differences)


def test_every_metric_that_the_dashboard_and_the_alerts_name_is_there(watched: Watched) -> None:
    named = set(METRIC.findall(" ".join([*(text for _, text in EXPRESSIONS), *expressions_of(ALERTS)])))
    assert len(named) > 40

    def missing() -> set[str]:
        traffic(watched.server)
        return named - watched.prometheus.names()

    with watched.server.raw("read"):  # somebody is connected
        with contextlib.suppress(AssertionError):
            until("all are there", lambda: not missing())
        assert missing() == set()


def expressions_of(rules: str) -> list[str]:
    """The expressions of alerts."""
    return re.findall(r"expr: (?:\|\n)?(.*?)\n +(?:for|labels):", rules, re.DOTALL)


def test_every_panel_shows_numbers_when_there_is_traffic(watched: Watched) -> None:
    [of_page] = blocks("promql")
    left = {**dict(EXPRESSIONS), "the page": of_page}
    assert len(left) > 40

    def shown() -> bool:
        traffic(watched.server)
        for name, expression in list(left.items()):
            for variable, value in CHOSEN.items():
                expression = expression.replace(variable, value)
            values = watched.prometheus.values(expression)
            if values and not any(math.isnan(value) for value in values):
                del left[name]
        return not left

    with watched.server.raw("read"), contextlib.suppress(AssertionError):  # somebody is connected
        until("all panels show numbers", shown)
    assert left == {}


def test_prometheus_has_of_each_operation_as_many_requests_as_the_server(watched: Watched) -> None:
    traffic(watched.server)
    row = of_table(watched.server, "app", "t")
    numbers = {kind: row[f"{kind.upper()}S"] for kind in ("find", "insert", "update", "delete", "increment")}
    assert numbers["insert"] > numbers["update"] == numbers["delete"] > numbers["increment"] == 0

    def had() -> dict[str, float]:
        found = watched.prometheus.query('rowsocket_table_requests_total{schema="app",table="t"}')
        return {one["metric"]["operation"]: float(one["value"][1]) for one in found}

    until(f"it has {numbers}", lambda: had() == numbers)


# ── alerts ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_promtool_finds_the_alerts_well_made_and_each_fires_when_it_should(tmp_path: Path) -> None:
    names = re.findall(r"alert: (\w+)", ALERTS)
    shutil.copy(FILES / "rowsocket-alerts.yml", tmp_path)
    cases = shutil.copy(CASES, tmp_path)
    assert f"{len(names)} rules found" in run(
        [program("promtool"), "check", "rules", tmp_path / "rowsocket-alerts.yml"]
    )
    assert "SUCCESS" in run([program("promtool"), "test", "rules", cases])
    assert re.findall(r'alertname="(\w+)"', CASES.read_text()) == names


def test_every_file_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"examples/([\w.-]+)", PAGE))
    assert named == {path.name for path in FILES.iterdir()}


def test_every_alert_is_on_the_page() -> None:
    assert re.findall(r"^\| `(RowSocket\w+)`", PAGE, re.MULTILINE) == re.findall(r"alert: (\w+)", ALERTS)


def pending(watched: Watched) -> set[str]:
    """The alerts whose condition holds."""
    return {sample["metric"]["alertname"] for sample in watched.prometheus.query("ALERTS")}


def test_alerts_tell_of_a_plugin_that_is_gone_and_of_a_server_that_is(watched: Watched) -> None:
    until("all is well", lambda: not pending(watched) & {"RowSocketNotLoaded", "RowSocketServerDown"})
    watched.server.sql("UNINSTALL SONAME 'rowsocket'")
    assert not is_loaded(watched.server)

    def misses_the_plugin_alone() -> bool:
        # On a busy machine a look may take too long: then the server is missed, too, until the next one.
        missed = pending(watched)
        expected = {"RowSocketNotLoaded", "RowSocketTablesNotTold"}
        return expected <= missed and "RowSocketServerDown" not in missed

    until("the plugin is missed, and the server is not", misses_the_plugin_alone)
    watched.server.stop()
    until("the server is missed", lambda: "RowSocketServerDown" in pending(watched))
    assert samples_of(watched.tables.get("/metrics")) == {("rowsocket_up", frozenset()): 0}
    watched.server.start()
    until("all is well again", lambda: watched.prometheus.values("mysql_up * 2 + on() rowsocket_up") == [3])
    until("no alert is left", lambda: not pending(watched) & {"RowSocketNotLoaded", "RowSocketServerDown"})
