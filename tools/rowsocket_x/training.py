# SPDX-License-Identifier: GPL-2.0-only
"""The plugin as it is shipped: compiled by what typical requests run, and as one program.

1. A build of the plugin counts how often each branch is taken (ROWSOCKET_TRAINING=count).
2. A private server with it serves typical requests, those of `training_load`.
3. The same folder is built anew, by those counts (ROWSOCKET_TRAINING=use).

What typical requests do not run is compiled to be small. All of it does the same as the build of `./x build`.
"""

import hashlib
import shutil
import tempfile
from pathlib import Path

from rowsocket_x import build, setup, training_load
from rowsocket_x.build import Preset
from rowsocket_x.console import Problem, run, step
from rowsocket_x.instance import Instance, free_port
from rowsocket_x.paths import LOGS, ROOT
from rowsocket_x.server_series import DEFAULT, Series

_OF_THE_BUILD = ("CMakeLists.txt", "CMakePresets.json", "cmake", "src", "tools/rowsocket_x/training_load.py")


def trained(series: Series = DEFAULT) -> Path:
    """Build the plugin for the server that set-up fetched; its folder. Raises `Problem`.

    A folder that was made of the same sources for the same server is taken as it is.
    """
    setup.packages(*Preset.TRAINED.packages)
    server = setup.server(series)
    folder = build.folder_of(Preset.TRAINED, series)
    made_of = folder / "made-of.txt"
    digest = _digest(server.headers)
    if made_of.is_file() and made_of.read_text() == digest:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    compile_plugin(folder, server.headers, "count")
    with step("serving typical requests, whose way is counted"):
        _train(folder, server.tree)
    compile_plugin(folder, server.headers, "use")
    made_of.write_text(digest)
    return folder


def trained_like(other: Path, folder: Path, headers: Path) -> None:
    """Build the plugin for another point release, by the counts of the trained folder `other`."""
    shutil.rmtree(folder, ignore_errors=True)
    for counts in other.rglob("*.gcda"):
        place = folder / counts.relative_to(other)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(counts, place)
    compile_plugin(folder, headers, "use")


def compile_plugin(folder: Path, headers: Path, training: str) -> None:
    """Compile the plugin and the one that chooses among builds, with `training` as ROWSOCKET_TRAINING."""
    settings = {"SERVER_HEADERS": headers, "CHOOSER": "ON", "TRAINING": training}
    options = [f"-DROWSOCKET_{name}={value}" for name, value in settings.items()]
    purpose = "that counts what runs" if training == "count" else "by those counts"
    with step(f"building the plugin in {folder.name}, {purpose}"):
        build.run_cmake(Preset.TRAINED, folder, options)
        run(
            ["cmake", "--build", folder, "--target", "rowsocket", "rowsocket_chooser"],
            what=f"the build in {folder.name}",
            cwd=ROOT,
            env=build.environment(),
            log=LOGS / f"build-{folder.name}.log",
        )


def _train(folder: Path, tree: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="rowsocket-", dir="/tmp") as place:
        with Instance(tree, Path(place) / "server") as server:
            server.initialise()
            server.start(free_port(), build.plugin(folder), training_load.OPTIONS)
            training_load.serve(server)
        if not any(folder.rglob("*.gcda")):
            said = [f"| {line}" for line in server.log_tail().splitlines()]
            raise Problem("the server ended without counts of what ran", *said)


def _digest(headers: Path) -> str:
    """Of all that a trained plugin is made of."""
    digest = hashlib.sha256(str(headers).encode())
    for name in _OF_THE_BUILD:
        path = ROOT / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
