# SPDX-License-Identifier: GPL-2.0-only
"""The demo database: the Debian package index of this machine's mirror, and the benchmarks' table `user`.

Loaded at the first start only. The marker file is written when all of it is there, so an interrupted load is
done again.
"""

import json
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

from debian.deb822 import Deb822

from rowsocket_x.console import Problem, progress, say
from rowsocket_x.instance import Connection
from rowsocket_x.private_apt import PrivateApt

PACKAGE_BATCH = 2_000
USER_BATCH = 20_000

_SCHEMA = (
    "CREATE DATABASE IF NOT EXISTS demo CHARACTER SET utf8mb4",
    "DROP TABLE IF EXISTS demo.package, demo.user",
    """CREATE TABLE demo.package (
         name VARCHAR(128) NOT NULL PRIMARY KEY,
         version VARCHAR(128) NOT NULL,
         section VARCHAR(64) NOT NULL,
         maintainer VARCHAR(255) NOT NULL,
         installed_size_kib INT UNSIGNED NULL,
         description VARCHAR(1024) NOT NULL,
         KEY section (section),
         KEY maintainer_name (maintainer, name)
       ) ENGINE=InnoDB""",
    """CREATE TABLE demo.user (
         user_id INT UNSIGNED PRIMARY KEY,
         user_name VARCHAR(50),
         user_email VARCHAR(255),
         created DATETIME
       ) ENGINE=InnoDB""",
)

_INSERT_PACKAGES = """
    INSERT INTO demo.package (name, version, section, maintainer, installed_size_kib, description)
    VALUES (%s, %s, %s, %s, %s, %s)"""

# The server makes the users itself, out of its built-in sequence tables.
_INSERT_USERS = """
    INSERT INTO demo.user (user_id, user_name, user_email, created)
    SELECT seq, CONCAT('user', seq), CONCAT('user', seq, '@example.com'), '2010-10-20' + INTERVAL seq MINUTE
    FROM demo.seq_{first}_to_{last}"""

_FIELDS = ["Package", "Version", "Section", "Maintainer", "Installed-Size", "Description"]


@dataclass(frozen=True)
class Package:
    """One row of demo.package, in the order of its columns."""

    name: str
    version: str
    section: str
    maintainer: str
    installed_size_kib: int | None
    description: str


def parse_packages(text: str) -> Iterator[Package]:
    """The packages of a Debian `Packages` list."""
    for stanza in Deb822.iter_paragraphs(text.split("\n"), fields=_FIELDS):
        if "Package" in stanza and "Version" in stanza:
            size = stanza.get("Installed-Size", "")
            yield Package(
                stanza["Package"],
                stanza["Version"],
                stanza.get("Section", ""),
                stanza.get("Maintainer", ""),
                int(size) if size.isdigit() else None,
                stanza.get("Description", "").partition("\n")[0],
            )


def newest_packages(apt: PrivateApt) -> list[Package]:
    """Every package of the mirror, each in its newest version, by name.

    Raises `Problem` when there is no list.
    """
    apt.require_lists()
    packages = sorted(parse_packages(apt.newest_of_all()), key=lambda package: package.name)
    if not packages:
        raise Problem(
            "the package lists for the demo are empty",
            "./x setup --renew fetches them anew; --no-demo does without",
        )
    return packages


def load_once(connection: Connection, apt: PrivateApt, marker: Path, user_count: int) -> None:
    """Load the demo database unless `marker` says that it is there."""
    if marker.is_file():
        loaded_users = json.loads(marker.read_text())["users"]
        if loaded_users != user_count:
            say(
                f"the demo has {loaded_users:,} users from its first start; --demo-users {user_count} is "
                f"for a new --data folder"
            )
        return
    packages = newest_packages(apt)
    with connection.cursor() as cursor:
        for statement in _SCHEMA:
            cursor.execute(statement)
        with progress("demo packages", len(packages)) as advance:
            for first in range(0, len(packages), PACKAGE_BATCH):
                batch = packages[first : first + PACKAGE_BATCH]
                cursor.executemany(_INSERT_PACKAGES, [astuple(package) for package in batch])
                advance(len(batch))
        with progress("demo users", user_count) as advance:
            for first in range(1, user_count + 1, USER_BATCH):
                last = min(first + USER_BATCH - 1, user_count)
                cursor.execute(_INSERT_USERS.format(first=first, last=last))
                advance(last - first + 1)
        cursor.execute("ANALYZE TABLE demo.package, demo.user")
    scratch = marker.with_suffix(".new")
    scratch.write_text(json.dumps({"packages": len(packages), "users": user_count}) + "\n")
    scratch.replace(marker)
