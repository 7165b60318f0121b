# SPDX-License-Identifier: GPL-2.0-only
import re
from pathlib import Path, PurePosixPath

import pytest

from rowsocket_x import fences

FILES = {
    "base/limits.h",
    "request/request.h",
    "wire/handlersocket/handlersocket.h",
    "wire/handlersocket/parser.h",
    "wire/other/other.h",
    "sql_values/fit.h",
    "net/poller.h",
    "engine/engine.h",
    "engine/memory/table.h",
    "engine/conformance/contract.h",
    "exec/executor.h",
    "server/server.h",
    "mariadb/session.h",
    "mariadb/conformance/sql.h",
}


def findings(path: str, *includes: str) -> list[str]:
    text = "// a file\n" + "".join(f"#include {include}\n" for include in includes)
    return fences.findings(PurePosixPath(path), text, lambda name: str(name) in FILES)


@pytest.mark.parametrize(
    ("path", "include"),
    [
        ("wire/handlersocket/parser.cc", '"base/limits.h"'),
        ("wire/handlersocket/parser.cc", '"wire/handlersocket/parser.h"'),
        ("wire/handlersocket/parser.cc", '"request/request.h"'),
        ("request/request.cc", '"base/limits.h"'),
        ("engine/engine.cc", '"request/request.h"'),
        ("exec/executor.cc", '"request/request.h"'),
        ("server/server.cc", '"request/request.h"'),
        ("mariadb/session.cc", '"request/request.h"'),
        ("engine/memory/table.cc", '"engine/engine.h"'),
        ("engine/memory/table.cc", '"sql_values/fit.h"'),
        ("mariadb/session.cc", '"sql_values/fit.h"'),
        ("sql_values/fit.cc", '"request/request.h"'),
        ("exec/executor_test.cc", '"engine/memory/table.h"'),
        ("server/server.cc", '"net/poller.h"'),
        ("net/poller.cc", "<sys/epoll.h>"),
        ("mariadb/session.cc", '"sql_class.h"'),
        ("exec/executor.cc", "<chrono>"),
        ("engine/conformance/seeking.cc", '"engine/conformance/contract.h"'),
        ("engine/conformance/contract.h", '"engine/memory/table.h"'),
        ("mariadb/conformance/server_host.cc", '"engine/conformance/contract.h"'),
        ("mariadb/conformance/server_host.cc", '"engine/memory/table.h"'),
        ("mariadb/conformance/server_host.cc", '"mariadb/session.h"'),
    ],
)
def test_edges_of_the_table_pass(path: str, include: str) -> None:
    assert findings(path, include) == []


@pytest.mark.parametrize(
    ("path", "include", "says"),
    [
        ("base/limits.cc", '"engine/engine.h"', "nothing but itself"),
        ("base/limits.cc", '"request/request.h"', "nothing but itself"),
        ("request/request.cc", '"engine/engine.h"', "request/ may include base/"),
        ("request/request.cc", '"wire/handlersocket/parser.h"', "request/ may include base/"),
        ("net/poller.cc", '"request/request.h"', "net/ may include base/"),
        ("sql_values/fit.cc", '"engine/engine.h"', "sql_values/ may include base/, request/"),
        ("sql_values/fit.cc", '"sql_class.h"', "only src/mariadb"),
        ("exec/executor.cc", '"sql_values/fit.h"', "exec/ may include"),
        ("engine/engine.h", '"sql_values/fit.h"', "words only"),
        ("wire/handlersocket/parser.cc", '"exec/executor.h"', "wire/ may include base/"),
        ("wire/handlersocket/parser.cc", '"wire/other/other.h"', "must not know each other"),
        ("wire/handlersocket/parser.cc", "<sys/socket.h>", "must not know sockets"),
        ("wire/handlersocket/parser.cc", "<chrono>", "threads or the clock"),
        ("net/poller.cc", '"wire/handlersocket/parser.h"', "net/ may include base/"),
        ("exec/executor.cc", '"net/poller.h"', "exec/ may include"),
        ("engine/engine.cc", '"mariadb/session.h"', "engine/ may include"),
        ("server/server.cc", '"mariadb/session.h"', "server/ may include"),
        ("server/server.cc", '"sql_class.h"', "only src/mariadb"),
        ("exec/executor.cc", "<my_global.h>", "only src/mariadb"),
        ("mariadb/plugin.cc", '"wire/handlersocket/handlersocket.h"', "mariadb/ may include"),
        ("mariadb/plugin.cc", "<sys/socket.h>", "must not know sockets"),
        ("mariadb/plugin.cc", '"net/poller.h"', "mariadb/ may include"),
        ("engine/conformance/sql.cc", '"sql_class.h"', "only src/mariadb"),
        ("engine/memory/table.cc", '"engine/conformance/contract.h"', "is tests"),
        ("exec/executor_test.cc", '"engine/conformance/contract.h"', "is tests"),
        ("mariadb/session.cc", '"engine/conformance/contract.h"', "is tests"),
        ("mariadb/session.cc", '"mariadb/conformance/sql.h"', "is tests"),
        ("mariadb/session.cc", '"engine/memory/table.h"', "for tests and fuzzing"),
        ("net/listener.cc", '"poller.h"', "path from src/"),
        ("extra/thing.cc", '"base/limits.h"', "no layer"),
    ],
)
def test_edges_outside_the_table_are_found(path: str, include: str, says: str) -> None:
    (finding,) = findings(path, include) or [""]
    assert says in finding


def test_a_finding_names_the_line() -> None:
    assert findings("base/limits.cc", "<vector>", '"net/poller.h"')[0].startswith("src/base/limits.cc:3: ")


def layers_of_the_document() -> dict[str, set[str]]:
    """What the rows of ARCHITECTURE.md allow the layers; rows of folders in a layer count together."""
    text = (Path(__file__).parents[2] / "ARCHITECTURE.md").read_text(encoding="utf-8")
    layers: dict[str, set[str]] = {}
    for layer, cell in re.findall(r"^\| `src/(\w+)[^|]*\|[^|]*\| ([^|]+) \|$", text, re.MULTILINE):
        words, _, exceptions = cell.partition(" but ")
        named = set(layers) if words == "all above" else set(words.split(", "))
        layers.setdefault(layer, set()).update(named - set(exceptions.split(", ")) - {"std", layer})
    return layers


def test_the_table_of_directories_says_what_is_checked() -> None:
    assert layers_of_the_document() == {layer: set(allowed) for layer, allowed in fences.LAYERS.items()}
