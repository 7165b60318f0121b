# SPDX-License-Identifier: MIT
"""What a connection is told."""

from __future__ import annotations

from rowsocket._options import options_of


def test_a_pause_has_an_end_however_often_it_was_tried() -> None:
    options = options_of("rowsocket://127.0.0.1?timeout=none&retries=5000")
    assert 0 < options.pause_s(5000) <= 2.0
