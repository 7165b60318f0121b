# SPDX-License-Identifier: GPL-2.0-only
from pathlib import PurePosixPath

from rowsocket_x import tidy

TEXTS = {
    "src/net/poller.cc": '#include "net/poller.h"\n',
    "src/net/listener.cc": '#include "base/error.h"\n',
    "src/exec/walk.cc": '#include "exec/walk.h"\n#include "base/error.h"\n',
}


def touched_by(*changed: str) -> list[str]:
    return tidy.touched(list(TEXTS), [PurePosixPath(name) for name in changed], TEXTS.__getitem__)


def test_a_changed_source_is_looked_at() -> None:
    assert touched_by("src/net/listener.cc", "README.md") == ["src/net/listener.cc"]


def test_a_changed_header_touches_who_includes_it() -> None:
    assert touched_by("src/base/error.h") == ["src/net/listener.cc", "src/exec/walk.cc"]
    assert touched_by("src/exec/walk.h", "bench/walk.h") == ["src/exec/walk.cc"]
