# SPDX-License-Identifier: GPL-2.0-only
"""What src/engine/engine.h says of requests that can not be undone alone, where they can not: on a Galera
node without a binlog. tests/integration/test_engine_conformance.py runs the whole suite where they can."""

from __future__ import annotations

from pathlib import Path

from support.conformance import run_suite
from support.galera import Cluster
from support.tree import ServerTree

TESTS = {
    "Undoing.a_request_that_can_not_be_undone_alone_loses_the_transaction_and_the_others_do_without_it",
    "Undoing.a_group_that_can_not_be_undone_alone_loses_the_transaction_too",
    "Undoing.a_transaction_that_is_lost_otherwise_is_lost_by_no_failure",
}


def test_the_engine_keeps_the_contract_where_the_server_takes_back_no_statement(
    tree: ServerTree, template: Path
) -> None:
    with Cluster(tree, template, 1) as cluster:
        node = cluster[0]
        assert node.value("SELECT @@log_bin") == 0
        node.sql("UNINSTALL SONAME 'rowsocket'")
        outcomes, ending = run_suite(node, ":".join(f"*{name}/*" for name in TESTS))
    assert not ending, ending
    assert set(outcomes) == TESTS
    failures = [one.seen for of_test in outcomes.values() for one in of_test if not one.passed]
    assert not failures, "\n".join(failures)
