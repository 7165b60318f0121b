# SPDX-License-Identifier: GPL-2.0-only
"""`./x build`: configure and build one of the presets of CMakePresets.json, each in its own folder under build/."""

import os
import platform
import subprocess
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path

from rowsocket_x import server_headers, setup
from rowsocket_x.console import Problem, run, step
from rowsocket_x.paths import BUILD, LOGS, ROOT, STATE


class Preset(StrEnum):
    """The ways to build; see CMakePresets.json for what each means."""

    RELEASE = "release"
    DEBUG = "debug"
    TSAN = "tsan"
    FUZZ = "fuzz"
    NO_SERVER = "no-server"

    @property
    def needs_server(self) -> bool:
        """Whether the build includes the plugin, and so the server's headers."""
        return self is Preset.RELEASE


def environment() -> Mapping[str, str]:
    """The environment for compilers: their cache stays in the project folder unless the user has one elsewhere."""
    return {"CCACHE_DIR": str(STATE / "ccache"), **os.environ}


def folder_of(preset: Preset) -> Path:
    """Where a preset is built."""
    return BUILD / preset


def without_address_randomisation(preset: Preset) -> list[str]:
    """What to put before a command that runs programs of a preset.

    ThreadSanitizer of this compiler cannot place its memory where the kernel randomises addresses widely, so that is turned off.
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
def build(preset: Preset, *, headers: Path | None = None) -> Path:
    """Build a preset, setting up what it needs, and return its folder. Raises `Problem` with the compiler's output.

    Within one run of `./x` each preset is built once.
    """
    if preset.needs_server and headers is None:
        headers = setup.everything().headers
    else:
        setup.packages()
        headers = server_headers.adopt(headers) if headers else None
    folder = folder_of(preset)
    arguments = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
    if preset.needs_server:
        arguments.append(f"-DROWSOCKET_SERVER_HEADERS={headers}")
    with step(f"building {preset}"):
        _configure(preset, folder, arguments)
        run(
            [
                *without_address_randomisation(preset),
                "cmake",
                "--build",
                folder,
            ],  # the build asks its test programs for their tests
            what=f"the {preset} build",
            cwd=ROOT,
            env=environment(),
            log=LOGS / f"build-{preset}.log",
        )
    return folder


def _configure(preset: Preset, folder: Path, arguments: list[str]) -> None:
    """Run cmake's first phase when it never ran with these arguments; later changes are ninja's business."""
    stamp = folder / "configured-with.txt"
    wanted = "\n".join([*arguments, (ROOT / "CMakePresets.json").read_text()])
    if (folder / "build.ninja").is_file() and stamp.is_file() and stamp.read_text() == wanted:
        return
    command = ["cmake", "--preset", preset.value, *arguments]
    run(command, what=f"configuring the {preset} build", cwd=ROOT, env=environment(), log=LOGS / f"configure-{preset}.log")
    stamp.write_text(wanted)


def plugin(folder: Path) -> Path:
    """The built rowsocket.so of a build folder. Raises `Problem` when the build made none."""
    found = sorted(folder.rglob("rowsocket.so"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise Problem(f"the build in {folder} made no rowsocket.so", "is src/mariadb part of it?")
    return found[-1]
