# SPDX-License-Identifier: GPL-2.0-only
"""Says which MariaDB server this machine has or would install, and whether the plugin built here fits it.

A plugin fits one point release alone. Debian can offer the packages of a newer one before its source, and the
plugin is built from the source: then the machine installs a server that the plugin refuses.
"""

import re
from dataclasses import dataclass

from rowsocket_x import server_series, versions
from rowsocket_x.console import Problem, run
from rowsocket_x.server_fetch import Server
from rowsocket_x.server_series import Series

PACKAGE = "mariadb-server"


@dataclass(frozen=True)
class Offer:
    """A server version, and whether the machine has it or would only install it."""

    version: str
    is_installed: bool


def advice(series: Series, server: Server) -> list[str]:
    """The lines to print after set-up; none where the machine knows no MariaDB server."""
    offer = machine_offer()
    return [] if offer is None else describe(offer, series, server.version)


def describe(offer: Offer, series: Series, built_for: str) -> list[str]:
    """What `advice` prints, when the plugin is built for the version `built_for`."""
    verb = "has" if offer.is_installed else "would itself install"
    fits = offer.version == built_for
    lines = [f"this machine {verb} MariaDB {offer.version}: the plugin built here {_fit(fits, built_for)}"]
    is_of_series = versions.candidates([offer.version], [offer.version], series) != []
    if not fits and is_of_series and versions.is_newer(offer.version, built_for):
        reason = f"the source of {offer.version} was not to be had when MariaDB was last fetched"
        lines.append(f"  {reason}; ./x setup --server {series} --renew tries again")
    return lines


def machine_offer() -> Offer | None:
    """What apt says of this machine; where it has no package lists yet, what the same mirrors offer."""
    try:
        words = ["env", "LC_ALL=C", "apt-cache", "policy", PACKAGE]
        shown = run(words, what="asking apt for the server of this machine")
        return parse_policy(shown) or _offer_of_mirrors()
    except Problem:
        return None


def parse_policy(shown: str) -> Offer | None:
    """The installed version in the output of `apt-cache policy`, else the one that would be installed."""
    for label, is_installed in (("Installed", True), ("Candidate", False)):
        found = re.search(rf"^  {label}: (\S+)$", shown, re.MULTILINE)
        if found is not None and found[1] != "(none)":
            return Offer(found[1], is_installed)
    return None


def _offer_of_mirrors() -> Offer | None:
    native = [series for series in Series if not series.is_foreign]
    offered = [version for one in native for version in server_series.apt(one).binary_versions(PACKAGE)]
    return Offer(versions.newest_first(offered)[0], is_installed=False) if offered else None


def _fit(fits: bool, built_for: str) -> str:
    return "fits it" if fits else f"is for {built_for} and does not load there"
