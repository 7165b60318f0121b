# SPDX-License-Identifier: GPL-2.0-only
"""The harness's own arithmetic and files; no server is started."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bench.harness import (
    budget,
    changes,
    charts,
    facts,
    markdown,
    measuring,
    peers_chart,
    report,
    results,
    scenario,
    summary,
)
from bench.harness.figures import Report, Results, Spread, ratios, spread
from bench.harness.goals import judge
from bench.harness.progress import CLEAR_LINE, Progress
from bench.harness.results import Folder, Writer
from bench.harness.scenario import Scenario, ScenarioMistake

TEXT = """
about = "the row of one key"
order = 1
workload = "point"
peers = ["rowsocket", "original", "echo", "handler-floor"]
[vary]
connections = [100, 8]
[[goals]]
text = "ahead"
figure = "server_cpu_us_per_request"
ratio = "original / rowsocket"
at_least = 1.25
[[goals]]
text = "near the floor"
figure = "server_cpu_us_per_request"
ratio = "rowsocket / echo + handler-floor"
at_most = 1.1
"""


AMD = (
    "processor : 0\nvendor_id : AuthenticAMD\ncpu family : 25\nmodel : 1\nmodel name : AMD EPYC\nstepping : 1"
)
INTEL = AMD.replace("AuthenticAMD", "GenuineIntel").replace("AMD EPYC", "Intel(R) Xeon(R) Processor")


def measured(cpu_us: float) -> Report:
    return {
        "server_cpu_us_per_request": cpu_us,
        "server_cpu_us_per_key": cpu_us,
        "requests_per_s": 1e6 / cpu_us,
        "p99_us": 9.0,
    }


def folder(rowsocket: float = 5.0, original: float = 6.5) -> Folder:
    """Three rounds on a machine that becomes slower and slower."""
    chosen = scenario.parse("point", TEXT)
    made = Folder(facts={"commit": "abc", "rounds": 3, "seconds": 1}, scenarios=[chosen])
    for slower in (1.0, 1.5, 2.0):
        for case in chosen.cases:
            for peer, cpu_us in (
                ("rowsocket", rowsocket),
                ("original", original),
                ("echo", 4.0),
                ("handler-floor", 1.0),
            ):
                made.results.add("point", case.label, peer, measured(cpu_us * slower))
    return made


def test_ratios_are_taken_within_rounds() -> None:
    assert ratios([10.0, 30.0], [5.0, 10.0]) == [2.0, 3.0]
    assert ratios([10.0], [0.0]) == []
    assert spread([]) is None


def test_goals_are_judged_by_the_ratio_and_not_by_the_machine() -> None:
    made = folder()
    ahead, near = judge(made.results, made.scenarios)
    assert (ahead.met, near.met) == (True, True)
    assert ahead.ratio is not None and ahead.ratio.median == pytest.approx(1.3)
    assert [
        verdict.met for verdict in judge(folder(original=6.0, rowsocket=6.0).results, made.scenarios)
    ] == [False, False]


def test_a_goal_without_its_peer_is_not_measured() -> None:
    made = folder()
    alone = Results({key: value for key, value in made.results.reports.items() if key[2] == "rowsocket"})
    assert [verdict.met for verdict in judge(alone, made.scenarios)] == [None, None]


def test_every_scenario_of_the_folder_makes_sense() -> None:
    found = scenario.load()
    assert len(found) > 20
    assert {"point", "point_pipelined", "in_50", "insert", "latest", "connections", "latency"} <= {
        one.name for one in found
    }


def test_each_write_is_measured_at_each_durability() -> None:
    """Four settings with a binlog; without one, two are left, because nothing is there to be synced."""
    found = {one.name: one for one in scenario.load()}
    for name in ("insert_durability", "update_durability", "increment_durability", "mixed_durability"):
        settings = {
            (case.binlog, case.flush, case.sync_binlog if case.binlog else None) for case in found[name].cases
        }
        assert settings == {
            (True, 1, 1),
            (True, 1, 0),
            (True, 2, 1),
            (True, 2, 0),
            (False, 1, None),
            (False, 2, None),
        }
        assert len({case.label for case in found[name].cases}) == len(found[name].cases)
    assert {case.settings for case in found["mixed_durability"].cases} == {
        (("reads", 90), ("writes", 10)),
        (("reads", 10), ("writes", 10)),
    }


@pytest.mark.parametrize("line", ["nonsense = 1", "mode = 'sideways'", "rows = [", "settings = { take = 3 }"])
def test_a_mistake_in_a_scenario_is_told_with_its_file(line: str) -> None:
    with pytest.raises(ScenarioMistake, match="point"):
        scenario.parse("point", line + TEXT)


def test_the_budget_leaves_out_the_least_important_first() -> None:
    scenarios = [scenario.parse(name, TEXT) for name in ("first", "second", "third")]
    plan = budget.plan(scenarios, quick=False, budget_minutes=4)
    assert [one.name for one in plan.scenarios] == ["first"]
    assert plan.rounds == budget.ROUNDS
    assert len(budget.plan(scenarios, quick=False, budget_minutes=None).scenarios) == 3


def test_fsyncs_are_told_by_row_and_by_commit() -> None:
    case = scenario.parse("writes", TEXT + "\n").cases[0]
    before = {"Innodb_data_fsyncs": 5, "Binlog_group_commits": 1, measuring.COMMITS_METRIC: 7}
    after = {"Innodb_data_fsyncs": 9, "Binlog_group_commits": 5, measuring.COMMITS_METRIC: 15}
    durable = measuring.flush_figures(replace(case, binlog=True), 80, before, after)
    assert (durable["fsyncs_per_row"], durable["fsyncs_per_commit"], durable["rows_per_commit"]) == (
        0.1,
        1.0,
        10.0,
    )
    assert measuring.flush_figures(case, 80, before, after)["binlog_fsyncs_per_row"] == 0
    assert measuring.flush_figures(case, 0, before, after) == {}


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    made = folder()
    writer = Writer(tmp_path / results.FILE, made.facts)
    writer.scenario(made.scenarios[0])
    for (_, label, peer), reports in made.results.reports.items():
        case = next(case for case in made.scenarios[0].cases if case.label == label)
        for number, one in enumerate(reports, 1):
            writer.measured(case, peer, number, one)
    writer.left_out("redis: not there")
    again = results.read(tmp_path)
    assert again.scenarios == made.scenarios
    assert summary.text(again).startswith(summary.text(made)[:200])
    assert again.left_out == ["redis: not there"]


def test_two_runs_of_the_same_differ_by_noise_and_a_slower_one_does_not() -> None:
    same, slower = changes.changes(folder(), folder()), changes.changes(folder(), folder(rowsocket=7.5))
    assert all(change.is_noise for change in same)
    assert [round(change.percent) for change in slower if change.key[2] == "rowsocket"] == [50, 50]


def test_a_comparison_says_what_changed_and_what_is_noise() -> None:
    same = changes.text(folder(), folder())
    assert "NOTHING CHANGED" in same
    slower = changes.text(folder(), folder(rowsocket=7.5))
    changed, noise = slower.split("noise: ")
    assert "CHANGED: 2 of 6" in changed
    assert changed.count("WORSE") == 2
    assert "handler-floor" in noise
    assert "rowsocket" not in noise


def test_a_comparison_names_what_else_differs() -> None:
    other = folder()
    other.facts["tcp_congestion_control"] = "bbr"
    other.results.reports.pop(("point", "connections=8", "echo"))
    told = changes.text(folder(), other)
    assert "differs: tcp_congestion_control: None -> bbr" in told
    assert "only measured before: 1: point connections=8 echo" in told
    assert "with 3 and 3 rounds, about 1 in 10 figures" in told


def test_different_processors_are_not_compared() -> None:
    """Not their makes, and not two models of one make."""
    here, there = folder(), folder()
    here.facts["cpu"] = facts.processor(AMD)
    there.facts["cpu"] = facts.processor(INTEL)
    assert "NOTHING CHANGED" in changes.text(here, here)
    with pytest.raises(changes.OtherProcessor, match=r"AMD EPYC.*\n.*Intel") as failure:
        changes.text(here, there)
    assert "--against" in str(failure.value)
    there.facts["cpu"] = facts.processor(AMD.replace("25", "26"))
    with pytest.raises(changes.OtherProcessor, match="family 26"):
        changes.text(here, there)


def test_a_processor_has_make_and_model() -> None:
    """Of the first core; the others are alike."""
    assert (
        facts.processor(AMD + "\n\n" + INTEL) == "AMD EPYC (AuthenticAMD, cpu family 25, model 1, stepping 1)"
    )
    assert facts.processor("") != ""


class Terminal(io.StringIO):
    """A terminal that keeps what was written."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_how_far_a_run_is_and_how_long_it_will_take() -> None:
    terminal, clock = Terminal(), iter([0.0, 30.0])
    progress = Progress(terminal, 5, lambda: next(clock))
    progress.skipped(1)
    progress.measured("point, rowsocket")
    assert terminal.getvalue().endswith(
        "point, rowsocket\n[######------------------] 25 %, 1 of 4, about 1:30 left"
    )
    progress.end()
    assert terminal.getvalue().endswith(CLEAR_LINE)


