# SPDX-License-Identifier: GPL-2.0-only
"""report.html: one page that needs nothing else, for a phone, a desk and paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from bench.harness.charts import Bar, bars, lines
from bench.harness.figures import Results, Spread, number, ratios, spread, spread_text
from bench.harness.goals import judge
from bench.harness.results import Folder
from bench.harness.scenario import Scenario
from bench.harness.summary import OURS, main_figure, main_tables

NAMES = {
    "server_cpu_us_per_key": "server CPU, µs per key",
    "server_cpu_us_per_request": "server CPU, µs per request",
    "requests_per_s": "requests per second",
    "idle_cpu_us_per_s": "CPU, µs per second",
}
COLUMNS = {
    "requests_per_s": "requests/s",
    "keys_per_s": "keys/s",
    "p50_us": "p50 µs",
    "p99_us": "p99 µs",
    "p999_us": "p99.9 µs",
    "max_us": "max µs",
    "server_cpu_us_per_request": "CPU µs/ request",
    "server_cpu_user_us_per_request": "user µs",
    "server_cpu_system_us_per_request": "system µs",
    "bytes_sent_per_request": "bytes sent",
    "bytes_received_per_request": "bytes received",
    "fsyncs_per_row": "fsyncs/ row",
    "fsyncs_per_commit": "fsyncs/ commit",
    "server_switches_voluntary_per_request": "sleeps/ request",
    "server_switches_involuntary_per_request": "pre-emptions/ request",
    "server_peak_mib": "peak MiB",
    "idle_cpu_us_per_s": "idle µs/s",
    "idle_plugin_cpu_us_per_s": "plugin's idle µs/s",
}
PERCENTILES = {
    2.0: ("p50_us", "p50"),
    10.0: ("p90_us", "p90"),
    100.0: ("p99_us", "p99"),
    1000.0: ("p999_us", "p99.9"),
}
"""Each at the number of requests of which one is slower, so that the tail has room."""
STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--soft:#6a737d;--rule:#d8dee4;
--a:#2f6fde;--b:#9bbcf5;--good:#1a7f37;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--paper:#14171b;--soft:#9aa4af;--rule:#333a42;
--a:#6ea0ff;--b:#35528c;--good:#57c278;--bad:#ff7b72}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
body{margin:0 auto;padding:1rem;max-width:56rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin:2.2rem 0 .3rem}p{margin:.3rem 0}.soft{color:var(--soft)}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
td,th{padding:.25rem .5rem;border-bottom:1px solid var(--rule);text-align:right;vertical-align:top}
td:first-child,th:first-child,td.text{text-align:left}small{display:block;color:var(--soft);white-space:nowrap}
.goals td:first-child{width:60%}.goals td:last-child{white-space:nowrap}
.facts td.text{overflow-wrap:anywhere}.legend{white-space:nowrap}
summary{cursor:pointer;padding:.3rem 0}
svg{width:100%;height:auto;max-width:36rem;display:block;font-size:12px}svg text{fill:var(--ink)}
.key{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 .8em;background:var(--a)}
.key.light{background:var(--b)}
.part0{fill:var(--a)}.part1{fill:var(--b)}.whisker{stroke:var(--ink);stroke-width:1.5}
.mark{stroke:var(--bad);stroke-dasharray:4 3}
.grid{stroke:var(--rule)}.line{fill:none;stroke-width:2}
.line0,.line1,.line2,.line3,.line4,.line5,.line6,.line7{stroke:var(--c)}
.line0,.name0{--c:#2f6fde}.line1,.name1{--c:#d9730d}.line2,.name2{--c:#1a7f37}.line3,.name3{--c:#8250df}
.line4,.name4{--c:#b3261e}.line5,.name5{--c:#0f766e}.line6,.name6{--c:#a16207}.line7,.name7{--c:#6a737d}
svg text[class^=name]{fill:var(--c)}.met{color:var(--good)}.missed{color:var(--bad)}
@media print{:root{color-scheme:light;--ink:#000;--paper:#fff;--soft:#444;--rule:#bbb;--a:#2f6fde;--b:#9bbcf5}
@page{margin:12mm}body{max-width:none;padding:0;font-size:10pt}h2,p{break-after:avoid}svg,tr{break-inside:avoid}svg{max-width:13cm}
summary{display:none}details::details-content{content-visibility:visible;display:block;height:auto}
.wide{overflow:visible}table{font-size:6.5pt}.goals,.facts{font-size:9pt}td,th{padding:.15rem .25rem}
*{print-color-adjust:exact}}
"""


