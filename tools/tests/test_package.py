# SPDX-License-Identifier: GPL-2.0-only
"""What `./x package` decides before Debian's tools are at work."""

import re
from pathlib import Path, PurePosixPath

import pytest

from rowsocket_x import package, rules
from rowsocket_x.paths import ROOT
from rowsocket_x.server_series import Series


def test_a_package_has_a_build_for_each_release_of_its_series(tmp_path: Path) -> None:
    for name in (
        "10.11.18-0+deb12u1",
        "10.11.9-0+deb12u1",
        "10.11.18-0+deb12u2",
        "11.8.6-0+deb13u1",
        "adopted-1",
    ):
        (tmp_path / name).mkdir()
    headers = package.headers_of(Series.V10_11, tmp_path)
    assert list(headers) == ["10.11.9", "10.11.18"]
    assert headers["10.11.18"].name == "10.11.18-0+deb12u2"


def test_what_installs_the_packages_takes_none_for_debuggers(tmp_path: Path) -> None:
    names = [
        "mariadb-plugin-rowsocket-dbgsym_0.1.0_amd64.deb",
        "mariadb-plugin-rowsocket_0.1.0_amd64.deb",
        "rowsocket_0.1.0_all.deb",
    ]
    for name in names:
        (tmp_path / name).touch()
    *_, of_server, plugin, command = package.INSTALL.split()
    assert of_server == "./server/*.deb"
    assert [path.name for pattern in (plugin, command) for path in tmp_path.glob(pattern)] == names[1:]


def test_packages_that_are_there_stay_until_new_ones_are_made(tmp_path: Path) -> None:
    place = tmp_path / "10.11"
    place.mkdir()
    (place / "old.deb").touch()
    with pytest.raises(OSError), package.made_anew(place):
        raise OSError("no network")
    assert [path.name for path in place.iterdir()] == ["old.deb"]
    with package.made_anew(place) as making:
        (making / "new.deb").touch()
    assert [path.name for path in place.iterdir()] == ["new.deb"]
    assert list(tmp_path.iterdir()) == [place]


def test_the_page_says_what_installs_the_packages() -> None:
    assert f"\n{package.INSTALL}\n" in (ROOT / "docs/installing.md").read_text()


def test_mail_to_the_maintainer_can_reach_nobody_by_accident() -> None:
    """The project has no domain. `.invalid` is reserved for that (RFC 2606)."""
    control = (ROOT / "packaging/debian/control").read_text()
    [address] = re.findall(r"^Maintainer: .* <(.*)>$", control, re.MULTILINE)
    assert address.endswith("@rowsocket.invalid")


def test_the_packaged_configuration_loads_the_plugin_and_sets_nothing_else() -> None:
    """A line with a default would take the place of what an earlier file sets, without a word."""
    lines = (ROOT / "packaging/rowsocket.cnf").read_text().splitlines()
    live = [line for line in lines if line and not line.startswith("#")]
    assert live == ["[mariadb]", "plugin_load_add = rowsocket", "plugin_maturity = experimental"]


def test_everything_of_the_packaged_configuration_lets_the_server_start() -> None:
    """Other settings of RowSocket would end a server that does not know them."""
    text = (ROOT / "packaging/rowsocket.cnf").read_text()
    settings = re.findall(r"^#?(\S+) *=", text, re.MULTILINE)
    ours = [name for name in settings if "rowsocket_" in name]
    assert ours
    assert [name for name in ours if not name.startswith("loose-rowsocket_")] == []


def test_the_proof_pins_the_server_as_the_page_says() -> None:
    pins = [
        re.findall(r"<<'?PIN'?\n(.*?)^PIN$", (ROOT / file).read_text(), re.MULTILINE | re.DOTALL)
        for file in ("docs/installing.md", "packaging/prove-in-root.sh")
    ]
    [page], [proof] = [[re.sub(r"\$(1|version)$", "VERSION", pin, flags=re.M) for pin in one] for one in pins]
    assert page == proof


def test_the_links_of_the_packaged_pages_lead_to_packaged_pages(tmp_path: Path) -> None:
    package.lay_out_documents(tmp_path)
    pages = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.md"))
    assert {Path("README.md"), Path("docs/command.md"), Path("docs/protocol/resp.md")} <= set(pages)

    def read(path: PurePosixPath) -> str | None:
        file = tmp_path / path
        return file.read_text(errors="replace") if file.is_file() else None

    for page in pages:
        assert rules.links(PurePosixPath(page), (tmp_path / page).read_text(), read) == []


def test_a_link_that_leads_out_of_the_package_is_its_words(tmp_path: Path) -> None:
    package.lay_out_documents(tmp_path)
    text = (tmp_path / "docs/operating.md").read_text()
    assert "(command.md#doctor)" in text
    assert "decisions/" in (ROOT / "docs/operating.md").read_text()
    assert "decisions/" not in text