def test_a_file_gets_the_percentage_and_no_bar() -> None:
    out = io.StringIO()
    Progress(out, 4).measured("point, rowsocket")
    assert out.getvalue() == "[ 25 %] point, rowsocket\n"


def test_the_page_needs_nothing_else_and_its_pictures_are_well_formed() -> None:
    page = report.html(folder())
    assert "<script" not in page and "src=" not in page and "href=" not in page
    pictures = [piece.split("</svg>")[0] + "</svg>" for piece in page.split("<svg")[1:]]
    assert len(pictures) >= 4
    for picture in pictures:
        ElementTree.fromstring("<svg" + picture)
    assert "2 of 2 met" in page


def test_the_picture_of_the_readme_shows_the_figures_of_its_page() -> None:
    figures = peers_chart.FIGURES.read_text()
    picture = peers_chart.svg(figures)
    ElementTree.fromstring(picture)
    for case in peers_chart.CASES:
        row = next(line for line in figures.splitlines() if line.startswith(f"| {case} |"))
        assert f">{float(row.split('**')[1]):.3g} µs<" in picture
        changed = figures.replace(row, row.replace(row.split("**")[1], "7.77", 1))
        assert ">7.77 µs<" in peers_chart.svg(changed)


def test_the_page_shows_every_figure_that_was_measured() -> None:
    made = folder()
    for figure in report.COLUMNS:
        made.results.add("point", "connections=8", "redis", {figure: 1234.5})
    page = report.html(made)
    assert [title for title in report.COLUMNS.values() if f"<th>{title}</th>" not in page] == []


