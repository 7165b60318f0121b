# SPDX-License-Identifier: GPL-2.0-only
"""clang-tidy over the C++ sources, with the compiler's commands of the preset `tidy` (see .clang-tidy).

All of it takes minutes, so `./x check` looks at what changed since the branch left main: the sources that
changed, and those that include a header that did. Tests are spared the analyzer, which takes a minute for one
file of them.
"""

import json
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from rowsocket_x import build, setup
from rowsocket_x.console import run
from rowsocket_x.machine import Layer
from rowsocket_x.paths import ROOT, VENV

_BASES = ("origin/main", "main")
_SUFFIXES = (".cc", ".h")


def findings(*, everything: bool) -> list[str]:
    """What clang-tidy says of the changed sources below src/, or of all."""
    changed = None if everything else _changed_files()
    if changed is not None and not any(
        path.parts[0] == "src" and path.suffix in _SUFFIXES for path in changed
    ):
        return []
    setup.packages(Layer.CHECK)
    folder = build.configure(build.Preset.TIDY)
    # Nothing is built here, and only a build looks for sources that came or went since.
    run(["cmake", "--build", folder, "--target", "build.ninja"], what="looking for new sources")
    compiled = [Path(entry["file"]) for entry in json.loads((folder / "compile_commands.json").read_text())]
    sources = sorted({str(path.relative_to(ROOT)) for path in compiled if path.is_relative_to(ROOT / "src")})
    if changed is not None:
        sources = touched(sources, changed, lambda name: (ROOT / name).read_text(errors="replace"))
    sources.sort(key=lambda name: (ROOT / name).stat().st_size, reverse=True)  # no long one comes last
    tests = [name for name in sources if name.endswith("_test.cc")]
    products = [name for name in sources if name not in tests]
    return [*_tidy(folder, products), *_tidy(folder, tests, "--checks=-clang-analyzer-*")]


def touched(
    sources: Sequence[str], changed: Sequence[PurePosixPath], read: Callable[[str], str]
) -> list[str]:
    """The sources that changed or include a changed header. `read` gives a source's text."""
    headers = {
        str(path.relative_to("src")) for path in changed if path.parts[0] == "src" and path.suffix == ".h"
    }
    names = {str(path) for path in changed}
    return [name for name in sources if name in names or _includes(read(name)) & headers]


def _includes(text: str) -> set[str]:
    return set(re.findall(r'^#include "([^"]+)"', text, re.MULTILINE))


def _changed_files() -> list[PurePosixPath]:
    """What differs from where the branch left main, whether committed or not."""
    base = next((found for name in _BASES if (found := _git("merge-base", "HEAD", name))), "HEAD")
    names = (
        _git("diff", "--name-only", "--diff-filter=d", base)
        + "\n"
        + _git("ls-files", "--others", "--exclude-standard")
    )
    return [PurePosixPath(name) for name in names.splitlines() if name]


def _git(*words: str) -> str:
    """What git prints; nothing where it fails."""
    done = subprocess.run(["git", *words], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def _tidy(folder: Path, sources: Sequence[str], *options: str) -> list[str]:
    if not sources:
        return []
    command = [str(VENV / "bin/clang-tidy"), "--quiet", "-p", str(folder), *options]
    done = subprocess.run(
        ["xargs", "-0", "-P", str(os.cpu_count() or 1), "-n", "1", *command],
        cwd=ROOT,
        input="\0".join(sources),
        capture_output=True,
        text=True,
    )
    found = [line for line in done.stdout.splitlines() if re.search(r"(^|: )(warning|error): ", line)]
    if not found and done.returncode != 0:
        return [f"clang-tidy ended with {done.returncode}", *done.stderr.splitlines()[-5:]]
    return sorted({line.removeprefix(f"{ROOT}/") for line in found})
