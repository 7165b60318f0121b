# SPDX-License-Identifier: MIT
"""What a disk gives, as fio measures it: random reads of pages with one and with many in flight, and how
often a small write can be made durable.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

DEPTHS = (1, 2, 4, 8, 16, 32, 64)
"""How many reads are in flight."""

NEARLY_MOST = 0.85
"""At the knee so much is had of the most."""

FILE_BYTES = 2**30
PAGE_BYTES = 16384
SECONDS_DEFAULT = 2.0


class NoFio(ValueError):
    """fio is not there, or can not do it."""


@dataclasses.dataclass(frozen=True)
class Storage:
    """Figures of one folder's disk."""

    pages_per_s: Mapping[int, float]
    """Random pages of 16 KiB, by how many are in flight."""
    fsyncs_per_s: float
    """Writes of 4 KiB, each made durable, one after the other."""

    @property
    def knee(self) -> int:
        """From how many in flight on more of them give little more."""
        most = max(self.pages_per_s.values())
        return min(depth for depth, pages in self.pages_per_s.items() if pages >= NEARLY_MOST * most)


def measure(folder: Path, seconds: float = SECONDS_DEFAULT, file_bytes: int = FILE_BYTES) -> Storage:
    """Measure the disk of a folder with a file of 1 GiB, which is removed. Raises NoFio."""
    program = shutil.which("fio")
    if program is None:
        raise NoFio("fio is not there: apt-get install fio")
    free = shutil.disk_usage(folder).free
    if free < 2 * file_bytes:
        raise NoFio(
            f"{folder} has {free / 2**30:.1f} GiB free, and the measurement takes {file_bytes / 2**30:.0f}"
        )
    with _signals_end(), _scratch(folder) as scratch:
        pages_file = str(scratch / "pages").replace(":", r"\:")  # a colon is between two files
        common = {"filename": pages_file, "size": file_bytes, "ioengine": "psync", "thread": 1}
        timed = {"time_based": 1, "runtime": seconds, "group_reporting": 1}
        reads = {**common, **timed, "rw": "randread", "bs": PAGE_BYTES, "direct": 1}
        _fio(program, {**common, "rw": "write", "bs": "1M", "end_fsync": 1})  # the file itself
        pages = {depth: _rate(_fio(program, {**reads, "numjobs": depth}), "read") for depth in DEPTHS}
        writes = {**common, **timed, "rw": "write", "bs": 4096, "fdatasync": 1}
        return Storage(pages, _rate(_fio(program, writes), "write"))


@contextlib.contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A folder that is removed at the end. Raises NoFio."""
    try:
        scratch = tempfile.TemporaryDirectory(prefix="rowsocket-doctor-", dir=folder)
    except OSError as error:
        raise NoFio(f"{folder}: {error.strerror or error}") from None
    with scratch as name:
        yield Path(name)


@contextlib.contextmanager
def _signals_end() -> Iterator[None]:
    """What would end the process at once ends what is under way, so that the file is removed."""
    before = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, frame: object) -> NoReturn:
    sys.exit(128 + number)


def _fio(program: str, options: Mapping[str, object]) -> dict[str, Any]:
    words = [
        f"--{name}={value}" for name, value in {"name": "doctor", **options, "output-format": "json"}.items()
    ]
    done = subprocess.run([program, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise NoFio(f"fio failed: {last[0] if last else done.returncode}")
    said: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
    return said


def _rate(said: dict[str, Any], direction: str) -> float:
    return float(said["jobs"][0][direction]["iops"])