def test_the_main_figures_come_first_and_once() -> None:
    """The README and the other documents point at them."""
    page = markdown.text(folder(rowsocket=5.0, original=6.5))
    assert "| main case | RowSocket | original |" in page
    assert "| row by primary key, 1 request in flight | **7.50** | 9.75 (1.30 x) |" in page
    assert "| row by primary key, 1 request in flight | **133,333** | 102,564 (0.77 x) |" in page
    assert page.index("main case") < page.index("2 of 2 are met.") < page.index("## point")
    assert page.count("main case") == 2


def test_the_page_begins_with_the_main_figures() -> None:
    page = report.html(folder())
    assert (
        "<td>row by primary key, 1 request in flight</td><td><b>7.50</b></td><td>9.75 (1.30 x)</td>" in page
    )
    assert page.index("<b>7.50</b>") < page.index("2 of 2 met")


def test_the_pages_say_on_which_processor_the_run_was() -> None:
    made = folder()
    made.facts["cpu"] = facts.processor(INTEL)
    assert f"- cpu: {facts.processor(INTEL)}" in markdown.text(made)
    assert facts.processor(INTEL) in report.html(made)


def test_the_markdown_has_the_goals_and_the_figures_and_no_empty_columns() -> None:
    page = markdown.text(folder())
    assert "| point | ahead | >= 1.25 | 1.30 (1.30 - 1.30) | met |" in page
    assert "| case | peer | CPU us/request | requests/s | p99 us | CPU per key / RowSocket's |" in page
    assert "| connections=100 | original | 9.75 (6.50 - 13.0) |" in page


def test_names_at_the_ends_of_lines_do_not_lie_on_each_other() -> None:
    same = [(1.0, Spread(5.0, 5.0, 5.0)), (10.0, Spread(5.0, 5.0, 6.0))]
    picture = ElementTree.fromstring(charts.lines({"rowsocket": same, "original": same}))
    heights = [float(text.get("y", "0")) for text in picture.iter("text") if text.get("class")]
    assert abs(heights[0] - heights[1]) >= charts.NAME_HEIGHT


def test_one_case_alone_has_no_line_chart() -> None:
    chosen: Scenario = scenario.parse("point", TEXT.replace("[vary]\nconnections = [100, 8]\n", ""))
    made = Folder(facts={}, scenarios=[chosen])
    made.results.add("point", "", "rowsocket", measured(5.0))
    assert "polyline" not in report.html(made)
