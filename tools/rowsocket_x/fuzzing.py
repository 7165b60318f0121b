# SPDX-License-Identifier: GPL-2.0-only
"""Runs the libFuzzer programs: each from its committed corpus, with what it finds new kept under build/.

The corpus of `src/.../NAME_fuzz.cc` is the folder `NAME_fuzz_corpus` (or `corpus`) beside it, its dictionary
`NAME_fuzz.dict`.
"""

import os
import subprocess
from pathlib import Path

from rowsocket_x.console import Problem, tail
from rowsocket_x.paths import BUILD, LOGS, ROOT

# The seconds that one input may take, and the memory that it may cost, before that counts as a finding.
INPUT_SECONDS_MAX = 20
MEMORY_MIB_MAX = 2048


def programs(folder: Path) -> list[Path]:
    """The built fuzzing programs. Raises `Problem` when there is none."""
    found = sorted(path for path in folder.rglob("*_fuzz") if path.is_file() and os.access(path, os.X_OK))
    if not found:
        raise Problem("the fuzz build made no *_fuzz program")
    return found


def corpus_of(program: Path) -> list[Path]:
    """The committed corpus folders of a program (none or one)."""
    sources = list((ROOT / "src").rglob(f"{program.name}.cc"))
    candidates = [
        source.parent / name
        for source in sources
        for name in (f"{program.name}_corpus", f"corpus/{program.name}", "corpus")
    ]
    return [folder for folder in candidates if folder.is_dir()][:1]


def run_briefly(program: Path, seconds: int) -> list[str]:
    """Fuzz for some seconds; empty when nothing was found, else the lines that tell what."""
    found_here = BUILD / "fuzz-corpus" / program.name
    artifacts = BUILD / "fuzz-findings" / program.name
    for folder in (found_here, artifacts):
        folder.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"test-{program.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        f"-timeout={INPUT_SECONDS_MAX}",
        f"-rss_limit_mb={MEMORY_MIB_MAX}",
        f"-artifact_prefix={artifacts}/",
        "-print_final_stats=1",
    ]
    options += [f"-dict={path}" for path in (ROOT / "src").rglob(f"{program.name}.dict")]
    with log.open("wb") as sink:
        command: list[str | Path] = [program, *options, found_here, *corpus_of(program)]
        code = subprocess.run(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink
        ).returncode
    if code == 0:
        return []
    return [
        *tail(log, 40).splitlines(),
        f"{program.name} found something: inputs in {artifacts}, all of the output: {log}",
    ]
