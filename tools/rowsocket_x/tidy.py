# SPDX-License-Identifier: GPL-2.0-only
"""clang-tidy over the C++ sources, with the compiler's commands of a preset (see .clang-tidy).

`./x check` looks at what changed since the branch left main: the sources that changed, and those that include
a header that did. Each is read alone, so an include that is missing shows.

`./x check --all` reads the sources in the bundles that builds compile (preset `tidy-all`), as reading the
headers for each of them takes most of the time. There the analyzer follows each function less far.

Tests are spared the analyzer, which takes a minute for one file of them.
"""

import json
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from rowsocket_x import build, setup
from rowsocket_x.build import Preset
from rowsocket_x.console import run
from rowsocket_x.machine import Layer
from rowsocket_x.paths import ROOT, VENV

_BASES = ("origin/main", "main")
_SUFFIXES = (".cc", ".h")


_ANALYZER_OFF = "--checks=-clang-analyzer-*"
_ALL_STEPS_MAX = 5_000
"""How many states of a function the analyzer looks at where it looks at all of them; else 225,000."""
# A bundle includes sources, which to the analyzer are headers.
_ALL_WORDS = ("-analyzer-opt-analyze-headers", "-analyzer-config", f"max-nodes={_ALL_STEPS_MAX}")
_BUNDLE_CHECKS = "--checks=-bugprone-suspicious-include"


def findings(*, everything: bool) -> list[str]:
    """What clang-tidy says of the changed sources below src/, or of all."""
    if everything:
        return _findings_of_all()
    changed = _changed_files()
    if not any(path.parts[0] == "src" and path.suffix in _SUFFIXES for path in changed):
        return []
    folder = _configured(Preset.TIDY)
    sources = [name for name in _compiled(folder) if name.startswith("src/")]
    sources = touched(sources, changed, lambda name: (ROOT / name).read_text(errors="replace"))
    tests = [name for name in sources if name.endswith("_test.cc")]
    products = [name for name in sources if name not in tests]
    return [*_tidy(folder, products), *_tidy(folder, tests, _ANALYZER_OFF)]


def _findings_of_all() -> list[str]:
    folder = _configured(Preset.TIDY_ALL)
    bundles = f"{folder.relative_to(ROOT)}/src/"
    units = [
        name
        for name in _compiled(folder)
        if name.startswith("src/") or (name.startswith(bundles) and "/Unity/" in name)
    ]
    tests = [name for name in units if "_test" in name]
    products = [name for name in units if name not in tests]
    deep = [f"--extra-arg={word}" for one in _ALL_WORDS for word in ("-Xclang", one)]
    return sorted(
        {
            *_tidy(folder, products, _BUNDLE_CHECKS, *deep),
            *_tidy(folder, tests, f"{_BUNDLE_CHECKS},-clang-analyzer-*"),
        }
    )


def _configured(preset: Preset) -> Path:
    setup.packages(Layer.CHECK)
    folder = build.configure(preset)
    # Nothing is built here, and only a build looks for sources that came or went since.
    run(["cmake", "--build", folder, "--target", "build.ninja"], what="looking for new sources")
    return folder


def _compiled(folder: Path) -> list[str]:
    """What the build in a folder compiles, by names from the project's folder: the largest come first."""
    files = {Path(entry["file"]) for entry in json.loads((folder / "compile_commands.json").read_text())}
    return [str(path.relative_to(ROOT)) for path in sorted(files, key=_size_with_included, reverse=True)]


def _size_with_included(path: Path) -> int:
    """In bytes, of a source or of those in a bundle."""
    text = path.read_text(errors="replace")
    bundled = re.findall(r'^#include "(/[^"]+\.cc)"', text, re.MULTILINE)
    return len(text) + sum(Path(name).stat().st_size for name in bundled)


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
