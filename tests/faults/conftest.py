# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.commands import run


@pytest.fixture(scope="session")
def fault_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """fault.c, compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    library = tmp_path_factory.mktemp("fault") / "fault.so"
    run([compiler, "-shared", "-fPIC", "-O1", "-o", library, Path(__file__).with_name("fault.c"), "-ldl"])
    return library


@pytest.fixture
def fault(fault_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that says what fails in the servers started from now on: see fault.c. Unlink it to mend."""
    control = tmp_path / "fault"
    monkeypatch.setenv("LD_PRELOAD", str(fault_library))
    monkeypatch.setenv("ROWSOCKET_TEST_FAULT", str(control))
    return control
