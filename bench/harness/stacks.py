# SPDX-License-Identifier: GPL-2.0-only
"""Where a process spends its time: perf's samples, as stacks of frames from the outermost inwards.

A frame's part says whose code it is, so that a profile can be summed up as "kernel, MariaDB, RowSocket,
libraries". Debian's programs have no frame pointers. So perf keeps a piece of the stack with each sample, and
unwinds it afterwards.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

SAMPLES_PER_S = 499
"""Not a round number, so that samples do not fall in step with timers."""
STACK_BYTES = 16384
"""Of each sample; what lies deeper is lost, and with it the outermost callers."""

KERNEL = "kernel"
ROWSOCKET = "RowSocket"
ORIGINAL = "the original"
DATABASE = "MariaDB and InnoDB"
LIBRARY = "libraries"
PARTS = (KERNEL, DATABASE, ROWSOCKET, ORIGINAL, LIBRARY)

_PART_OF_FILE = {"mariadbd": DATABASE, "rowsocket.so": ROWSOCKET, "handlersocket.so": ORIGINAL}


class CannotProfile(Exception):
    """There is no perf, or the kernel does not let it; the text says which and what would help."""


@dataclass(frozen=True)
class Frame:
    """One function on a stack."""

    name: str
    part: str


Stack = tuple[Frame, ...]


@contextlib.contextmanager
def recorded(pid: int, data: Path, cpu: int) -> Iterator[None]:
    """Sample all threads of a process into the file `data` while the block runs; perf itself stays on `cpu`.

    Raises CannotProfile.
    """
    if shutil.which("perf") is None:
        raise CannotProfile("there is no perf on this machine: apt-get install linux-perf")
    command = [
        "taskset",
        "--cpu-list",
        str(cpu),
        "perf",
        "record",
        "--quiet",
        "--event",
        "cpu-clock",
        "--freq",
        str(SAMPLES_PER_S),
    ]
    command += ["--call-graph", f"dwarf,{STACK_BYTES}", "--pid", str(pid), "--output", str(data)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as perf:
        try:
            yield
        finally:
            perf.send_signal(signal.SIGINT)
            complaint = perf.communicate()[1].decode(errors="replace").strip()
    if not data.is_file() or data.stat().st_size == 0:
        raise CannotProfile(f"perf recorded nothing: {complaint or 'is kernel.perf_event_paranoid above 2?'}")


def read(data: Path) -> Counter[Stack]:
    """The samples of a recording. Raises CannotProfile."""
    command = ["perf", "script", "--no-inline", "--fields", "comm,ip,sym,dso", "--input", str(data)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace"
    ) as perf:
        assert perf.stdout is not None
        stacks = parse(perf.stdout)
    if not stacks:
        raise CannotProfile("perf has no sample: was the server idle?")
    return stacks


def parse(lines: Iterable[str]) -> Counter[Stack]:
    """The samples in the text of `perf script`: a thread's name, frames from the innermost, an empty line."""
    stacks: Counter[Stack] = Counter()
    thread = ""
    frames: list[Frame] = []
    for line in [*lines, ""]:
        if not line.strip():
            if thread:
                stacks[(Frame(thread, ""), *reversed(frames))] += 1
            thread, frames = "", []
        elif line[0].isspace() and thread:
            frames.append(frame(line))
        else:
            thread = line.strip()
    return stacks


def frame(line: str) -> Frame:
    """The frame of a line `ADDRESS SYMBOL (FILE)`. Files without symbols lend their own name."""
    words, _, file = line.strip().rpartition(" (")
    file = Path(file.rstrip(")")).name
    symbol = words.partition(" ")[2]
    name = file if symbol in ("", "[unknown]") else symbol
    if file.startswith("[kernel") or file.endswith(".ko") or file in ("[vdso]", "[guest.kernel.kallsyms]"):
        return Frame(name, KERNEL)
    return Frame(name, _PART_OF_FILE.get(file, LIBRARY))


def shares(stacks: Counter[Stack]) -> dict[str, float]:
    """For each part the share of the samples whose innermost frame is its own, if there is one."""
    innermost: Counter[str] = Counter()
    for stack, samples in stacks.items():
        innermost[stack[-1].part] += samples
    whole = innermost.total()
    return {part: innermost[part] / whole for part in PARTS if innermost[part]}
