# SPDX-License-Identifier: GPL-2.0-only
"""`./x build`: configure and build one of the presets of CMakePresets.json, in its folder under build/."""

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path

from rowsocket_x import server_headers, setup
from rowsocket_x.console import Problem, run, step
from rowsocket_x.machine import Layer
from rowsocket_x.paths import BUILD, LOGS, ROOT, STATE
from rowsocket_x.server_series import DEFAULT, Series


class Preset(StrEnum):
    """The ways to build; see CMakePresets.json for what each means."""

    PLUGIN = "plugin"
    RELEASE = "release"
    TRAINED = "trained"
    DEBUG = "debug"
    TSAN = "tsan"
    FUZZ = "fuzz"
    NO_SERVER = "no-server"
    TIDY = "tidy"
    TIDY_ALL = "tidy-all"

    @property
    def needs_server(self) -> bool:
        """Whether the build includes the plugin, and so the server's headers."""
        return self in (Preset.PLUGIN, Preset.RELEASE, Preset.TRAINED, Preset.TIDY, Preset.TIDY_ALL)

    @property
    def packages(self) -> tuple[Layer, ...]:
        """The system packages that the build needs."""
        further = {Preset.PLUGIN: (), Preset.TRAINED: (), Preset.FUZZ: (Layer.FUZZ,)}
        return (Layer.RUN, *further.get(self, (Layer.BUILD,)))


def environment() -> Mapping[str, str]:
    """The environment for compilers: their cache stays in the project folder unless the user has another."""
    cache = {
        "CCACHE_DIR": str(STATE / "ccache"),
        "CCACHE_BASEDIR": str(ROOT),
        "CCACHE_NOHASHDIR": "1",
        "CCACHE_SLOPPINESS": "pch_defines,time_macros",
    }
    return {**cache, **os.environ}


def folder_of(preset: Preset, series: Series = DEFAULT) -> Path:
    """Where a preset is built.

    The plugin alone is built in the folder of everything, which then has less to do.
    """
    name = Preset.RELEASE if preset is Preset.PLUGIN else preset
    return BUILD / (name if series is DEFAULT or not preset.needs_server else f"{name}-{series}")


def without_address_randomisation(preset: Preset) -> list[str]:
    """What to put before a command that runs programs of a preset.

    ThreadSanitizer of this compiler cannot place its memory where the kernel randomises addresses widely, so
    that is turned off.
    """
    if preset is not Preset.TSAN:
        return []
    prefix = ["setarch", platform.machine(), "--addr-no-randomize"]
    try:
        allowed = subprocess.run([*prefix, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        allowed = False
    return prefix if allowed else []


@cache
def build(preset: Preset, *, series: Series = DEFAULT, headers: Path | None = None) -> Path:
    """Build a preset, setting up what it needs, and return its folder.

    Raises `Problem` with the compiler's output.

    Within one run of `./x` each preset is built once.
    """
    folder = configure(preset, series=series, headers=headers)
    target = ["--target", "rowsocket"] if preset is Preset.PLUGIN else []
    with step(f"building {folder.name}" if not target else f"building the plugin in {folder.name}"):
        run(
            ["cmake", "--build", folder, *target],
            what=f"the {preset} build",
            cwd=ROOT,
            env=environment(),
            log=LOGS / f"build-{folder.name}.log",
        )
    return folder


@cache
def configure(preset: Preset, *, series: Series = DEFAULT, headers: Path | None = None) -> Path:
    """Set up what a preset needs and run cmake's first phase, which also writes compile_commands.json."""
    setup.packages(*preset.packages)
    arguments = []
    if preset.needs_server:
        given = server_headers.adopt(headers) if headers else setup.server(series).headers
        arguments.append(f"-DROWSOCKET_SERVER_HEADERS={given}")
    if series is not DEFAULT:
        arguments.append("-DROWSOCKET_TESTS=OFF")  # none of them depends on the server
    folder = folder_of(preset, series)
    stamp = folder / "configured-with.txt"
    # A folder that is configured for everything does for the plugin, too.
    enough = [preset] if preset is not Preset.PLUGIN else [Preset.PLUGIN, Preset.RELEASE]
    if not (folder / "build.ninja").is_file() or not any(
        _is_stamped(stamp, one, arguments) for one in enough
    ):
        stamp.unlink(missing_ok=True)
        run_cmake(preset, folder, arguments)
        stamp.write_text(_stamp_text(preset, arguments))
    return folder


def run_cmake(
    preset: Preset,
    folder: Path,
    arguments: Sequence[str],
    *,
    source: Path = ROOT,
    further_environment: Mapping[str, str] | None = None,
) -> None:
    """Run cmake's first phase for a preset of the project in `source`, with `-D...` arguments."""
    run(
        ["cmake", "--preset", preset.value, "-B", folder, "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", *arguments],
        what=f"configuring the {preset} build in {folder.name}",
        cwd=source,
        env={**environment(), **(further_environment or {})},
        log=LOGS / f"configure-{folder.name}.log",
    )


def _stamp_text(preset: Preset, arguments: list[str]) -> str:
    return "\n".join([preset, *arguments, (ROOT / "CMakePresets.json").read_text()])


def _is_stamped(stamp: Path, preset: Preset, arguments: list[str]) -> bool:
    return stamp.is_file() and stamp.read_text() == _stamp_text(preset, arguments)


def plugin(folder: Path) -> Path:
    """The built rowsocket.so of a build folder. Raises `Problem` when the build made none."""
    found = sorted(folder.rglob("rowsocket.so"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise Problem(f"the build in {folder} made no rowsocket.so", "is src/mariadb part of it?")
    return found[-1]
