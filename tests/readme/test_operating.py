# SPDX-License-Identifier: GPL-2.0-only
"""docs/operating.md: what installs a plugin without packages leaves a running server alone.

Writing over a file that is mapped changes the code that runs: the server would end.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.mariadb import RowSocketServer, Start
from support.plugin import is_loaded, make_table, opened

ROOT = Path(__file__).resolve().parents[2]
OPERATING = (ROOT / "docs/operating.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]
BLOCK = re.compile(r"^ *```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
BUILT = "build/trained/src/mariadb/rowsocket.so"


class ServerWithFile(RowSocketServer):
    """A server that loads a file of its own, which may be changed."""

    def plugin_folder(self) -> str:
        folder = Path(super().plugin_folder())
        plugin = folder / "rowsocket.so"
        built = plugin.resolve()
        plugin.unlink()
        shutil.copy(built, plugin)
        return str(folder)


def install(folder: Path, plugins: Path) -> None:
    """What the page says, in a folder with a build, of a server with that folder of plugins."""
    [script] = [text for text in BLOCK.findall(OPERATING) if "install -m" in text]
    asking = f"mariadb() {{ echo '{plugins}'; }}\n"
    subprocess.run(["bash", "-euc", asking + script], cwd=folder, check=True)


def test_a_plugin_that_is_installed_beside_a_running_server_leaves_it_alone(
    start: Start, tmp_path: Path
) -> None:
    server = start(ServerWithFile)
    make_table(server)
    plugin = Path(str(server.options["plugin-dir"])) / "rowsocket.so"
    newer = tmp_path / BUILT
    newer.parent.mkdir(parents=True)
    newer.write_bytes(plugin.read_bytes() + b"newer")
    before = plugin.stat().st_ino
    install(tmp_path, plugin.parent)
    assert plugin.read_bytes() == newer.read_bytes()
    assert plugin.stat().st_ino != before
    assert plugin.stat().st_mode & 0o777 == 0o644
    with server.raw("read") as client:
        assert opened(client).ask(b"1\t=\t1\t2") == b"0\t2\t2\ttwo"
    server.restart()
    assert is_loaded(server)


def test_the_server_tells_the_folder_as_the_page_asks(server: RowSocketServer) -> None:
    [query] = re.findall(r"plugins=\$\(mariadb .*--execute '(.*)'\)", OPERATING)
    assert str(server.value(query)).rstrip("/") == str(server.options["plugin-dir"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_writes_over_a_plugin(page: Path) -> None:
    text = page.read_text()
    assert re.findall(r"^ *(?:sudo )?cp .*\.so\b.*$", text, re.MULTILINE) == []
    assert re.findall(r"^.*\bCopy `rowsocket\.so`.*$", text, re.MULTILINE) == []
