# SPDX-License-Identifier: GPL-2.0-only
"""A scanner of TLS servers (sslyze) finds nothing of weight on a port, which begins with TLS directly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sslyze.plugins.scan_commands import ScanCommand
from sslyze.scanner.models import AllScanCommandsAttempts, ServerScanRequest, ServerScanStatusEnum
from sslyze.scanner.scan_command_attempt import ScanCommandAttemptStatusEnum
from sslyze.scanner.scanner import Scanner
from sslyze.server_setting import ServerNetworkLocation

from support.certificates import Authority, prepare_row
from support.mariadb import RowSocketServer
from support.tree import ServerTree

CIPHER = "ECDHE-ECDSA-AES256-GCM-SHA384"

OLD_VERSIONS = ("ssl_2_0", "ssl_3_0", "tls_1_0", "tls_1_1")
VERSIONS = ("tls_1_2", "tls_1_3")
WEAK = ("NULL", "EXPORT", "anon", "RC4", "DES", "MD5", "IDEA", "SEED")


def scan(server: RowSocketServer) -> AllScanCommandsAttempts:
    """All that the scanner tries which concerns the server and not its certificate."""
    scanner = Scanner()
    location = ServerNetworkLocation("localhost", server.write_port, ip_address="127.0.0.1")
    commands = {
        *(ScanCommand(f"{version}_cipher_suites") for version in OLD_VERSIONS + VERSIONS),
        ScanCommand.HEARTBLEED,
        ScanCommand.OPENSSL_CCS_INJECTION,
        ScanCommand.ROBOT,
        ScanCommand.SESSION_RENEGOTIATION,
        ScanCommand.SESSION_RESUMPTION,
        ScanCommand.TLS_COMPRESSION,
    }
    scanner.queue_scans([ServerScanRequest(location, scan_commands=commands)])
    (result,) = scanner.get_results()
    assert result.scan_status == ServerScanStatusEnum.COMPLETED, result.connectivity_error_trace
    assert result.scan_result is not None
    for command in commands:
        attempt = getattr(result.scan_result, command.value)
        trace = "".join(attempt.error_trace.format()) if attempt.error_trace is not None else ""
        assert attempt.status == ScanCommandAttemptStatusEnum.COMPLETED, f"{command}: {trace}"
    return result.scan_result


def result_of(found: AllScanCommandsAttempts, command: str) -> Any:
    """What this command found."""
    return getattr(found, command).result


def suites(found: AllScanCommandsAttempts, version: str) -> set[str]:
    """The cipher suites that the server takes, as OpenSSL calls them."""
    result = result_of(found, f"{version}_cipher_suites")
    return {accepted.cipher_suite.openssl_name for accepted in result.accepted_cipher_suites}


@pytest.fixture(scope="module")
def scanned(secured: RowSocketServer) -> AllScanCommandsAttempts:
    """What the scanner found on a server with the default settings."""
    return scan(secured)


@pytest.mark.parametrize("version", OLD_VERSIONS)
def test_old_versions_are_not_served(scanned: AllScanCommandsAttempts, version: str) -> None:
    assert suites(scanned, version) == set()


@pytest.mark.parametrize("version", VERSIONS)
def test_new_versions_are_served_without_weak_ciphers(scanned: AllScanCommandsAttempts, version: str) -> None:
    accepted = result_of(scanned, f"{version}_cipher_suites").accepted_cipher_suites
    assert accepted
    for one in accepted:
        assert one.cipher_suite.key_size >= 128
        assert not one.cipher_suite.is_anonymous
        assert not any(word in one.cipher_suite.name for word in WEAK)


def test_no_known_hole_is_open(scanned: AllScanCommandsAttempts) -> None:
    assert not result_of(scanned, "heartbleed").is_vulnerable_to_heartbleed
    assert not result_of(scanned, "openssl_ccs_injection").is_vulnerable_to_ccs_injection
    assert result_of(scanned, "robot").robot_result.name.startswith("NOT_VULNERABLE")
    assert not result_of(scanned, "tls_compression").supports_compression


def test_nothing_is_renegotiated_or_resumed(scanned: AllScanCommandsAttempts) -> None:
    assert not result_of(scanned, "session_renegotiation").is_vulnerable_to_client_renegotiation_dos
    resumption = result_of(scanned, "session_resumption")
    assert resumption.session_id_successful_resumptions_count == 0
    assert resumption.tls_ticket_resumption_result.name == "NOT_SUPPORTED" or not (
        resumption.tls_ticket_successful_resumptions_count
    )


@pytest.fixture(scope="module")
def narrow(tree: ServerTree, template: Path, authority: Authority) -> Iterator[RowSocketServer]:
    """A server whose `ssl_cipher` names one suite of TLS 1.2."""
    with RowSocketServer(tree, template, {**authority.server_options(), "ssl-cipher": CIPHER}) as server:
        prepare_row(server)
        yield server


def test_ssl_cipher_is_all_that_is_taken(narrow: RowSocketServer) -> None:
    found = scan(narrow)
    assert suites(found, "tls_1_2") == {CIPHER}
    for version in OLD_VERSIONS:
        assert suites(found, version) == set()
