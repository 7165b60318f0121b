# SPDX-License-Identifier: MIT
"""Which errors are worth another try: as the protocol's own table of errors says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rowsocket.errors import ConnectionLost, UndoneWithGroup, error_from_reply

PROTOCOL = Path(__file__).resolve().parents[3] / "docs/protocol/handlersocket.md"
if not PROTOCOL.is_file():
    pytest.skip("an sdist has no documents of the protocol", allow_module_level=True)


def documented() -> list[tuple[int, str, str]]:
    """Code, text and what the page says about retrying, of each row of its table of errors that names its
    text."""
    page = PROTOCOL.read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| ([123]) \| (`[^|]*) \|[^|]*\| ([^|]*) \|$", page[page.index("## Errors") :], re.MULTILINE
    )
    return [(int(code), text, retry) for code, texts, retry in rows for text in re.findall(r"`(\w+)`", texts)]


def test_the_table_of_errors_is_found() -> None:
    assert {(1, "149", "at once"), (2, "cmd", "no")} <= set(documented())
    assert len(documented()) > 25


@pytest.mark.parametrize(("code", "text", "retry"), documented())
def test_an_error_is_retryable_where_the_protocol_says_so(code: int, text: str, retry: str) -> None:
    if (code, text) != (1, "group"):  # as the error of another request
        assert error_from_reply(code, text).retryable == retry.startswith(("later", "at once"))


@pytest.mark.parametrize("text", ["1366", "1406", "1264", "1048", "4025"])
def test_values_that_do_not_fit_stay_so(text: str) -> None:
    assert not error_from_reply(1, text).retryable


def test_undone_with_a_group_is_as_retryable_as_its_cause() -> None:
    undone = error_from_reply(1, "group")
    assert isinstance(undone, UndoneWithGroup)
    assert not undone.retryable
    undone.cause = error_from_reply(1, "149")
    assert undone.retryable


def test_a_write_of_unknown_outcome_is_not_to_be_sent_again() -> None:
    assert not ConnectionLost("lost", outcome_unknown=True).retryable
    assert ConnectionLost("lost").retryable
