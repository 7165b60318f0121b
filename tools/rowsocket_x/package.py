# SPDX-License-Identifier: GPL-2.0-only
"""`./x package`: Debian packages of the plugin, and of the command with the Python client.

    mariadb-plugin-rowsocket   rowsocket.so, which picks among the builds in rowsocket/, and a configuration
    rowsocket                  the command and the Python client

Beside them, in `server/`, are the packages of the server that set-up fetched last: Debian's lists offer the
newest point release alone.

The plugin is built for every point release of the series whose headers are in `.rowsocket/source`: the one
that set-up fetched last, with which the build is trained, and those that it fetched before. What is packaged
is laid out in a folder under `build/package` with what is in `packaging/`, and goes through Debian's own
tools there.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from rowsocket_x import network, server_fetch, server_series, setup, training
from rowsocket_x.console import run, say, step
from rowsocket_x.machine import Layer
from rowsocket_x.package_version import Commit, commit_of, version_of
from rowsocket_x.paths import BUILD, LOGS, ROOT, STATE, VENV
from rowsocket_x.server_series import Series

TYPER = "typer==0.12.5"
"""What the command is written with. It comes with the package where Debian's is too old for it."""
_OLD_TYPER = (Series.V10_11,)
_OF_DEBIAN = "python3-typer (>= 0.12)"
_FOR_OURS = "python3-click, python3-shellingham, python3-typing-extensions"

INSTALL = "apt install ./server/*.deb ./mariadb-plugin-rowsocket_*.deb ./rowsocket_*.deb"
"""What installs the packages. It takes no package of symbols for debuggers (`-dbgsym`)."""

DOCUMENTS = (
    *("README.md", "SECURITY.md", "clients/python/README.md"),
    *("docs/*.md", "docs/*.png", "docs/protocol/*.md", "docs/benchmarks/*.md", "docs/benchmarks/*.svg"),
)
"""Patterns of the pages in the package of the plugin. debhelper would take CHANGELOG.md for Debian's own."""
_LINK = re.compile(r"!?\[(?P<words>[^]]*)\]\((?P<target>[^)\s]+)\)")

_SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
"""Debian's tools run Debian's Python, whatever else the machine has."""

_CHANGELOG = """\
rowsocket ({version}) {codename}; urgency=medium

  * Commit {commit}, built for MariaDB {releases}.

 -- {maintainer}  {date}
"""


def package(series: Series) -> list[Path]:
    """Make the packages for a series and let lintian look at them; their files. Raises `Problem`."""
    setup.packages(Layer.RUN, Layer.PACKAGE)
    commit = commit_of(ROOT)  # of what is built now, whatever is committed meanwhile
    server = setup.server(series)
    headers = headers_of(series, STATE / "source")
    server_series.fetch_keyring(series)  # the server's packages are wanted at the end
    place = BUILD / "package" / series
    with made_anew(place) as making:
        _make(making, series, commit, headers, trained_for=server.headers)
    return sorted(path for path in place.glob("*.deb") if "-dbgsym_" not in path.name)


@contextlib.contextmanager
def made_anew(folder: Path) -> Iterator[Path]:
    """Where to make a folder anew: it takes the old one's place once all is well, and not before."""
    making = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    yield making
    shutil.rmtree(folder, ignore_errors=True)
    making.rename(folder)


def _make(place: Path, series: Series, commit: Commit, headers: dict[str, Path], trained_for: Path) -> None:
    tree = place / "tree"
    lay_out(tree)
    if series in _OLD_TYPER:
        _fetch_typer(tree / "vendor")
        shutil.copy(ROOT / "packaging/rowsocket-with-vendor", tree)
    trained = training.trained(series)
    for release, of_release in headers.items():
        folder = trained
        if of_release != trained_for:
            folder = BUILD / f"package-{release}"
            training.trained_like(trained, folder, of_release)
        _add_build(release, folder, tree / "plugins")
    _write_changelog(tree, series, commit, list(headers))
    _run_debian_tools(tree, series, list(headers))
    with step("downloading the packages of the server that they fit"):
        server_fetch.download_installable(series, place / "server")
    with step("looking at the packages with lintian"):
        run(
            ["lintian", "--fail-on", "error,warning", "--tag-display-limit", "0", *place.glob("*.changes")],
            what="lintian",
        )


def headers_of(series: Series, folder: Path) -> dict[str, Path]:
    """The headers of each point release of the series, oldest first; of one release the newest revision."""
    found = [path for path in folder.iterdir() if path.name.startswith(f"{series}.")]
    numbers = {path: [int(number) for number in re.findall(r"\d+", path.name)] for path in found}
    return {path.name.partition("-")[0]: path for path in sorted(found, key=numbers.__getitem__)}


