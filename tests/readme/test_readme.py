# SPDX-License-Identifier: GPL-2.0-only
"""What README.md tells a newcomer to type is typed, from the project's folder: `./x run`, the tours over
`nc`, the Python client's installation and its example. (`./x test` is what runs this.)

Ports are free ones instead of the usual ones. Versions and sizes of packages are those of this machine's
mirror, so replies are compared field by field without their digits.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.raw import RawConnection

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
START_S = 600.0
"""The plugin may have to be built."""
STOP_S = 120.0
READ_PORT, WRITE_PORT = 9998, 9999
CODE_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Ports:
    """Where `./x run` serves."""

    read: int
    write: int

    def of(self, usual: int) -> int:
        """What stands for a port that README.md names."""
        return {READ_PORT: self.read, WRITE_PORT: self.write}[usual]


def blocks(language: str = "") -> list[str]:
    """The code blocks of README.md."""
    return [str(text) for name, text in CODE_BLOCK.findall(README) if name == language]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ports]:
    folder = tmp_path_factory.mktemp("demo")
    ready, log = folder / "ready.json", folder / "log"
    anywhere = ["--port-sql=0", "--port-read=0", "--port-write=0"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["./x", "run", *anywhere, f"--data={folder / 'data'}", f"--ready-file={ready}"],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        end_s = time.monotonic() + START_S
        while not ready.exists():
            assert process.poll() is None and time.monotonic() < end_s, log.read_text()
            time.sleep(0.1)
        places = json.loads(ready.read_text())
        yield Ports(places["read_port"], places["write_port"])
    finally:
        process.terminate()
        process.wait(STOP_S)
    assert process.returncode == 0, log.read_text()


def form(line: str) -> list[str]:
    """The fields of a reply, without what another version of a package changes."""
    return [re.sub(r"[\d.:+~-]+\w*", "#", field) for field in line.split("\t")]


TOURS = [block for block in blocks() if block.startswith("$ nc")]


def test_there_are_tours_of_both_ports() -> None:
    assert [re.findall(r"\d+$", tour.splitlines()[0]) for tour in TOURS] == [
        [str(READ_PORT)],
        [str(WRITE_PORT)],
    ]


@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.splitlines()[0])
def test_a_tour_is_answered_as_it_says(demo: Ports, tour: str) -> None:
    command, *lines = tour.splitlines()
    host, port = command.removeprefix("$ nc ").split()
    with RawConnection((host, demo.of(int(port)))) as connection:
        for request, reply in zip(lines[::2], lines[1::2], strict=True):
            answer = connection.ask(request.encode()).decode()
            assert form(answer) == form(reply), request


def test_the_client_is_installed_and_used_as_it_says(demo: Ports, tmp_path: Path) -> None:
    command = re.search(r"`(pip install [^`]+)`", README)
    assert command is not None
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([tmp_path / "venv/bin" / "pip", *command[1].split()[1:]], cwd=ROOT, check=True)
    for example in blocks("python"):
        told = [str(what) for what in re.findall(r"  # (\(.*\))$", example, re.MULTILINE)]
        printing = re.sub(r"^(    )(\S.*?)  # \(.*\)$", r"\1print(\2)", example, flags=re.MULTILINE)
        for port in (READ_PORT, WRITE_PORT):
            printing = printing.replace(f"127.0.0.1:{port}/", f"127.0.0.1:{demo.of(port)}/")
        done = subprocess.run(
            [tmp_path / "venv/bin/python", "-c", printing], stdout=subprocess.PIPE, text=True, check=True
        )
        assert [form(line) for line in done.stdout.splitlines()] == [form(what) for what in told]
