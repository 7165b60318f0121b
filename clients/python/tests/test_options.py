# SPDX-License-Identifier: MIT
"""What a connection is told."""

from __future__ import annotations

import datetime
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


@pytest.mark.parametrize(
    ("name", "minutes"), [("+02:00", 120), ("-04:30", -270), ("+5:45", 345), ("+00:00", 0), ("UTC", 0)]
)
def test_a_zone_may_be_the_offset_that_the_server_names(name: str, minutes: int) -> None:
    zone = options_of(f"rowsocket://127.0.0.1?time_zone={name}").time_zone
    assert zone is not None
    assert zone.utcoffset(datetime.datetime(2024, 7, 1)) == datetime.timedelta(minutes=minutes)


@pytest.mark.parametrize("name", ["+2", "+25:00", "+02:60", "02:00", "+02:00:00", "SYSTEM"])
def test_what_is_no_zone_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="unknown time zone"):
        options_of("127.0.0.1", time_zone=name)


@pytest.mark.parametrize("url", ["rowsocket://app:p%FFss@h/shop", "rowsocket://h?user=app&password=p%FFss"])
def test_what_is_percent_encoded_is_utf8_and_never_another_password(url: str) -> None:
    with pytest.raises(ValueError, match="UTF-8") as raised:
        options_of(url)
    assert "ss" not in str(raised.value).replace("password", "")
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__


@pytest.mark.parametrize("host", ["127.0.0.1:9999", "db.example.org:9999", "rowsocket:db.example.org"])
def test_a_host_with_a_port_is_no_host(host: str) -> None:
    with pytest.raises(ValueError, match="port="):
        options_of(host)


@pytest.mark.parametrize("host", ["::1", "fe80::1%eth0"])
def test_an_address_with_colons_is_a_host(host: str) -> None:
    assert options_of(host).host == host
    assert options_of(f"rowsocket://[{host.replace('%', '%25')}]:9999").host == host
