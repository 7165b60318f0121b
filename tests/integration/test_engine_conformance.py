# SPDX-License-Identifier: GPL-2.0-only
"""The conformance suite of src/engine/engine.h on the real engine, inside a server of its own.

The suite is in src/engine/conformance. On the memory engine it is a unit test; here a plugin runs it (see
src/mariadb/conformance). It runs once for all of this file, and each of its tests is reported as a test of
this file: on every kind of table that it is instantiated for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.conformance import Outcomes, run_suite
from support.mariadb import Options
from support.plugin import EmptyServer
from support.tree import ServerTree

SUITE = Path(__file__).resolve().parents[2] / "src/engine/conformance"
QUICK: Options = {"innodb-flush-method": "nosync", "innodb-flush-log-at-trx-commit": 0, "sync-frm": "OFF"}
"""Every test makes its tables anew, and nothing here is about crashes."""
KINDS = {"every_kind": 3, "kinds_with_transactions": 1, "kinds_without_transactions": 2, "lenient_kinds": 3}
"""How many kinds of tables of a server each of the suite's lists has."""

_TEST = re.compile(r"^TEST_P\((\w+),\s+(\w+)\)", re.MULTILINE)
_INSTANCE = re.compile(
    r"^INSTANTIATE_TEST_SUITE_P\(\s*, (\w+),\s+testing::ValuesIn\((\w+)\(\)\)", re.MULTILINE
)


def _suite() -> dict[str, int]:
    """The suite's tests by name, each with the number of kinds that it runs on, as its sources say."""
    tests: dict[str, int] = {}
    for source in sorted(SUITE.glob("*.cc")):
        text = source.read_text()
        kinds = {suite: KINDS[kind_list] for suite, kind_list in _INSTANCE.findall(text)}
        tests |= {f"{suite}.{name}": kinds[suite] for suite, name in _TEST.findall(text)}
    return tests


TESTS = _suite()


@pytest.fixture(scope="module")
def outcomes(tree: ServerTree, template: Path) -> Iterator[tuple[Outcomes, str]]:
    """One run of the whole suite."""
    server = EmptyServer(tree, template, QUICK)
    try:
        server.start()
        yield run_suite(server)
    finally:
        if server.alive():
            server.crash()  # a suite that hangs would keep it from stopping
        server.remove()


@pytest.mark.parametrize("name", TESTS)
def test_the_engine_keeps_the_contract(name: str, outcomes: tuple[Outcomes, str]) -> None:
    """On every kind of table that the test is for."""
    of_all, ending = outcomes
    seen = of_all.get(name, [])
    failures = "\n".join(f"{outcome.kind}: {outcome.seen}" for outcome in seen if not outcome.passed)
    assert not failures, failures
    assert len(seen) == TESTS[name], f"it ran on {[outcome.kind for outcome in seen]}; {ending}"


def test_the_suite_ran_to_its_end(outcomes: tuple[Outcomes, str]) -> None:
    """And has no test that this file does not know."""
    of_all, ending = outcomes
    assert not ending, ending
    assert set(of_all) >= set(TESTS)
