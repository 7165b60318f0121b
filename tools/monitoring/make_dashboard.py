# SPDX-License-Identifier: GPL-2.0-only
"""Makes packaging/monitoring/rowsocket-dashboard.json, the dashboard for Grafana, from the panels below.

With --check nothing is written, and a file that is stale is told. (`./x fmt` and `./x check` run this.)

`STATUS` and `TABLES` choose the server by the dashboard's variables: metrics of mysqld_exporter, and of
`rowsocket metrics`. They are two programs, so the same server may have two values of `instance`.
"""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "packaging/monitoring/rowsocket-dashboard.json"

STATUS = '{job=~"$job", instance=~"$instance"}'
TABLES = '{instance=~"$tables_instance"}'
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
PANEL_HEIGHT, PANELS_IN_A_LINE, GRID_WIDTH = 8, 3, 24

KINDS = ("find", "insert", "update", "delete", "increment", "open_index", "group", "authenticate", "unknown")
ERRORS = ("request", "authentication", "table", "engine", "internal")

Target = tuple[str, str]
"""An expression, and what its line is called."""


@dataclass(frozen=True)
class Panel:
    """A diagram, or a number (`kind` stat)."""

    title: str
    unit: str
    targets: list[Target]
    kind: str = "timeseries"
    note: str = ""
    look: dict[str, Any] = field(default_factory=dict)
    """What Grafana calls the field's defaults, beside the unit."""


def now(name: str) -> str:
    """A status value."""
    return f"mysql_global_status_rowsocket_{name}{STATUS}"


def rate(name: str) -> str:
    """The growth of a status value per second, of all servers that are chosen."""
    return f"sum(rate({now(name)}[$__rate_interval]))"


def of_tables(name: str, labels: str) -> str:
    """The growth of a figure of tables per second."""
    return f"sum by ({labels}) (rate(rowsocket_table_{name}{TABLES}[$__rate_interval]))"


def quantile(share: float) -> str:
    """The time that this share of a table's requests took at most."""
    return f"histogram_quantile({share}, {of_tables('seconds_bucket', 'le, schema, table')})"


CHANGES = " + ".join(rate(f"requests_{kind}") for kind in ("insert", "update", "delete", "increment"))
OF_TABLE = "{{schema}}.{{table}}"

YES_OR_NO: dict[str, Any] = {
    "mappings": [
        {
            "type": "value",
            "options": {"0": {"text": "no", "color": "red"}, "1": {"text": "yes", "color": "green"}},
        }
    ],
    "noValue": "no",
}
RED_FROM_1: dict[str, Any] = {
    "thresholds": {
        "mode": "absolute",
        "steps": [{"color": "green", "value": None}, {"color": "red", "value": 1}],
    }
}

ROWS: dict[str, list[Panel]] = {
    "Is it well": [
        Panel("Server is up", "none", [(f"min(mysql_up{STATUS})", "SQL")], "stat", look=YES_OR_NO),
        Panel("RowSocket tells", "none", [(f"min(rowsocket_up{TABLES})", "tables")], "stat", look=YES_OR_NO),
        Panel(
            "Must be 0",
            "none",
            [
                (f"sum({now('broken_invariants')})", "broken invariants"),
                (f"sum({now('commit_failures')})", "failed commits"),
                (f"sum({now('connections_refused')})", "refused connections"),
                (f"sum({now('stand_ins_missed')})", "stand-ins missed"),
            ],
            "stat",
            "Since the plugin was loaded.",
            RED_FROM_1,
        ),
    ],
    "Requests": [
        Panel("Requests by kind", "reqps", [(rate(f"requests_{kind}"), kind) for kind in KINDS]),
        Panel(
            "Errors by class",
            "reqps",
            [
                *((rate(f"errors_{one}"), one) for one in ERRORS),
                (rate("logins_refused"), "logins refused"),
                (rate("logins_untried"), "logins untried"),
            ],
        ),
        Panel(
            "Rows read per request",
            "none",
            [(f"{rate('rows_read')} / ({rate('requests_find')} + {CHANGES})", "rows")],
        ),
    ],
    "Tables": [
        Panel(
            "Requests by table",
            "reqps",
            [(f"topk(10, {of_tables('requests_total', 'schema, table')})", OF_TABLE)],
        ),
        Panel(
            "Time by table",
            "s",
            [
                (f"topk(10, {quantile(0.5)})", f"p50 {OF_TABLE}"),
                (f"topk(10, {quantile(0.99)})", f"p99 {OF_TABLE}"),
            ],
            note="Needs rowsocket_request_times = ON.",
        ),
        Panel(
            "Rows looked at by index",
            "suffix:rows/s",
            [
                (
                    f"topk(10, {of_tables('rows_examined_total', 'schema, table, index')})",
                    OF_TABLE + " {{index}}",
                )
            ],
        ),
        Panel(
            "Errors by table and code",
            "reqps",
            [(f"topk(10, {of_tables('errors_total', 'schema, table, code')})", OF_TABLE + " {{code}}")],
        ),
        Panel(
            "Rows sent by table",
            "suffix:rows/s",
            [(f"topk(10, {of_tables('rows_sent_total', 'schema, table')})", OF_TABLE)],
        ),
        Panel(
            "Rows changed by table",
            "suffix:rows/s",
            [(f"topk(10, {of_tables('rows_changed_total', 'schema, table')})", OF_TABLE)],
        ),
    ],
    "Connections": [
        Panel(
            "Connections",
            "none",
            [
                (f"sum({now('connections_read')})", "read"),
                (f"sum({now('connections_write')})", "write"),
                (f"sum({now('connections_tls')})", "inside TLS"),
            ],
        ),
        Panel(
            "Clients by state",
            "none",
            [(f"sum by (state) (rowsocket_clients{TABLES})", "{{state}}")],
            note="waiting: for a lock, the check of a password, or others of the account.",
        ),
        Panel(
            "Come, gone and turned away",
            "cps",
            [
                (rate("connections_accepted"), "accepted"),
                (rate("connections_closed"), "closed"),
                (rate("connections_refused"), "refused"),
                (rate("tls_handshakes_failed"), "TLS handshakes failed"),
            ],
        ),
    ],
    "Commits and waits": [
        Panel(
            "Commits",
            "ops",
            [(rate("commits"), "commits"), (rate("commit_failures"), "failed"), (rate("replays"), "replays")],
        ),
        Panel("Changes per commit", "none", [(f"({CHANGES}) / {rate('commits')}", "changes")]),
        Panel(
            "Waits",
            "ops",
            [
                (rate("parked"), "parked"),
                (rate("waited_alone"), "waited alone"),
                (rate("requests_stopped"), "stopped: the client had gone"),
                (rate("requests_held_back"), "held back: their account has enough"),
            ],
        ),
    ],
    "Resources": [
        Panel(
            "Memory",
            "bytes",
            [
                (f"sum(mysql_global_status_memory_used{STATUS})", "the server counts"),
                (f"sum(rowsocket_clients_held_bytes{TABLES})", "RowSocket's clients hold"),
            ],
        ),
        Panel(
            "Threads",
            "none",
            [
                (f"sum({now('threads')})", "threads"),
                (f"sum({now('stand_ins_idle')})", "not needed"),
                (rate("hand_overs"), "hand-overs per second"),
                (rate("stand_ins_missed"), "missed per second"),
            ],
        ),
        Panel("Bytes", "Bps", [(rate("bytes_received"), "received"), (rate("bytes_sent"), "sent")]),
    ],
}


