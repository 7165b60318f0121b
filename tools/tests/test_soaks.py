# SPDX-License-Identifier: GPL-2.0-only
import re
from pathlib import Path

import pytest

from rowsocket_x import soaks
from rowsocket_x.console import Problem
from rowsocket_x.paths import ROOT


def test_what_the_tests_of_a_soak_saw_is_added_up_and_notes_are_kept(tmp_path: Path) -> None:
    report = tmp_path / "r.xml"
    case = '<testcase><properties><property name="trials" value="{}"/>{}</properties></testcase>'
    wait = '<property name="longest wait" value="9 ms"/>'
    report.write_text(f"<testsuite>{case.format('1,200', '')}{case.format('34', wait)}</testsuite>")
    assert soaks.properties(report) == {"trials": "1,234", "longest wait": "9 ms"}


def test_a_clean_soak_says_what_its_trials_prove() -> None:
    said = soaks.verdict({"trials": "300", "lost": "0", "longest wait": "9 ms"}, failed=0)
    counted = "300 trials, 0 lost, longest wait 9 ms; nothing found"
    assert said == f"{counted} (fewer than 1 % of trials fail, by 3/N)"


def test_a_failed_soak_is_said_to_have_failed() -> None:
    assert soaks.verdict({"trials": "300"}, failed=1) == "1 FAILED after 300 trials"


def test_the_entry_of_a_run_is_an_item_of_a_list_whose_code_is_not_broken() -> None:
    options = "--minutes 10.2 --seed 1394464867"
    lines = soaks.entry("2026-11-21 on 53b9abb, 10.3 minutes", options, "many writes, " * 20).splitlines()
    assert lines[0].startswith(f"- 2026-11-21 on 53b9abb, 10.3 minutes (`{options}`): many writes,")
    assert len(lines) > 1
    assert all(line.startswith("  ") and len(line) <= 110 for line in lines[1:])


def test_an_unknown_soak_is_refused() -> None:
    with pytest.raises(Problem, match="no soak nonsense"):
        soaks.find("nonsense")


@pytest.mark.parametrize("soak", soaks.SOAKS, ids=lambda soak: soak.name)
def test_every_soak_selects_tests_that_take_the_budget(soak: soaks.Soak) -> None:
    for selected in soak.tests:
        path, _, name = selected.partition("::")
        tests = re.findall(r"^def (test_\w+)\(([^)]*)", (ROOT / path).read_text(), re.MULTILINE)
        chosen = [arguments for test, arguments in tests if not name or test == name]
        assert any("soak: Soak" in arguments for arguments in chosen), selected
