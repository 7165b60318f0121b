# SPDX-License-Identifier: GPL-2.0-only
"""The Python packages in `.venv`, in layers: a verb installs those that it needs, when it first does.

A layer is a file of tools/requirements. The script `x` makes the environment with the layer `run`; the others
come on top. A stamp in `.venv` says from which text a layer was installed.
"""

import hashlib
from enum import StrEnum
from pathlib import Path

from rowsocket_x import network
from rowsocket_x.console import step
from rowsocket_x.paths import ROOT, VENV

REQUIREMENTS = ROOT / "tools/requirements"


class Layer(StrEnum):
    """What can be asked for beyond the layer `run`, which is always there."""

    TEST = "test"
    BENCH = "bench"
    CHECK = "check"
    DOCS = "docs"

    @property
    def needs(self) -> tuple["Layer", ...]:
        """The layers that this one stands on."""
        return (Layer.TEST, Layer.BENCH) if self is Layer.CHECK else ()


def require(*layers: Layer) -> None:
    """Install these layers, and those that they stand on, where they are not there in their present form."""
    for layer in layers:
        require(*layer.needs)
        if not _is_current(layer, REQUIREMENTS, VENV):
            _install(layer)


def _is_current(layer: Layer, requirements: Path, venv: Path) -> bool:
    stamp = _stamp(layer, venv)
    return stamp.is_file() and stamp.read_text() == _digest(layer, requirements)


def _install(layer: Layer) -> None:
    if _is_empty(REQUIREMENTS / f"{layer}.txt"):
        return
    pip = [str(VENV / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--retries", "1"]
    options = [
        "--quiet",
        "--no-cache-dir",
        "--no-compile",
        "--no-deps",
        "-r",
        str(REQUIREMENTS / f"{layer}.txt"),
    ]
    with step(f"installing the Python packages of the layer {layer}"):
        network.fetch([*pip, "install", *options], what=f"installing tools/requirements/{layer}.txt")
    _stamp(layer, VENV).write_text(_digest(layer, REQUIREMENTS))


def _is_empty(requirements: Path) -> bool:
    return all(not line.strip() or line.startswith("#") for line in requirements.read_text().splitlines())


def _stamp(layer: Layer, venv: Path) -> Path:
    return venv / f".layer-{layer}"


def _digest(layer: Layer, requirements: Path) -> str:
    return hashlib.sha256((requirements / f"{layer}.txt").read_bytes()).hexdigest()
