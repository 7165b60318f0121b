# SPDX-License-Identifier: GPL-2.0-only
"""The dependency rule of src/ as a check on its `#include` lines (the table is in ARCHITECTURE.md).

Arrows go downward only. Protocols do not know each other. Only src/mariadb sees the server's headers. A layer
does not include what it must not know: sockets, threads, the clock. Pure: text in, findings out;
each finding says how to mend it.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

# Which layers a layer may include, besides itself.
LAYERS: Mapping[str, tuple[str, ...]] = {
    "base": (),
    "request": ("base",),
    "sql_values": ("base", "request"),
    "wire": ("base", "request"),
    "net": ("base",),
    "tls": ("base", "net"),
    "engine": ("base", "request", "sql_values"),
    "exec": ("base", "request", "engine"),
    "server": ("base", "request", "wire", "net", "tls", "engine", "exec"),
    "mariadb": ("base", "request", "sql_values", "tls", "engine", "exec", "server"),
}

# Tests that are no *_test.cc, each with the one other folder that may include them: the suite that states the
# contract of engine.h, and the plugin that runs it inside a server.
_TESTS = PurePosixPath("engine/conformance")
_RUNNER_OF_TESTS = PurePosixPath("mariadb/conformance")

_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
_SOCKET_HEADER = re.compile(
    r"^(sys/(socket|epoll|un|select|eventfd)\.h|netinet/.*|arpa/.*|netdb\.h|poll\.h|openssl/.*)$"
)
_THREAD_OR_CLOCK_HEADER = re.compile(
    r"^(thread|mutex|shared_mutex|condition_variable|future|chrono|ctime|pthread\.h|time\.h)$"
)
_SERVER_HEADER = re.compile(
    r"^(my_.*\.h|mysql.*|mariadb.*|sql_.*\.h|wsrep.*|handler\.h|table\.h|field\.h|item.*\.h|log\.h|lock\.h)$"
)

_SOCKET_LAYERS = ("net", "tls", "server")


def findings(path: PurePosixPath, text: str, exists: Callable[[PurePosixPath], bool]) -> list[str]:
    """What is wrong with the includes of a file.

    `path` is relative to src/, `exists` tells whether such a path is there.
    """
    layer = path.parts[0]
    if layer not in LAYERS:
        known = ", ".join(LAYERS)
        return [
            f"src/{path}: {layer}/ is no layer; put it into one of {known}, or add it to the table in tools"
        ]
    found = []
    for match in _INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(2)) + 1
        complaint = _complaint(layer, path, match[1] == '"', match[2], exists)
        if complaint:
            found.append(f"src/{path}:{line}: {complaint}")
    return found


def _complaint(
    layer: str, path: PurePosixPath, quoted: bool, include: str, exists: Callable[[PurePosixPath], bool]
) -> str | None:
    target = PurePosixPath(include)
    if quoted and target.parts[0] in LAYERS and exists(target):
        return _edge_complaint(layer, path, target)
    if quoted and exists(path.parent / target):
        return f'write the include with its path from src/: #include "{path.parent / target}"'
    if _SOCKET_HEADER.match(include) and layer not in _SOCKET_LAYERS:
        return f"{layer}/ must not know sockets (<{include}>); net/ does, and server/ beside it"
    if layer == "mariadb":
        return None
    if quoted or _SERVER_HEADER.match(include):
        return (
            f"{include} is not of this project; only src/mariadb may include the server's headers. Move "
            f"what needs it there"
        )
    if _THREAD_OR_CLOCK_HEADER.match(include) and layer == "wire":
        return f"wire/ is pure functions over buffers and must not know threads or the clock (<{include}>)"
    return None


def _edge_complaint(layer: str, path: PurePosixPath, target: PurePosixPath) -> str | None:
    other = target.parts[0]
    for tests in (_TESTS, _RUNNER_OF_TESTS):
        if target.is_relative_to(tests) and not any(
            path.is_relative_to(folder) for folder in (tests, _RUNNER_OF_TESTS)
        ):
            return f"{tests}/ is tests; what others need of it belongs elsewhere"
    if layer == "mariadb" and target.is_relative_to("engine/memory") and path.parent != _RUNNER_OF_TESTS:
        return "engine/memory/ is for tests and fuzzing; the plugin must not know it"
    if layer == "engine" and other == "sql_values" and not path.is_relative_to("engine/memory"):
        return "engine.h has words only; what SQL makes of a value is for the engines behind it"
    if layer == "wire" and other == "wire" and path.parts[1] != target.parts[1]:
        return (
            f"the protocols {path.parts[1]} and {target.parts[1]} must not know each other; move what they "
            f"share into base/ or request/"
        )
    if other == layer or other in LAYERS[layer]:
        return None
    allowed = ", ".join(f"{name}/" for name in LAYERS[layer]) or "nothing but itself"
    return (
        f"{layer}/ may include {allowed}, not {target}; put an interface into a lower layer, or move the code"
    )
