# SPDX-License-Identifier: MIT
"""The command without a package that it needs."""

from __future__ import annotations

import os
import subprocess
import sys

WITHOUT_PROMPT_TOOLKIT = """
import sys
sys.modules["prompt_toolkit"] = None
sys.argv = ["rowsocket"]
from rowsocket import cli
cli.main()
"""


def test_the_shell_without_its_package_says_what_is_missing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PROMPT_TOOLKIT],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 2
    assert "prompt_toolkit" in done.stderr
    assert "Traceback" not in done.stderr
