# SPDX-License-Identifier: GPL-2.0-only
"""Says so at once, and in the first line, when the network is the reason why something cannot be fetched.

apt, pip and npm try again for a long time and then name a package or a mirror. So a machine that has no way
out at all is told before anything is tried, and the output of a failed download is read for the words of the
network.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from rowsocket_x.console import Problem, run

_TROUBLE = re.compile(
    r"failure resolving|could not resolve '|name resolution|name or service not known|is unreachable"
    r"|could not connect|connection (refused|failed|timed out)|connect timeout|NewConnectionError"
    r"|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ENETUNREACH",
    re.IGNORECASE,
)
_HINTS = (
    "the package mirrors are those of this machine's /etc/apt, the Python packages come from pip's index",
    "a proxy is named in http_proxy and https_proxy, for apt also in /etc/apt/apt.conf.d",
)


class NetworkProblem(Problem):
    """The network is absent, or does not answer: another version or another mirror would not help."""


def is_absent(proc: Path = Path("/proc"), environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this machine has no way out at all: no route but its loopback's, and no proxy.

    The script `x` asks the same before there is a Python.
    """
    if any(name.lower().endswith("_proxy") and value for name, value in environment.items()):
        return False
    four = _lines(proc / "net/route")[1:]  # the first line is a heading
    six = [line for line in _lines(proc / "net/ipv6_route") if not line.endswith(" lo")]
    return not four and not six


def require(purpose: str) -> None:
    """Raise `NetworkProblem` when there is no network at all. `purpose` says what would be fetched."""
    if is_absent():
        raise NetworkProblem(f"no network: {purpose} needs it", *_HINTS[1:])


def names_trouble(output: str) -> bool:
    """Whether the output of apt, pip or npm says that the network failed them."""
    return _TROUBLE.search(output) is not None


def fetch(
    command: Sequence[str | Path],
    *,
    what: str,
    hints: Sequence[str] = (),
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """Run a command that downloads, and return its output.

    Raises `NetworkProblem` when it says that the network failed it, and else `Problem`.
    """
    require(what)
    try:
        return run(command, what=what, hints=hints, cwd=cwd, env=env)
    except Problem as problem:
        if names_trouble("\n".join(problem.hints)):
            raise NetworkProblem(
                f"the network does not answer: {problem.what}", *problem.hints, *_HINTS
            ) from None
        raise


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