def panels() -> list[dict[str, Any]]:
    """The panels in their grid, under the headings of their rows."""
    made: list[dict[str, Any]] = []
    top = 0
    width = GRID_WIDTH // PANELS_IN_A_LINE
    for heading, row in ROWS.items():
        place = {"h": 1, "w": GRID_WIDTH, "x": 0, "y": top}
        made.append({"type": "row", "title": heading, "collapsed": False, "panels": [], "gridPos": place})
        top += 1
        for number, panel in enumerate(row):
            line, column = divmod(number, PANELS_IN_A_LINE)
            place = {"h": PANEL_HEIGHT, "w": width, "x": width * column, "y": top + PANEL_HEIGHT * line}
            made.append({**shown(panel), "gridPos": place})
        top += PANEL_HEIGHT * -(-len(row) // PANELS_IN_A_LINE)
    return [{"id": number, **panel} for number, panel in enumerate(made, start=1)]


def shown(panel: Panel) -> dict[str, Any]:
    """A panel as Grafana reads it, without its place."""
    targets = [
        {
            "refId": chr(ord("A") + number),
            "datasource": DATASOURCE,
            "expr": expression,
            "legendFormat": legend,
        }
        for number, (expression, legend) in enumerate(panel.targets)
    ]
    own = {} if panel.kind == "stat" else {"color": {"mode": "palette-classic"}}  # a line, a colour
    return {
        "type": panel.kind,
        "title": panel.title,
        "description": panel.note,
        "datasource": DATASOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0, **own, **panel.look}, "overrides": []},
        "targets": targets,
    }


def variable(name: str, label: str, query: str) -> dict[str, Any]:
    """A choice among the values of a label."""
    return {
        "type": "query",
        "name": name,
        "label": label,
        "datasource": DATASOURCE,
        "definition": query,
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".+",
        "current": {"text": ["All"], "value": ["$__all"]},
    }


def dashboard() -> dict[str, Any]:
    """All of it."""
    chosen = 'label_values(mysql_up{job=~"$job"}, instance)'
    return {
        "uid": "rowsocket",
        "title": "RowSocket",
        "tags": ["mariadb", "rowsocket"],
        "schemaVersion": 39,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {
            "list": [
                {"type": "datasource", "name": "datasource", "label": "Prometheus", "query": "prometheus"},
                variable("job", "Job of mysqld_exporter", "label_values(mysql_up, job)"),
                variable("instance", "Server", chosen),
                variable("tables_instance", "Server's tables", "label_values(rowsocket_up, instance)"),
            ]
        },
        "panels": panels(),
    }


def main() -> int:
    """The exit code."""
    text = json.dumps(dashboard(), indent=1) + "\n"
    if "--check" not in sys.argv[1:]:
        FILE.write_text(text)
    elif not FILE.is_file() or FILE.read_text() != text:
        print(f"{FILE.relative_to(ROOT)}: stale; ./x fmt makes it anew")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
