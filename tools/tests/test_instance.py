# SPDX-License-Identifier: GPL-2.0-only
import json
import os
import select
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rowsocket_x.console import Problem
from rowsocket_x.instance import SOCKET_PATH_BYTES_MAX, WITH_PARENT, Instance, require_free_port
from rowsocket_x.serve import Places

TREE = Path("no-tree")


def test_a_taken_port_is_refused_with_the_option_that_chooses_another() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(Problem) as caught:
            require_free_port(other.getsockname()[1], "--port-read")
    assert "--port-read" in caught.value.hints[0]


def test_a_second_server_on_one_folder_is_refused(tmp_path: Path) -> None:
    with (
        Instance(TREE, tmp_path / "data"),
        pytest.raises(Problem, match="another"),
        Instance(TREE, tmp_path / "data"),
    ):
        pass


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(Problem, match="holds other files"), Instance(TREE, tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_full_disk_is_told_before_anything_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rowsocket_x.instance.FREE_BYTES_MIN", 1 << 62)
    with pytest.raises(Problem, match="MiB are free"), Instance(TREE, tmp_path / "data"):
        pass
    assert not (tmp_path / "data/mariadb").exists()


def test_sockets_of_a_long_folder_lie_in_a_short_one_that_is_removed(tmp_path: Path) -> None:
    with Instance(TREE, tmp_path / ("long" * 30)) as server:
        run_folder = server.run_folder
        assert len(str(server.socket_path("write"))) <= SOCKET_PATH_BYTES_MAX
    assert not run_folder.exists()


def test_the_ready_file_names_every_place_and_nothing_else_is_left(tmp_path: Path) -> None:
    Places(1, "/s", 2, 3, 4, "/r", "/w").write(tmp_path / "ready.json")
    expected = {
        "pid": 1,
        "sql_socket": "/s",
        "sql_port": 2,
        "read_port": 3,
        "write_port": 4,
        "read_socket": "/r",
        "memcached_port": 0,
        "resp_port": 0,
    }
    assert json.loads((tmp_path / "ready.json").read_text()) == {**expected, "write_socket": "/w"}
    assert [path.name for path in tmp_path.iterdir()] == ["ready.json"]


def test_a_server_ends_with_whoever_started_it() -> None:
    """Even with one that is killed."""
    script = "import subprocess as s, sys; p = s.Popen(sys.argv[1:]); print(p.pid, flush=True); p.wait()"
    command = [sys.executable, "-c", script, *WITH_PARENT, "sleep", "60"]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    while "sleep" not in Path(f"/proc/{child}/comm").read_text():
        assert parent.poll() is None
    ended = os.pidfd_open(child)
    parent.kill()
    parent.wait()
    assert select.select([ended], [], [], 30)[0] == [ended]
