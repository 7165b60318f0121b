# SPDX-License-Identifier: GPL-2.0-only
import tarfile
from pathlib import Path

import pytest

from rowsocket_x import server_headers
from rowsocket_x.console import Problem

PATCH = """\
Description: one file of ours, one that is not unpacked
--- a/sql/item.h
+++ b/sql/item.h
@@ -1 +1 @@
-int old_item;
+int new_item;
--- a/client/mysql.cc
+++ b/client/mysql.cc
@@ -1 +1 @@
-int a;
+int b;
"""


def pack(archive: Path, files: dict[str, str]) -> None:
    folder = archive.with_suffix("")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with tarfile.open(archive, "w:gz") as tar:
        for name in {Path(name).parts[0] for name in files}:
            tar.add(folder / name, arcname=name)


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    folder = tmp_path / "downloads"
    folder.mkdir()
    names = ["include/my_global.h", "include/probes_mysql_nodtrace.h.in", "sql/item.h", "sql/item.cc"]
    names += [
        "wsrep-lib/include/wsrep/key.hpp",
        "wsrep-lib/wsrep-API/v26/wsrep_api.h",
        "plugin/handler_socket/a.cpp",
        "VERSION",
    ]
    pack(folder / "mariadb_1.orig.tar.gz", {f"mariadb-1/{name}": "int old_item;\n" for name in names})
    pack(
        folder / "mariadb_1.debian.tar.xz",
        {"debian/patches/series": "ours.patch\n", "debian/patches/ours.patch": PATCH},
    )
    return folder


def test_only_what_the_build_needs_is_unpacked_and_patched(downloads: Path, tmp_path: Path) -> None:
    headers = tmp_path / "headers"
    server_headers.unpack_source(downloads, headers)
    assert (headers / "sql/item.h").read_text() == "int new_item;\n"
    assert not (headers / "sql/item.cc").exists() and not (headers / "debian").exists()
    assert (headers / "wsrep-lib/include/wsrep/key.hpp").is_file()


def test_generated_headers_are_those_that_the_source_lacks(downloads: Path, tmp_path: Path) -> None:
    headers, installed = tmp_path / "headers", tmp_path / "installed"
    server_headers.unpack_source(downloads, headers)
    installed.mkdir()
    for name in ("my_config.h", "my_global.h"):
        (installed / name).write_text("")
    server_headers.add_generated(installed, headers)
    assert {path.name for path in (headers / "generated").iterdir()} == {
        "my_config.h",
        "probes_mysql_nodtrace.h",
    }


def test_a_folder_without_private_headers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="no private server headers"):
        server_headers.adopt(tmp_path)


def test_an_installed_folder_with_private_headers_is_laid_out_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_headers, "STATE", tmp_path / "state")
    (tmp_path / "mysql/server/private").mkdir(parents=True)
    (tmp_path / "mysql/wsrep-lib/include").mkdir(parents=True)
    (tmp_path / "mysql/server/private/sql_class.h").write_text("")
    headers = server_headers.adopt(tmp_path / "mysql")
    assert (headers / "sql/sql_class.h").is_file() and (headers / "wsrep-lib/include").is_dir()
