# SPDX-License-Identifier: GPL-2.0-only
"""The private headers of one server version, laid out as the build wants them (`ROWSOCKET_SERVER_HEADERS`).

    include/                     the source's include/
    sql/                         the headers of the source's sql/
    wsrep-lib/include/           } Galera's interface, which sql_class.h needs
    wsrep-lib/wsrep-API/v26/     }
    generated/                   what the server's own build generated: my_config.h, mysqld_error.h, ...
    plugin/handler_socket/       the original plugin, for the compatibility tests

A plugin built with the headers of another version corrupts memory, so source and generated headers must be of
one version.
"""

import hashlib
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from rowsocket_x.console import Problem, run
from rowsocket_x.paths import STATE

_WANTED = (
    "include",
    "sql/*.h",
    "wsrep-lib/include",
    "wsrep-lib/wsrep-API/v26",
    "plugin/handler_socket",
    "VERSION",
)

_PROOF = """\
#include <my_global.h>
#include <mysql_version.h>
#include "sql_class.h"
#include "handler.h"
#include "sql_base.h"
#include "lock.h"
#include "transaction.h"
#include "key.h"
static_assert(sizeof(THD) > 0);
"""

_FLAGS = ("-DDBUG_OFF", "-DNDEBUG", "-DMYSQL_DYNAMIC_PLUGIN", "-DHAVE_CONFIG_H", "-DMYSQL_SERVER=1")


def unpack_source(downloads: Path, headers: Path) -> None:
    """Unpack what the build needs out of a downloaded source package (seconds; the whole of it is 110 MB)."""
    headers.mkdir(parents=True, exist_ok=True)
    original = _only(downloads, "*.orig.tar.*", "the source tarball", exclude=".asc")
    patterns = [f"mariadb-*/{name}" for name in _WANTED]
    options = ["--strip-components=1", "--wildcards", "--no-wildcards-match-slash"]
    command: list[str | Path] = ["tar", "-xf", original, "-C", headers, *options, *patterns]
    run(command, what="unpacking the server's headers", hints=("is the disk full?",))
    _apply_debian_patches(_only(downloads, "*.debian.tar.*", "Debian's part of the source"), headers)


def add_generated(server_includes: Path, headers: Path) -> None:
    """Copy the headers that only a finished build has.

    They are those of the installed `server` folder that the source's include/ does not have, and one that the
    packages leave out.
    """
    generated = headers / "generated"
    generated.mkdir(exist_ok=True)
    for header in sorted(server_includes.glob("*.h")):
        if not (headers / "include" / header.name).exists():
            shutil.copy2(header, generated / header.name)
    shutil.copyfile(headers / "include/probes_mysql_nodtrace.h.in", generated / "probes_mysql_nodtrace.h")


def include_folders(headers: Path) -> list[Path]:
    """The include path for a file that sees the server's inside."""
    names = ("generated", "include", "sql", "wsrep-lib/include", "wsrep-lib/wsrep-API/v26")
    return [headers / name for name in names]


def prove(headers: Path) -> None:
    """Compile a file that includes the server's central headers.

    Raises `Problem` when they do not fit together.
    """
    source = headers / "proof.cc"
    source.write_text(_PROOF)
    includes = [f"-I{folder}" for folder in include_folders(headers)]
    command: list[str | Path] = ["g++", "-std=c++20", "-fsyntax-only", "-w", *_FLAGS, *includes, source]
    run(
        command,
        what="compiling against the server's headers",
        hints=("remove .rowsocket/source and run ./x setup again",),
    )


def version_of(headers: Path) -> str:
    """The server version of a set of headers, such as `10.11.18-MariaDB`."""
    paths = (headers / "generated/mysql_version.h", headers / "include/mysql_version.h")
    path = next((path for path in paths if path.is_file()), None)
    match = re.search(r'MYSQL_SERVER_VERSION\s+"([^"]+)"', path.read_text()) if path else None
    if match is None:
        raise Problem(
            f"{headers} holds no mysql_version.h",
            "give a folder as `./x setup` makes it under .rowsocket/source",
        )
    return match[1]


def adopt(folder: Path) -> Path:
    """A headers folder from what the user names: one in our layout, or an include folder with server/private.

    MariaDB's own development packages install the latter (such as /usr/include/mysql); it is laid out anew
    with links.
    """
    folder = folder.resolve()
    if (folder / "sql/sql_class.h").is_file():
        return folder
    if not (folder / "server/private/sql_class.h").is_file():
        raise Problem(
            f"{folder} holds no private server headers",
            "sql/sql_class.h or server/private/sql_class.h should be in it",
        )
    wsrep = next(
        (path for path in (folder / "wsrep-lib", folder / "server/private/wsrep-lib") if path.is_dir()), None
    )
    if wsrep is None:
        raise Problem(
            f"{folder} lacks wsrep-lib", "copy the folder wsrep-lib of the same version's source into it"
        )
    shim = STATE / "source" / f"adopted-{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"
    shim.mkdir(parents=True, exist_ok=True)
    targets = {
        "include": folder / "server",
        "sql": folder / "server/private",
        "generated": folder / "server/private",
    }
    for name, target in {**targets, "wsrep-lib": wsrep}.items():
        (shim / name).unlink(missing_ok=True)
        (shim / name).symlink_to(target)
    return shim


def _only(folder: Path, pattern: str, what: str, exclude: str = "//") -> Path:
    found = [path for path in folder.glob(pattern) if path.suffix != exclude]
    if len(found) != 1:
        raise Problem(f"the downloaded source package does not hold {what} ({pattern})")
    return found[0]


def _apply_debian_patches(archive: Path, headers: Path) -> None:
    """Apply those parts of Debian's patches that change a file we unpacked (the binary has them)."""
    run(["tar", "-xf", archive, "-C", headers, "debian/patches"], what="unpacking Debian's patches")
    patches = headers / "debian/patches"
    series = (patches / "series").read_text().splitlines()
    for line in series:
        name = line.partition("#")[0].strip()
        if name:
            _apply_patch((patches / name).read_text(errors="surrogateescape"), name, headers)
    shutil.rmtree(headers / "debian")


def _apply_patch(text: str, name: str, headers: Path) -> None:
    ours = "".join(part for part in _file_patches(text) if _touches(part, headers))
    if ours:
        path = headers / "ours.patch"
        path.write_text(ours, errors="surrogateescape")
        run(
            ["patch", "--batch", "--silent", "-p1", "-d", headers, "-i", path],
            what=f"applying Debian's patch {name}",
        )
        path.unlink()


def _file_patches(text: str) -> Iterable[str]:
    """The parts of a patch, one per file: each begins at its `--- ` line that a `+++ ` line follows."""
    return [
        part
        for part in re.split(r"^(?=--- \S.*\n\+\+\+ )", text, flags=re.MULTILINE)
        if part.startswith("--- ")
    ]


def _touches(part: str, headers: Path) -> bool:
    match = re.search(r"^\+\+\+ [^/\s]+/(\S+)", part, re.MULTILINE)
    return match is not None and (headers / match[1]).is_file()
