# SPDX-License-Identifier: GPL-2.0-only
"""`./x bench` and `./x profile`: set up and build what the harness (bench/harness) needs, and hand over to it."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from rowsocket_x import build, peers_fetch, server_fetch
from rowsocket_x.console import run, step
from rowsocket_x.instance import stop_with_parent
from rowsocket_x.paths import BUILD, LOGS, ROOT, VENV

FLOOR_BUILD = BUILD / "handler-floor"


def harness(words: Sequence[str]) -> bool:
    """Run the harness with everything built; whether it went well."""
    environment = {
        **build.environment(),
        **variables(build.build(build.Preset.RELEASE)),
        "ROWSOCKET_FLOOR_PLUGIN": str(_handler_floor()),
        "ROWSOCKET_PEERS_TREE": str(peers_fetch.fetch()),
    }
    return _run(words, environment)


def against(words: Sequence[str]) -> bool:
    """Compare this tree's build with another one. Nothing but the plugin and the generator is needed."""
    return _run(["against", *words], {**build.environment(), **variables(build.build(build.Preset.RELEASE))})


def compare(first: Path, second: Path) -> bool:
    """Compare two result folders, for which nothing needs to be built."""
    return _run(["compare", str(first), str(second)], dict(build.environment()))


def variables(built: Path) -> dict[str, str]:
    """What bench/harness/environment.py reads, without the peers that have to be fetched."""
    return {
        "ROWSOCKET_SERVER_TREE": str(server_fetch.require().tree),
        "ROWSOCKET_PLUGIN_DIR": str(build.plugin(built).parent),
        "ROWSOCKET_BENCH_DIR": str(built / "bench"),
    }


def _run(words: Sequence[str], environment: dict[str, str]) -> bool:
    process = subprocess.Popen(
        [VENV / "bin/python", "-m", "bench.harness", *words], cwd=ROOT, env=environment, preexec_fn=stop_with_parent
    )
    while True:
        try:
            return process.wait() == 0
        except KeyboardInterrupt:
            continue  # the harness got it too, and stops its servers


def _handler_floor() -> Path:
    """The plugin that measures lookups inside the server: in a build of its own, as it is part of no release."""
    with step("building the handler floor"):
        if not (FLOOR_BUILD / "build.ninja").is_file():
            command: list[str | Path] = [
                "cmake",
                "--preset",
                "release",
                "-B",
                FLOOR_BUILD,
                "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache",
            ]
            command += [f"-DROWSOCKET_SERVER_HEADERS={server_fetch.require().headers}", "-DROWSOCKET_HANDLER_FLOOR=ON"]
            log = LOGS / "configure-floor.log"
            run(command, what="configuring the handler floor", cwd=ROOT, env=build.environment(), log=log)
        command = ["cmake", "--build", FLOOR_BUILD, "--target", "rowsocket_handler_floor"]
        run(command, what="the build of the handler floor", cwd=ROOT, env=build.environment(), log=LOGS / "build-floor.log")
    return next(FLOOR_BUILD.rglob("rowsocket_handler_floor.so"))
