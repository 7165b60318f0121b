# SPDX-License-Identifier: GPL-2.0-only
import shlex
from pathlib import Path

from rowsocket_x.instance import Instance
from rowsocket_x.serve import Places, things_to_try

PLACES = Places(1, "/run/sql.sock", 2, 9998, 9999, "/run/read.sock", "/run/write.sock")


def test_each_thing_to_try_is_a_command_on_a_line_of_its_own(tmp_path: Path) -> None:
    text = things_to_try(Instance(Path("/a tree"), tmp_path), PLACES)
    commands = [shlex.split(line) for line in text.splitlines() if line.startswith("     ")]
    ends = [words[-1] for words in commands]
    assert [words[0] for words in commands] == [
        "printf",
        "/a tree/usr/bin/mariadb",
        "printf",
        "/a tree/usr/bin/mariadb",
    ]
    assert (
        ends[0] == "9998"
        and ends[1].startswith("SELECT ")
        and ends[2] == "9999"
        and ends[3].startswith("SELECT ")
    )
