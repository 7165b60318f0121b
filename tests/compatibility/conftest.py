# SPDX-License-Identifier: GPL-2.0-only
"""Clients that nobody here wrote, built from their own sources in temporary folders."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from support.commands import run
from support.node_programs import install
from support.tree import environment_path

# libhsclient wants three headers of the server's build, of which it uses nothing but this.
STUB_HEADERS = {
    "my_global.h": "#include <fcntl.h>\n#include <netdb.h>\n#include <sys/socket.h>\n#define"
    " SOCKET_SIZE_TYPE socklen_t\n",
    "my_alloca.h": "#include <alloca.h>\n",
    "config.h": "",
}


@pytest.fixture(scope="session")
def handler_socket(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the original plugin's source, with libhsclient built in it."""
    source = environment_path("ROWSOCKET_SOURCE_TREE") / "plugin/handler_socket"
    assert source.is_dir(), (
        f"{source} is missing: ROWSOCKET_SOURCE_TREE names no source with the original plugin"
    )
    folder = tmp_path_factory.mktemp("original") / "handler_socket"
    shutil.copytree(source, folder)
    stubs = folder / "stubs"
    stubs.mkdir()
    for name, text in STUB_HEADERS.items():
        (stubs / name).write_text(text)
    library = folder / "libhsclient"
    sources = sorted(path.name for path in library.glob("*.cpp"))
    run(["g++", "-std=c++17", "-O1", "-fPIC", "-w", f"-I{stubs}", "-c", *sources], library)
    run(["ar", "rcs", "libhsclient.a", *(name.replace(".cpp", ".o") for name in sources)], library)
    return folder


@pytest.fixture(scope="session")
def perl_module(handler_socket: Path) -> Path:
    """The built Perl module Net::HandlerSocket: its blib folder."""
    folder = handler_socket / "perl-Net-HandlerSocket"
    if (
        subprocess.run(
            ["perl", "-MConfig", "-e", 'exit !-e "$Config{archlibexp}/CORE/perl.h"'], check=False
        ).returncode
        != 0
    ):
        pytest.skip("perl.h is not there: apt-get install libperl-dev")
    if (
        subprocess.run(
            ["perl", "-MDBI", "-MDBD::MariaDB", "-e1"], stderr=subprocess.DEVNULL, check=False
        ).returncode
        != 0
    ):
        pytest.skip("the Perl DBI is not there: apt-get install libdbi-perl libdbd-mariadb-perl")
    shutil.copy(folder / "Makefile.PL.installed", folder / "Makefile.PL")
    options = ["CC=g++ -fPIC -w", "LD=g++ -fPIC", "LIBS=-L../libhsclient -lhsclient", "OPTIMIZE=-O1"]
    run(["perl", "Makefile.PL", *options, f"INC=-I. -I../libhsclient -I{handler_socket / 'stubs'}"], folder)
    run(["make"], folder)
    return folder / "blib"


@pytest.fixture(scope="session")
def node_client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `require('node-handlersocket')` finds version 0.1.0 of it, from the npm registry."""
    return install(tmp_path_factory.mktemp("node"), "node-handlersocket@0.1.0")
