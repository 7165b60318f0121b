# SPDX-License-Identifier: GPL-2.0-only
"""`./x check` and `./x fmt`: formatting, lint, types, and the project's own rules, over every file of the checkout."""

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

from rowsocket_x import build, fences, python_layers, rules
from rowsocket_x.console import Problem, console, run
from rowsocket_x.paths import ROOT, VENV

Finder = Callable[[], list[str]]

# Each is one program to the type checker: their test folders have names in common.
_TYPED = (("tools",), ("clients/python/src", "clients/python/tests"), ("tests", "bench"))


def check(*, tidy: bool = False) -> bool:
    """Run every check, print one line for each and what it found; whether nothing was found."""
    python_layers.require(python_layers.Layer.CHECK)
    checks: list[tuple[str, Finder]] = [
        ("C++ format", _cpp_format),
        ("Python format", lambda: _program("ruff", "format", "--check", "--quiet", ".")),
        ("Python lint", lambda: _program("ruff", "check", "--quiet", "--output-format=concise", ".")),
        ("Python types", _types),
        ("layers", _layers),
        ("licence lines", lambda: _over_files(lambda path, text: rules.licence(path, text))),
        ("file length", lambda: _over_files(lambda path, text: rules.length(path, text))),
        ("paths", lambda: _over_files(lambda path, text: rules.machine_paths(path, text, str(ROOT)))),
        ("links", _links),
    ]
    if tidy:
        checks.append(("clang-tidy", _tidy))
    clean = True
    for name, finder in checks:
        with console.status(name):
            found = finder()
        print(f"{name:<14} {'ok' if not found else f'{len(found)} found'}", flush=True)
        for line in found:
            print(f"    {line}", flush=True)
        clean = clean and not found
    if not clean:
        print("./x fmt mends the format; the other findings say what to do", flush=True)
    return clean


def fmt() -> None:
    """Format all C++ and Python sources in place, and mend what the linter can mend by itself."""
    python_layers.require(python_layers.Layer.CHECK)
    sources = _cpp_sources()
    if sources:
        run([VENV / "bin/clang-format", "-i", *sources], what="clang-format", cwd=ROOT)
    subprocess.run([VENV / "bin/ruff", "check", "--fix", "--quiet", "."], cwd=ROOT)
    run([VENV / "bin/ruff", "format", "--quiet", "."], what="ruff format", cwd=ROOT)


@cache
def _files() -> tuple[PurePosixPath, ...]:
    """Every file of the project: what git has, and what it would take."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = run(command, what="listing the project's files", cwd=ROOT, hints=("./x check needs a git checkout",)).split("\0")
    return tuple(PurePosixPath(name) for name in sorted(set(names)) if name and (ROOT / name).is_file())


def _text(path: PurePosixPath) -> str | None:
    """A file's text; None for what is not text."""
    try:
        return (ROOT / path).read_bytes().decode()
    except UnicodeDecodeError:
        return None


def _cpp_sources() -> list[str]:
    return [str(path) for path in _files() if path.suffix in (".cc", ".h")]


def _over_files(rule: Callable[[PurePosixPath, str], list[str]]) -> list[str]:
    found = []
    for path in _files():
        text = _text(path)
        if text is not None:
            found += rule(path, text)
    return found


def _cpp_format() -> list[str]:
    sources = _cpp_sources()
    done = subprocess.run(
        [VENV / "bin/clang-format", "--dry-run", *sources], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    unformatted = sorted(set(re.findall(r"^([^:\n]+):\d+:\d+: (?:warning|error)", done.stderr, re.MULTILINE)))
    return [f"{name}: not formatted; ./x fmt does it" for name in unformatted]


def _program(name: str, *words: str) -> list[str]:
    """The output lines of a checker of the Python environment; empty when it is content."""
    done = subprocess.run([VENV / "bin" / name, *words], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    lines = (done.stdout + done.stderr).strip().splitlines()
    if done.returncode != 0 and not lines:
        return [f"{name} {' '.join(words)} ended with {done.returncode}"]
    return lines if done.returncode != 0 else []


def _types() -> list[str]:
    found = []
    for folders in _TYPED:
        there = [folder for folder in folders if next((ROOT / folder).rglob("*.py"), None) is not None]
        if there:
            found += _program("mypy", "--no-error-summary", *there)
    return found


def _layers() -> list[str]:
    names = {path.relative_to("src") for path in _files() if path.parts[0] == "src"}
    found = []
    for path in sorted(name for name in names if name.suffix in (".cc", ".h")):
        found += fences.findings(path, _text("src" / path) or "", names.__contains__)
    return found


def _links() -> list[str]:
    def read(path: PurePosixPath) -> str | None:
        file = ROOT / path
        return file.read_text(errors="replace") if file.is_file() else ("" if file.is_dir() else None)

    return _over_files(lambda path, text: rules.links(path, text, read) if path.suffix == ".md" else [])


def _tidy() -> list[str]:
    """clang-tidy over everything outside src/mariadb, with the compile commands of the no-server build."""
    folder = build.build(build.Preset.NO_SERVER)
    sources = [name for name in _cpp_sources() if name.endswith(".cc") and name.startswith("src/") and "/mariadb/" not in name]
    tidy = [str(VENV / "bin/clang-tidy"), "--quiet", "-p", str(folder)]
    try:
        done = subprocess.run(
            ["xargs", "-0", "-P", str(os.cpu_count() or 1), "-n", "4", *tidy],
            cwd=ROOT,
            input="\0".join(_without_fuzzers(sources)),
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        raise Problem("xargs is not there", "apt-get install findutils") from None
    return [line for line in done.stdout.splitlines() if re.search(r": (warning|error): ", line)]


def _without_fuzzers(sources: Sequence[str]) -> list[str]:
    """The fuzzing programs are not part of that build, so clang-tidy would not know their flags."""
    return [name for name in sources if not Path(name).stem.endswith("_fuzz")]
