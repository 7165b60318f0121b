# SPDX-License-Identifier: GPL-2.0-only
"""`./x bench` and `./x profile`: set up and build what bench/harness needs, and hand over to it."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from rowsocket_x import build, peers_fetch, python_layers, server_fetch, training
from rowsocket_x.instance import WITH_PARENT
from rowsocket_x.paths import ROOT, VENV
from rowsocket_x.python_layers import Layer
from rowsocket_x.server_series import DEFAULT, Series


def harness(words: Sequence[str]) -> bool:
    """Run the harness with everything built, and the plugin as it is shipped; whether it went well."""
    shipped = {"ROWSOCKET_PLUGIN_DIR": str(build.plugin(training.trained()).parent)}
    return _run(words, {**build.environment(), **variables(build.build(build.Preset.RELEASE)), **shipped})


def against(words: Sequence[str]) -> bool:
    """Compare this tree's build with another one. Nothing but the plugin and the generator is needed.

    It is the plain build of `./x build`: a trained one also differs by what its training met.
    """
    return _run(["against", *words], {**build.environment(), **variables(build.build(build.Preset.RELEASE))})


def compare(first: Path, second: Path) -> bool:
    """Compare two result folders, for which nothing needs to be built."""
    return _run(["compare", str(first), str(second)], dict(build.environment()))


def variables(built: Path, series: Series = DEFAULT) -> dict[str, str]:
    """What bench/harness/environment.py reads; fetches the peers where they are not there yet."""
    return {
        "ROWSOCKET_SERVER_TREE": str(server_fetch.require(series).tree),
        "ROWSOCKET_PLUGIN_DIR": str(build.plugin(built).parent),
        "ROWSOCKET_BENCH_DIR": str(built / "bench"),
        "ROWSOCKET_FLOOR_PLUGIN": str(built / "src/mariadb/handler_floor/rowsocket_handler_floor.so"),
        "ROWSOCKET_PEERS_TREE": str(peers_fetch.fetch()),
    }


def _run(words: Sequence[str], environment: dict[str, str]) -> bool:
    python_layers.require(Layer.BENCH)
    command = [*WITH_PARENT, str(VENV / "bin/python"), "-m", "bench.harness", *words]
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    while True:
        try:
            return process.wait() == 0
        except KeyboardInterrupt:
            continue  # the harness got it too, and stops its servers