def html(folder: Folder) -> str:
    """The whole page."""
    parts = [
        "<!doctype html><html lang=en><head><meta charset=utf-8>",
        '<meta name=viewport content="width=device-width,initial-scale=1">',
        f"<title>RowSocket, measured</title><style>{STYLE}</style></head><body>",
        "<h1>RowSocket, measured beside its peers</h1>",
        f"<p class=soft>{_about(folder)}</p>",
        *_main(folder.results),
        *_goals(folder),
    ]
    for scenario in folder.scenarios:
        parts += _section(folder.results, scenario)
    parts += _facts(folder)
    return "".join([*parts, "</body></html>\n"])


def _about(folder: Folder) -> str:
    run = " · ".join(escape(str(folder.facts.get(name, ""))) for name in ("time", "commit"))
    rounds = f"{folder.facts.get('rounds')} rounds of {folder.facts.get('seconds')} s"
    how = "Peers run in turn. Figures are medians, with the least and the most."
    how += " Ratios are taken within each round."
    return f"{run} · {rounds}. {how}"


def _main(results: Results) -> Iterator[str]:
    """RowSocket beside its peers, before anything of ours."""
    for title, note, (header, *rows) in main_tables(results):
        yield f"<h2>{escape(title)}</h2><p class=soft>{escape(note)}</p><div class=wide><table class=main>"
        for row, tag in [(header, "th"), *((row, "td") for row in rows)]:
            yield "<tr>" + "".join(f"<{tag}>{_words(cell)}</{tag}>" for cell in row) + "</tr>"
        yield "</table></div>"


def _words(cell: str) -> str:
    """A cell of Markdown, which may be bold, as HTML."""
    return re.sub(r"\*\*(.*)\*\*", r"<b>\1</b>", escape(cell))


def _goals(folder: Folder) -> Iterator[str]:
    verdicts = judge(folder.results, folder.scenarios)
    if not verdicts:
        return
    met = sum(verdict.met is True for verdict in verdicts)
    yield f"<h2>Goals: {met} of {len(verdicts)} met</h2><div class=wide><table class=goals>"
    yield "<tr><th>goal</th><th>bound</th><th>measured</th><th></th></tr>"
    for verdict in verdicts:
        kind = {True: "met", False: "missed", None: "soft"}[verdict.met]
        yield (
            f"<tr><td>{escape(verdict.goal.text)}<small>{escape(verdict.scenario)}</small></td>"
            f"<td>{escape(verdict.bound)}</td><td>{_cell(verdict.ratio)}</td>"
            f"<td class={kind}>{verdict.word.lower()}</td></tr>"
        )
    yield "</table></div>"


def _cell(value: Spread | None) -> str:
    """A median with its least and most below, which takes half the width of one line."""
    if value is None:
        return "-"
    return f"{number(value.median)}<small>{number(value.least)} - {number(value.most)}</small>"


def _section(results: Results, scenario: Scenario) -> Iterator[str]:
    name = scenario.name
    cases = results.cases(name)
    if not cases:
        return
    figure = main_figure(results, name)
    yield f"<section><h2>{escape(name)}</h2><p>{escape(scenario.about)}</p>"
    curves = list(_lines(results, scenario))
    for case in cases[:1] if curves else cases:
        yield from _bars(results, name, case, figure)
        if scenario.group == "writes" and figure != "requests_per_s":
            yield from _bars(results, name, case, "requests_per_s")
    yield from _ratios(results, name, cases[0], figure)
    yield from _latency(results, name, cases[0])
    yield from curves
    yield "</section>"
    yield from _table(results, name)


def _bars(results: Results, scenario: str, case: str, figure: str) -> Iterator[str]:
    rows = [
        _bar(results, scenario, case, peer, figure)
        for peer in results.peers(scenario)
        if results.spread(figure, scenario, case, peer)
    ]
    if rows:
        split = any(len(row.parts) > 1 for row in rows)
        legend = (
            "<span class=legend><span class=key></span>user<span class='key light'></span>kernel</span>"
            if split
            else ""
        )
        yield f"<p class=soft>{_caption(NAMES.get(figure, figure), case)}{legend}</p>{bars(rows)}"


