# SPDX-License-Identifier: GPL-2.0-only
"""Fixtures of all tests: see tests/support/ for what they give.

server     a MariaDB with RowSocket, one for the whole session
original   a MariaDB with the original handlersocket.so, one for the whole session, started when first asked
           for
database   a fresh database on `server`, dropped at the end of the test
raw        raw("read"), raw("write"): a raw connection to `server`, closed at the end of the test
start      start(RowSocketServer, {option: value}): a further server, removed at the end of the test
soak       how often or how long to repeat what is tested, and where to say what was seen (support/soak.py)
"""

from __future__ import annotations

import contextlib
import itertools
import resource
import shutil
import signal
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
DESCRIPTORS = 16_384
for folder in (ROOT / "tests", ROOT / "clients/python/src"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from support.mariadb import (  # noqa: E402
    AnyServer,
    Database,
    MariaDB,
    Options,
    OriginalServer,
    RowSocketServer,
    Start,
)
from support.raw import RawConnection  # noqa: E402
from support.soak import Soak  # noqa: E402
from support.tree import ServerTree, environment_path, initialise  # noqa: E402

_running: weakref.WeakSet[MariaDB] = weakref.WeakSet()
_database_numbers = itertools.count(1)


def pytest_configure(config: pytest.Config) -> None:
    """Markers of this project; and programs that are started here can be interrupted.

    Where the tests run in the background of a script, they ignore SIGINT, and so would their programs.
    """
    config.addinivalue_line("markers", "slow: takes more than 20 seconds")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Some tests hold thousands of connections.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, DESCRIPTORS)), hard))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Show the error logs of the running servers with a failed test."""
    outcome: Any = yield
    report = outcome.get_result()
    if report.failed:
        for server in list(_running):
            if server.folder.exists():
                report.sections.append((f"{type(server).__name__}", server.log_tail()))


@pytest.fixture(scope="session")
def tree() -> ServerTree:
    """The unpacked server that everything runs from."""
    return ServerTree(environment_path("ROWSOCKET_SERVER_TREE"))


@pytest.fixture(scope="session")
def template(tree: ServerTree) -> Iterator[Path]:
    """An initialised data directory, to be copied."""
    folder = Path(tempfile.mkdtemp(prefix="rs-template-", dir="/tmp"))
    try:
        initialise(tree, folder / "data")
        yield folder / "data"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _serve(server: AnyServer, stack: contextlib.ExitStack) -> AnyServer:
    _running.add(server)
    stack.enter_context(server)
    return server


@pytest.fixture(scope="session")
def server(tree: ServerTree, template: Path) -> Iterator[RowSocketServer]:
    """The session's server with RowSocket."""
    with contextlib.ExitStack() as stack:
        yield _serve(RowSocketServer(tree, template), stack)


@pytest.fixture(scope="session")
def original(tree: ServerTree, template: Path) -> Iterator[OriginalServer]:
    """The session's server with the original handlersocket.so."""
    with contextlib.ExitStack() as stack:
        yield _serve(OriginalServer(tree, template), stack)


@pytest.fixture
def start(tree: ServerTree, template: Path) -> Iterator[Start]:
    """start(RowSocketServer, {option: value}): a further server, removed at the end of the test."""
    with contextlib.ExitStack() as stack:

        def start_one(
            kind: type[AnyServer], options: Options | None = None, *, valgrind: Sequence[str] | None = None
        ) -> AnyServer:
            if valgrind is not None and tree.has_own_loader:
                pytest.skip("valgrind does not know the loader of another Debian release")
            return _serve(kind(tree, template, options, valgrind=valgrind), stack)

        yield start_one


@pytest.fixture
def database(server: RowSocketServer) -> Iterator[Database]:
    """A fresh database on the session's server."""
    database = Database(server, f"test_{next(_database_numbers)}")
    yield database
    database.drop()


@pytest.fixture
def raw(server: RowSocketServer, database: Database) -> Iterator[Callable[[str], RawConnection]]:
    """raw("read") and raw("write"): new raw connections to the session's server, closed before the database
    is dropped."""
    with contextlib.ExitStack() as stack:
        yield lambda port: stack.enter_context(server.raw(port))


@pytest.fixture
def soak(request: pytest.FixtureRequest) -> Iterator[Soak]:
    """How often or how long to repeat what is tested; what the test saw goes into the report."""
    soak = Soak(sum("soak" in getattr(item, "fixturenames", ()) for item in request.session.items))
    print(f"seed {soak.seed}")
    yield soak
    request.node.user_properties += soak.report().items()
