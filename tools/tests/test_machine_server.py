# SPDX-License-Identifier: GPL-2.0-only
import pytest

from rowsocket_x.machine_server import Offer, describe, parse_policy
from rowsocket_x.server_series import Series

BUILT_FOR, NEWER = "1:10.11.18-0+deb12u1", "1:10.11.19-0+deb12u1"

POLICY = """\
mariadb-server:
  Installed: {installed}
  Candidate: {candidate}
  Version table:
     1:10.11.19-0+deb12u1 500
"""


@pytest.mark.parametrize(
    ("installed", "candidate", "offer"),
    [
        ("(none)", NEWER, Offer(NEWER, is_installed=False)),
        (BUILT_FOR, NEWER, Offer(BUILT_FOR, is_installed=True)),
        ("(none)", "(none)", None),
    ],
)
def test_the_policy_of_apt_says_what_is_or_would_be_installed(
    installed: str, candidate: str, offer: Offer | None
) -> None:
    assert parse_policy(POLICY.format(installed=installed, candidate=candidate)) == offer


def test_a_newer_point_release_without_source_is_said_not_to_fit() -> None:
    first, second = describe(Offer(NEWER, is_installed=False), Series.V10_11, BUILT_FOR)
    assert first == (
        f"this machine would itself install MariaDB {NEWER}: "
        f"the plugin built here is for {BUILT_FOR} and does not load there"
    )
    assert f"the source of {NEWER} was not to be had" in second and "--server 10.11 --renew" in second


def test_the_same_version_is_said_to_fit() -> None:
    assert describe(Offer(BUILT_FOR, is_installed=True), Series.V10_11, BUILT_FOR) == [
        f"this machine has MariaDB {BUILT_FOR}: the plugin built here fits it"
    ]


def test_another_series_is_not_called_a_missing_source() -> None:
    assert len(describe(Offer(NEWER, is_installed=False), Series.V11_8, "1:11.8.6-0+deb13u1")) == 1
