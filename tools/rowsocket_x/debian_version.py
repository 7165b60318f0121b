# SPDX-License-Identifier: GPL-2.0-only
"""Debian version numbers in their order, and the choice among them.

The rules are those of deb-version(7): epoch, upstream version, revision; each compared in turn as runs of non-digits and digits,
where `~` sorts before everything, even the end, and letters sort before other characters.
"""

import re
from collections.abc import Iterable
from functools import cmp_to_key


def _order(character: str) -> int:
    if character == "~":
        return -1
    return ord(character) if character.isalpha() else ord(character) + 256


def _compare_text(left: str, right: str) -> int:
    for position in range(max(len(left), len(right))):
        a = _order(left[position]) if position < len(left) else 0
        b = _order(right[position]) if position < len(right) else 0
        if a != b:
            return -1 if a < b else 1
    return 0


def _compare_part(left: str, right: str) -> int:
    a, b = re.findall(r"(\D*)(\d*)", left), re.findall(r"(\D*)(\d*)", right)
    for position in range(max(len(a), len(b))):
        a_text, a_digits = a[position] if position < len(a) else ("", "")
        b_text, b_digits = b[position] if position < len(b) else ("", "")
        order = _compare_text(a_text, b_text) or (int(a_digits or 0) - int(b_digits or 0))
        if order:
            return -1 if order < 0 else 1
    return 0


def split(version: str) -> tuple[int, str, str]:
    """Epoch, upstream version and revision of a Debian version."""
    epoch, colon, rest = version.partition(":")
    if not colon:
        epoch, rest = "0", version
    upstream, dash, revision = rest.rpartition("-")
    return int(epoch), (upstream if dash else rest), (revision if dash else "0")


def compare(left: str, right: str) -> int:
    """Negative, zero or positive as `left` is older than, as old as, or newer than `right`."""
    a, b = split(left), split(right)
    return (a[0] - b[0]) or _compare_part(a[1], b[1]) or _compare_part(a[2], b[2])


def candidates(binaries: Iterable[str], sources: Iterable[str], series: str) -> list[str]:
    """The versions of `series` (such as `10.11`) that exist as binary and as source, newest first."""
    both = {version for version in set(binaries) & set(sources) if split(version)[1].startswith(series + ".")}
    return sorted(both, key=cmp_to_key(compare), reverse=True)


def newest_by_name(versions: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The newest version of each name."""
    newest: dict[str, str] = {}
    for name, version in versions:
        if name not in newest or compare(version, newest[name]) > 0:
            newest[name] = version
    return newest