def lay_out(tree: Path) -> None:
    """Copy what is packaged as it is."""
    shutil.copytree(ROOT / "packaging/debian", tree / "debian")
    shutil.copytree(
        ROOT / "clients/python", tree / "clients/python", ignore=shutil.ignore_patterns("__pycache__", ".*")
    )
    lay_out_documents(tree / "documents")
    shutil.copytree(ROOT / "packaging/monitoring", tree / "monitoring")
    for source, target in (
        (ROOT / "packaging/rowsocket.cnf", "60-rowsocket.cnf"),
        (ROOT / "packaging/rowsocket.1", "rowsocket.1"),
    ):
        shutil.copy(source, tree / target)
    (tree / "debian/source").mkdir()
    (tree / "debian/source/format").write_text("3.0 (native)\n")


def lay_out_documents(into: Path) -> None:
    """Copy the pages for who runs a server, in their places. Their links to others become plain words."""
    pages = {page.relative_to(ROOT) for pattern in DOCUMENTS for page in ROOT.glob(pattern)}
    for page in pages:
        target = into / page
        target.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix == ".md":
            target.write_text(_with_links_to(pages, page))
        else:
            shutil.copy(ROOT / page, target)


def _with_links_to(pages: Collection[Path], page: Path) -> str:
    """The text of a page, with those links alone that lead to one of the pages or to the web."""

    def link_or_words(link: re.Match[str]) -> str:
        file = link["target"].partition("#")[0]
        if "://" in file or not file:
            return link[0]
        leads_to = Path(os.path.normpath(page.parent / file))
        return link[0] if leads_to in pages else link["words"]

    return _LINK.sub(link_or_words, (ROOT / page).read_text())


def _fetch_typer(into: Path) -> None:
    options = ["--quiet", "--no-deps", "--no-compile", "--target", str(into)]
    network.fetch([VENV / "bin/python", "-m", "pip", "install", *options, TYPER], what=f"fetching {TYPER}")
    shutil.rmtree(into / "bin", ignore_errors=True)


def _add_build(release: str, folder: Path, plugins: Path) -> None:
    (plugins / "rowsocket").mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "src/mariadb/rowsocket.so", plugins / f"rowsocket/{release}.so")
    shutil.copy(folder / "src/mariadb/chooser/rowsocket_chooser.so", plugins / "rowsocket.so")


def _write_changelog(tree: Path, series: Series, commit: Commit, releases: list[str]) -> None:
    control = (tree / "debian/control").read_text()
    maintainer = re.search(r"^Maintainer: (.*)$", control, re.MULTILINE)
    assert maintainer is not None
    words = {
        "version": version_of(series, commit),
        "commit": commit.name + (", with changes" if commit.is_changed else ""),
        "codename": series.codename,
        "releases": ", ".join(releases),
        "maintainer": maintainer[1],
        "date": run(["date", "--rfc-email"], what="asking for the date").strip(),
    }
    (tree / "debian/changelog").write_text(_CHANGELOG.format(**words))


def _run_debian_tools(tree: Path, series: Series, releases: list[str]) -> None:
    low, high = f"1:{series}~", f"1:{_next(series)}~"
    variables = {
        "rowsocket:Server": f"mariadb-server (>= {low}), mariadb-server (<< {high})",
        "rowsocket:Releases": "MariaDB " + ", ".join(releases),
        "rowsocket:Typer": _FOR_OURS if series in _OLD_TYPER else _OF_DEBIAN,
    }
    substitutions = " ".join(f"-V'{name}={value}'" for name, value in variables.items())
    with step("making the packages"):
        run(
            ["dpkg-buildpackage", "--build=binary", "--no-sign", "--no-check-builddeps"],
            what="dpkg-buildpackage",
            cwd=tree,
            env={**os.environ, "PATH": _SYSTEM_PATH, "ROWSOCKET_SUBSTVARS": substitutions},
            log=LOGS / f"package-{series}.log",
        )


def _next(series: Series) -> str:
    """The name behind the series: 10.12 behind 10.11."""
    major, minor = series.split(".")
    return f"{major}.{int(minor) + 1}"


def tell(files: list[Path]) -> None:
    """Say where the packages are, and how they are installed."""
    for file in files:
        say(f"{file.relative_to(ROOT)}  ({file.stat().st_size / 1e6:.1f} MB)")
    say(f"in that folder, behind what docs/installing.md says of a pin: {INSTALL}")
