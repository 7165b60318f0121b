# SPDX-License-Identifier: GPL-2.0-only
"""Which system packages a verb needs."""

from rowsocket_x import machine
from rowsocket_x.machine import Layer


def test_a_package_is_named_as_its_debian_release_names_it() -> None:
    of_12, of_13 = (set(machine.packages_of([Layer.RUN], name)) for name in ("bookworm", "trixie"))
    assert of_12 - of_13 == {"libaio1", "libssl3"}
    assert of_13 - of_12 == {"libaio1t64", "libssl3t64"}


def test_a_package_of_two_layers_is_named_once() -> None:
    named = machine.packages_of([Layer.FUZZ, Layer.CHECK], "bookworm")
    assert named.count("clang-14") == 1
