# SPDX-License-Identifier: GPL-2.0-only
"""`./x check` and `./x fmt`: formatting, lint, types and the project's own rules, over the whole checkout."""

import re
import subprocess
import tomllib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import PurePosixPath

from rowsocket_x import fences, python_layers, rules, tidy
from rowsocket_x.console import console, run
from rowsocket_x.paths import ROOT, VENV

Finder = Callable[[], list[str]]

COLUMNS_MAX = 110
"""Of a line; ruff and clang-format have their own settings of it."""

_CLANG_FORMAT = str(VENV / "bin/clang-format")
_RUFF = str(VENV / "bin/ruff")

# Each is one program to the type checker: their test folders have names in common.
_TYPED = (
    ("tools",),
    ("clients/python/src", "clients/python/tests", "clients/python/make_sync.py"),
    ("tests", "bench"),
)

# Programs of ours that make files of the repository from others; with --check they say which are stale.
_MADE = (
    ("clients/python/make_sync.py",),
    ("-m", "bench.harness.peers_chart"),
    ("tools/monitoring/make_dashboard.py",),
)


def check(*, everything: bool = False) -> bool:
    """Run every check, print one line for each and what it found; whether nothing was found.

    clang-tidy looks at what changed only, unless `everything` is to be looked at.
    """
    python_layers.require(python_layers.Layer.CHECK)
    checks: list[tuple[str, Finder]] = [
        ("C++ format", _cpp_format),
        ("Python format", _python_format),
        ("Python lint", _python_lint),
        ("Python types", _types),
        ("made files", _made),
        ("layers", _layers),
        ("licence lines", lambda: _over_files(_files(), rules.licence)),
        ("file length", lambda: _over_files(_files(), rules.length)),
        ("columns", lambda: _over_files([one for one in _files() if one not in _listed("wide")], _columns)),
        ("table cells", lambda: _over_files(_pages(), rules.table_cells)),
        (
            "paths",
            lambda: _over_files(_files(), lambda path, text: rules.machine_paths(path, text, str(ROOT))),
        ),
        ("links", _links),
        ("clang-tidy", lambda: tidy.findings(everything=everything)),
    ]
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
    """Format all C++ and Python sources in place, and mend what the linter can mend by itself.

    Files that are made from others are made anew.
    """
    python_layers.require(python_layers.Layer.CHECK)
    run([_CLANG_FORMAT, "-i", *_sources(".cc", ".h")], what="clang-format", cwd=ROOT)
    python = _sources(".py")
    subprocess.run([_RUFF, "check", "--fix", "--quiet", *python], cwd=ROOT, stdout=subprocess.DEVNULL)
    run([_RUFF, "format", "--quiet", *python], what="ruff format", cwd=ROOT)
    for words in _MADE:
        run([str(VENV / "bin/python"), *words], what=words[-1], cwd=ROOT)


@cache
def _files() -> tuple[PurePosixPath, ...]:
    """Every file of the project: what git has, and what it would take."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    hints = ("./x check needs a git checkout",)
    names = run(command, what="listing the project's files", cwd=ROOT, hints=hints).split("\0")
    return tuple(PurePosixPath(name) for name in sorted(set(names)) if name and (ROOT / name).is_file())


@cache
def _listed(name: str) -> tuple[PurePosixPath, ...]:
    """The files that a list in pyproject.toml ([tool.rowsocket]) names, itself or by a folder above."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["rowsocket"][name]
    return tuple(path for path in _files() if any(path.is_relative_to(entry) for entry in listed))


def _text(path: PurePosixPath) -> str | None:
    """A file's text; None for what is not text."""
    try:
        return (ROOT / path).read_bytes().decode()
    except UnicodeDecodeError:
        return None


def _sources(*suffixes: str) -> list[str]:
    return [str(path) for path in _files() if path.suffix in suffixes]


def _over_files(paths: Iterable[PurePosixPath], rule: Callable[[PurePosixPath, str], list[str]]) -> list[str]:
    found = []
    for path in paths:
        text = _text(path)
        if text is not None:
            found += rule(path, text)
    return found


def _cpp_format() -> list[str]:
    command = [_CLANG_FORMAT, "--dry-run", *_sources(".cc", ".h")]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    found = set(re.findall(r"^([^:\n]+):\d+:\d+: (?:warning|error)", done.stderr, re.MULTILINE))
    return [f"{name}: not formatted; ./x fmt does it" for name in sorted(found)]


def _python_format() -> list[str]:
    return _ruff("format", "--check", "--quiet", "--output-format=concise")


def _python_lint() -> list[str]:
    return _ruff("check", "--quiet", "--output-format=concise")


def _ruff(*words: str) -> list[str]:
    return _program("ruff", *words, *_sources(".py"))


def _program(name: str, *words: str) -> list[str]:
    """The output lines of a checker of the Python environment; empty when it is content."""
    command = [str(VENV / "bin" / name), *words]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    lines = (done.stdout + done.stderr).strip().splitlines()
    if done.returncode != 0 and not lines:
        return [f"{name} {words[0]} ended with {done.returncode}"]
    return lines if done.returncode != 0 else []


def _made() -> list[str]:
    return [line for words in _MADE for line in _program("python", *words, "--check")]


def _types() -> list[str]:
    python = [path for path in _files() if path.suffix == ".py"]
    found = []
    for folders in _TYPED:
        there = [folder for folder in folders if any(path.is_relative_to(folder) for path in python)]
        if there:
            found += _program("mypy", "--no-error-summary", *there)
    return found


def _layers() -> list[str]:
    names = {path.relative_to("src") for path in _files() if path.parts[0] == "src"}
    found = []
    for path in sorted(name for name in names if name.suffix in (".cc", ".h")):
        found += fences.findings(path, _text("src" / path) or "", names.__contains__)
    return found


def _columns(path: PurePosixPath, text: str) -> list[str]:
    return rules.columns(path, text, COLUMNS_MAX)


def _pages() -> list[PurePosixPath]:
    return [path for path in _files() if path.suffix == ".md"]


def _links() -> list[str]:
    def read(path: PurePosixPath) -> str | None:
        file = ROOT / path
        return file.read_text(errors="replace") if file.is_file() else ("" if file.is_dir() else None)

    return _over_files(_pages(), lambda path, text: rules.links(path, text, read))