def _caption(what: str, case: str) -> str:
    return f"{what}; {escape(case)}" if case else what


def _bar(results: Results, scenario: str, case: str, peer: str, figure: str) -> Bar:
    whole = results.spread(figure, scenario, case, peer)
    assert whole is not None
    parts: tuple[float, ...] = (whole.median,)
    if figure.startswith("server_cpu"):  # the user's part and the kernel's
        user = results.spread("server_cpu_user_us_per_request", scenario, case, peer)
        system = results.spread("server_cpu_system_us_per_request", scenario, case, peer)
        if user and system and user.median + system.median > 0:
            share = user.median / (user.median + system.median)
            parts = (whole.median * share, whole.median * (1 - share))
    return Bar(peer, parts, whole, number(whole.median))


def _ratios(results: Results, scenario: str, case: str, figure: str) -> Iterator[str]:
    ours = results.values(figure, scenario, case, OURS)
    rows = []
    for peer in results.peers(scenario):
        ratio = spread(ratios(results.values(figure, scenario, case, peer), ours))
        if peer != OURS and ratio:
            rows.append(Bar(peer, (ratio.median,), ratio, spread_text(ratio)))
    if rows:
        yield (
            f"<p class=soft>{_caption('divided by the figure of RowSocket, round by round', case)}</p>"
            + bars(rows, mark=1.0)
        )


def _latency(results: Results, scenario: str, case: str) -> Iterator[str]:
    series: dict[str, list[tuple[float, Spread]]] = {}
    for peer in results.peers(scenario):
        for place, (figure, _) in PERCENTILES.items():
            value = results.spread(figure, scenario, case, peer)
            if value:
                series.setdefault(peer, []).append((place, value))
    picture = lines(series, {place: title for place, (_, title) in PERCENTILES.items()})
    if picture:
        yield f"<p class=soft>{_caption('latency by percentile, µs', case)}</p>{picture}"


def _lines(results: Results, scenario: Scenario) -> Iterator[str]:
    """Throughput and CPU time over what varies, where it is a number."""
    for figure in ("requests_per_s", "server_cpu_us_per_request"):
        series: dict[str, list[tuple[float, Spread]]] = {}
        for case in results.cases(scenario.name):
            value = re.fullmatch(r"[\w.]+=(\d+(?:\.\d+)?)", case)
            for peer in results.peers(scenario.name):
                measured = results.spread(figure, scenario.name, case, peer)
                if value and measured:
                    series.setdefault(peer, []).append((float(value[1]), measured))
        picture = lines(series)
        if picture:
            what = escape(scenario.varies.removeprefix("settings."))
            yield f"<p class=soft>{NAMES[figure]} over {what}</p>{picture}"


def _table(results: Results, scenario: str) -> Iterator[str]:
    used = {
        key: title
        for key, title in COLUMNS.items()
        if any(results.spread(key, *one) for one in _keys(results, scenario))
    }
    yield "<details><summary>all figures</summary><div class=wide><table><tr><th>peer</th><th>case</th>"
    yield "".join(f"<th>{title}</th>" for title in used.values()) + "</tr>"
    for key in _keys(results, scenario):
        cells = "".join(f"<td>{_cell(results.spread(figure, *key))}</td>" for figure in used)
        yield f"<tr><td>{escape(key[2])}</td><td>{escape(key[1])}</td>{cells}</tr>"
    yield "</table></div></details>"


def _keys(results: Results, scenario: str) -> list[tuple[str, str, str]]:
    return [key for key in results.reports if key[0] == scenario]


def _facts(folder: Folder) -> Iterator[str]:
    if folder.left_out:
        yield (
            "<h2>Not measured</h2><ul>"
            + "".join(f"<li>{escape(line)}</li>" for line in folder.left_out)
            + "</ul>"
        )
    yield "<h2>Machine and build</h2><div class=wide><table class=facts>"
    for name, value in folder.facts.items():
        yield f"<tr><td>{escape(name.replace('_', ' '))}</td><td class=text>{escape(str(value))}</td></tr>"
    yield "</table></div>"
