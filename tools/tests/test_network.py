# SPDX-License-Identifier: GPL-2.0-only
import subprocess
from pathlib import Path

import pytest

from rowsocket_x import network
from rowsocket_x.network import NetworkProblem
from rowsocket_x.paths import ROOT

HEADING = "Iface\tDestination\tGateway\n"
LOOPBACK = "00000000000000000000000000000001 80 " + "0" * 32 + " lo\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "net").mkdir()
    (tmp_path / "net/route").write_text(HEADING)
    (tmp_path / "net/ipv6_route").write_text(LOOPBACK)
    return tmp_path


def test_a_machine_that_has_only_its_loopback_has_no_network(proc: Path) -> None:
    assert network.is_absent(proc, {})


def test_a_route_of_either_kind_is_a_network(proc: Path) -> None:
    (proc / "net/ipv6_route").write_text(LOOPBACK + LOOPBACK.replace(" lo", " eth0"))
    assert not network.is_absent(proc, {})
    (proc / "net/ipv6_route").unlink()
    (proc / "net/route").write_text(HEADING + "eth0\t00000000\t0102A8C0\n")
    assert not network.is_absent(proc, {})


def test_a_proxy_is_a_network(proc: Path) -> None:
    assert not network.is_absent(proc, {"https_proxy": "http://127.0.0.1:3128"})


@pytest.mark.parametrize(
    "output",
    [
        "W: Failed to fetch http://m/dists/x/InRelease  Temporary failure resolving 'm'",
        "Failed to establish a new connection: [Errno -3] Temporary failure in name resolution",
        "Could not connect to 127.0.0.1:9 (127.0.0.1). - connect (111: Connection refused)",
        "npm ERR! code ENOTFOUND",
    ],
)
def test_the_words_of_the_network_are_known(output: str) -> None:
    assert network.names_trouble(output)


@pytest.mark.parametrize(
    "output",
    ["E: Failed to fetch http://m/x.dsc  404  Not Found", "ERROR: Could not find a version that satisfies x"],
)
def test_other_failures_are_not_blamed_on_the_network(output: str) -> None:
    assert not network.names_trouble(output)


def test_a_download_that_the_network_failed_says_so_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "is_absent", lambda: False)
    with pytest.raises(NetworkProblem, match=r"^the network does not answer: fetching x failed"):
        network.fetch(["sh", "-c", "echo 'Could not connect to mirror'; exit 100"], what="fetching x")


def test_nothing_is_tried_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "is_absent", lambda: True)
    with pytest.raises(NetworkProblem, match=r"^no network: fetching x needs it"):
        network.fetch(["a-command-that-is-not-there"], what="fetching x")


@pytest.mark.parametrize(("routes", "first_line"), [("", "./x: no network: "), ("eth0\t0\t1\n", "nothing")])
def test_a_fresh_checkout_without_a_network_says_so_in_its_first_line(
    tmp_path: Path, proc: Path, routes: str, first_line: str
) -> None:
    """The script, with another /proc and with no more of a Python environment than a fresh clone has."""
    (proc / "net/route").write_text(HEADING + routes)
    script = (
        (ROOT / "x")
        .read_text()
        .replace("/proc/net", f"{proc}/net")
        .replace("find_python >", "echo nothing >&2; exit >")
    )
    (tmp_path / "tools/requirements").mkdir(parents=True)
    (tmp_path / "tools/requirements/run.txt").write_text("typer\n")
    (tmp_path / "x").write_text(script)
    done = subprocess.run(
        ["bash", tmp_path / "x", "run"], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True
    )
    assert done.stderr.splitlines()[0].startswith(first_line)
