# SPDX-License-Identifier: GPL-2.0-only
"""The library that packages install as rowsocket.so: it picks the build for the running server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pymysql
import pytest

from support.mariadb import RowSocketServer
from support.plugin import is_loaded, make_table, opened
from support.schema_tables import of_table, seen
from support.tree import ServerTree, environment_path


class PackagedServer(RowSocketServer):
    """A server with the plugins of a package: the chooser, and a folder of builds."""

    def plugin_folder(self) -> str:
        folder = Path(super().plugin_folder())
        (folder / "rowsocket.so").unlink()
        (folder / "rowsocket.so").symlink_to(
            environment_path("ROWSOCKET_PLUGIN_DIR") / "chooser/rowsocket_chooser.so"
        )
        self.builds = folder / "rowsocket"
        self.builds.mkdir()
        return str(folder)

    def add_build(self) -> Path:
        """Put the build for this server where the chooser looks for it."""
        release = self.tree.version().partition("-")[0]
        build = self.builds / f"{release}.so"
        build.symlink_to(environment_path("ROWSOCKET_PLUGIN_DIR") / "rowsocket.so")
        return build

    def maps_a_build(self) -> bool:
        """Whether a build is in the memory of the server."""
        assert self.process is not None
        return "/rowsocket.so" in Path(f"/proc/{self.process.pid}/maps").read_text()


@pytest.fixture
def stopped(tree: ServerTree, template: Path) -> Iterator[PackagedServer]:
    server = PackagedServer(tree, template)
    yield server
    server.remove()


def test_the_build_for_the_server_is_the_plugin(stopped: PackagedServer) -> None:
    stopped.add_build()
    stopped.start()
    make_table(stopped)
    stopped.sql("CREATE USER ann@localhost IDENTIFIED BY 'secret'")
    stopped.sql("GRANT SELECT ON app.* TO ann@localhost")
    with stopped.raw("read") as client:
        assert client.ask(b"A\t2\tann\tsecret") == b"0\t1"  # needs services of the server
        assert opened(client).ask(b"1\t=\t1\t1") == b"0\t2\t1\tone"
    assert stopped.value("SELECT @@rowsocket_max_in_values") == 10000
    assert (
        stopped.value("SELECT plugin_type FROM information_schema.plugins WHERE plugin_name = 'rowsocket'")
        == "DAEMON"
    )


def test_of_several_builds_the_one_for_the_server_is_taken(stopped: PackagedServer) -> None:
    """Those for other releases, whose names begin or end as its own does, are not even opened."""
    release = stopped.add_build().stem
    for other in (release[:-1], f"{release}0", f"1{release}", "10.11.1", "99.9.9"):
        (stopped.builds / f"{other}.so").write_bytes(b"a build for another server")
    stopped.start()
    assert is_loaded(stopped)
    assert stopped.maps_a_build()
    assert "does not load" not in stopped.log_text()


def test_the_build_comes_and_goes_with_the_plugin(stopped: PackagedServer) -> None:
    stopped.add_build()
    stopped.start()
    make_table(stopped)
    for _ in range(3):
        stopped.sql("UNINSTALL SONAME 'rowsocket'")
        assert not stopped.maps_a_build()
        stopped.sql("INSTALL SONAME 'rowsocket'")
        with stopped.raw("read") as client:
            assert opened(client).ask(b"1\t=\t1\t1") == b"0\t2\t1\tone"


def test_the_tables_of_information_schema_come_with_the_build(stopped: PackagedServer) -> None:
    stopped.add_build()
    stopped.start()
    make_table(stopped)
    with stopped.raw("read") as client:
        assert opened(client).ask(b"1\t=\t1\t1") == b"0\t2\t1\tone"
        assert len(seen(stopped, "CONNECTIONS")) == 1
        assert of_table(stopped, "app", "t")["FINDS"] == 1
    stopped.sql("FLUSH ROWSOCKET_TABLES")
    assert seen(stopped, "TABLES") == []


def test_without_a_build_for_the_server_the_log_says_so_and_the_server_starts(
    stopped: PackagedServer,
) -> None:
    (stopped.builds / "10.11.1.so").write_bytes(b"")
    stopped.start()
    assert not is_loaded(stopped)
    [line] = [line for line in stopped.log_text().splitlines() if "[ERROR] rowsocket:" in line]
    assert "there is no build for MariaDB" in line
    assert "there is: 10.11.1" in line
    with pytest.raises(pymysql.err.MySQLError, match="there is no build for MariaDB"):
        stopped.sql("INSTALL SONAME 'rowsocket'")


def test_a_build_that_does_not_load_is_told_and_the_server_starts(stopped: PackagedServer) -> None:
    build = stopped.add_build()
    build.unlink()
    build.write_bytes(b"no library")
    stopped.start()
    assert not is_loaded(stopped)
    assert "does not load" in stopped.log_text()


def test_a_build_for_another_server_under_this_ones_name_is_refused(stopped: PackagedServer) -> None:
    build = stopped.add_build()
    data = build.read_bytes()
    version = build.stem.encode()
    build.unlink()
    build.write_bytes(data.replace(version + b"-", version[:-1] + bytes([version[-1] ^ 1]) + b"-"))
    stopped.start()
    assert not is_loaded(stopped)
    assert "built for MariaDB" in stopped.log_text()
