# SPDX-License-Identifier: GPL-2.0-only
"""Choosing among Debian versions; dpkg itself says which of two is the newer."""

import re
import subprocess
from collections.abc import Iterable
from functools import cmp_to_key


def is_newer(version: str, other: str) -> bool:
    """Whether dpkg takes `version` for newer than `other`."""
    return subprocess.run(["dpkg", "--compare-versions", version, "gt", other], check=False).returncode == 0


def newest_first(versions: Iterable[str]) -> list[str]:
    """Versions in dpkg's order."""

    def order(version: str, other: str) -> int:
        return is_newer(other, version) - is_newer(version, other)

    return sorted(versions, key=cmp_to_key(order))


def candidates(binaries: Iterable[str], sources: Iterable[str], series: str) -> list[str]:
    """The versions of `series` (such as `10.11`) that exist as binary and as source, newest first."""
    of_series = re.compile(r"(\d+:)?" + re.escape(series) + r"\.")
    return newest_first(version for version in set(binaries) & set(sources) if of_series.match(version))
