# SPDX-License-Identifier: GPL-2.0-only
from rowsocket_x.demo import Package, parse_packages

LIST = """\
Package: acme
Version: 1:0.97-1
Installed-Size: 387
Maintainer: Gürkan Myczko <tar@debian.org>
Section: devel
Description: Multi-platform cross assembler: 6502
Description-md5: 0
Tag: a::b,
 c::d

Package: bare
Version: 2

Package: long
Version: 3
Description: the first line
 and more about it
"""


def test_a_package_list_becomes_rows() -> None:
    assert list(parse_packages(LIST)) == [
        Package(
            "acme",
            "1:0.97-1",
            "devel",
            "Gürkan Myczko <tar@debian.org>",
            387,
            "Multi-platform cross assembler: 6502",
        ),
        Package("bare", "2", "", "", None, ""),
        Package("long", "3", "", "", None, "the first line"),
    ]
