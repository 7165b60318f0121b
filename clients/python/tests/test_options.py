# SPDX-License-Identifier: MIT
"""What a connection is told."""

from __future__ import annotations

from typing import Any

import pytest

from rowsocket._options import options_of


def test_a_pause_has_an_end_however_often_it_was_tried() -> None:
    options = options_of("rowsocket://127.0.0.1?timeout=none&retries=5000")
    assert 0 < options.pause_s(5000) <= 2.0


@pytest.mark.parametrize("name", ["tls_ca", "tls_cert", "tls_key"])
def test_a_file_without_a_name_does_not_turn_tls_off(name: str) -> None:
    """As of a variable of the environment that is not set: ?tls_ca=$CA."""
    with pytest.raises(ValueError, match=f"{name}: the name of a file"):
        options_of(f"rowsocket://app:hush@db.example.org/shop?{name}=")
    with pytest.raises(ValueError, match=f"{name}: the name of a file"):
        options_of("db.example.org", **{name: ""})


@pytest.mark.parametrize("tls", ["no", "0", "", 0, 1, "ca.pem"])
def test_tls_is_no_word(tls: Any) -> None:
    with pytest.raises(TypeError, match=r"tls: True, False or an ssl\.SSLContext"):
        options_of("db.example.org", tls=tls)
