# SPDX-License-Identifier: GPL-2.0-only
"""Every block of configuration in the documents starts a server: with the plugin, without it, and with one
that refuses this server, as after an upgrade. Only settings that begin with `loose-` let a server start
without the plugin. So does the file of the Debian packages, with all of its comments as settings.

Ports are free ones instead of those of the documents, and certificates lie in a folder of the test.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.certificates import Authority
from support.mariadb import RowSocketServer
from support.plugin import is_loaded
from support.tree import ServerTree

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("clients/*/*.md")]
CODE_BLOCK = re.compile(r"^ *```ini\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
PORT = re.compile(r"(rowsocket_port_\w+ *= *)\d+")
SETTING = re.compile(r"^ *loose-(rowsocket_\w+) *= *(\S+)", re.MULTILINE)
PACKAGED = ROOT / "packaging/rowsocket.cnf"
CERTIFICATES = "/etc/mysql/tls"
OPTIONS_OF_THE_DOCUMENT = ("rowsocket", "plugin-maturity", "plugin-load-add")


def blocks() -> Iterator[tuple[str, str]]:
    """The name of a file, and a block of a server's configuration in it, with free ports."""
    for page in PAGES:
        for text in CODE_BLOCK.findall(page.read_text()):
            yield page.name, PORT.sub(r"\g<1>0", str(text))
    in_force = re.sub(r"^#(?=loose-)", "", PACKAGED.read_text(), flags=re.MULTILINE)
    yield PACKAGED.name, PORT.sub(r"\g<1>0", in_force)


BLOCKS = list(blocks())


def shown(name: str, value: str) -> str:
    """How the server shows a setting: nobody gets to see a secret, and a switch is a number."""
    return "(set)" if "_secret_" in name else {"ON": "1", "OFF": "0"}.get(value, value)


class ConfiguredTree(ServerTree):
    """An unpacked server that reads a configuration file."""

    def __init__(self, tree: ServerTree, file: Path) -> None:
        super().__init__(tree.root)
        self.file = file

    def arguments(self) -> list[str]:
        return [f"--defaults-file={self.file}", *super().arguments()[1:]]


class ConfiguredServer(RowSocketServer):
    """A server that has everything of RowSocket from its configuration file."""

    def defaults(self) -> dict[str, str | int | None]:
        ours = super().defaults()
        return {
            name: ours[name] for name in ours if not any(word in name for word in OPTIONS_OF_THE_DOCUMENT)
        }

    @property
    def plugin(self) -> Path:
        """The link to rowsocket.so in the folder that the server loads from."""
        return Path(str(self.options["plugin-dir"])) / "rowsocket.so"


@pytest.fixture(params=BLOCKS, ids=[page for page, _ in BLOCKS])
def configuration(request: pytest.FixtureRequest) -> str:
    return str(request.param[1])


@pytest.fixture
def stopped(
    tree: ServerTree, template: Path, tmp_path: Path, configuration: str
) -> Iterator[ConfiguredServer]:
    """A server with the configuration, to be started by the test."""
    file = tmp_path / "my.cnf"
    file.write_text(configuration.replace(CERTIFICATES, str(tmp_path)))
    if CERTIFICATES in configuration:
        Authority(tmp_path, "ca").sign("server")  # ca.pem, server-cert.pem, server-key.pem
    server = ConfiguredServer(ConfiguredTree(tree, file), template)
    if "plugin_load_add" not in configuration:  # of a page for servers that have the plugin
        server.options |= {"plugin-load-add": "rowsocket", "plugin-maturity": "experimental"}
    yield server
    server.remove()


def test_the_pages_that_set_the_plugin_up_have_blocks() -> None:
    assert {
        "operating.md",
        "migrating-from-handlersocket.md",
        "migrating-from-innodb-memcached.md",
        "migrating-from-redis.md",
    } <= {page for page, _ in BLOCKS}


def test_a_block_sets_what_it_says(stopped: ConfiguredServer, configuration: str) -> None:
    stopped.start()
    assert is_loaded(stopped), stopped.log_tail()
    settings = [(name, shown(name, value)) for name, value in SETTING.findall(configuration)]
    assert settings
    assert [(name, str(stopped.value(f"SELECT @@GLOBAL.{name}"))) for name, _ in settings] == settings


def test_the_server_starts_where_the_plugin_is_gone(stopped: ConfiguredServer) -> None:
    stopped.plugin.unlink()
    stopped.start()
    assert not is_loaded(stopped)


def test_the_server_starts_where_the_plugin_refuses_it(stopped: ConfiguredServer) -> None:
    built_for = re.findall(rb"\0(\d+\.\d+\.\d+)-MariaDB", stopped.plugin.read_bytes())
    assert built_for
    data = stopped.plugin.read_bytes()
    stopped.plugin.unlink()
    stopped.plugin.write_bytes(data.replace(built_for[0], b"9.9.9".ljust(len(built_for[0]), b"9")))
    stopped.start()
    assert not is_loaded(stopped)
    assert "built for MariaDB 9.9.9" in stopped.log_text()


EARLIER_FILE = """\
[mariadb]
loose-rowsocket_address = 127.0.0.1
loose-rowsocket_port_read = 0
loose-rowsocket_port_write = 0
loose-rowsocket_anonymous_account = app@localhost
"""


@pytest.mark.parametrize("configuration", [EARLIER_FILE + PACKAGED.read_text()], ids=["behind another"])
def test_what_an_earlier_file_sets_holds_beside_the_packaged_one(stopped: ConfiguredServer) -> None:
    stopped.start()
    assert is_loaded(stopped), stopped.log_tail()
    for name, value in [*SETTING.findall(EARLIER_FILE), ("rowsocket_max_connections", "20000")]:
        assert str(stopped.value(f"SELECT @@GLOBAL.{name}")) == value
