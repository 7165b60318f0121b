# SPDX-License-Identifier: GPL-2.0-only
"""What compare.py makes of its reports."""

from __future__ import annotations

from bench.compare import Comparison, median_and_spread, parse_arguments, ratios, table


def reports_of(figures: dict[str, list[float]]) -> Comparison:
    """A comparison of one scenario."""
    comparison = Comparison()
    for peer, rounds in figures.items():
        for cpu_us in rounds:
            comparison.add("1 in flight", peer, {"server_cpu_us_per_request": cpu_us})
    return comparison


def test_ratios_are_taken_within_each_round() -> None:
    """A slow moment of the machine hits both peers of its round and leaves the ratio alone."""
    assert ratios([8.0, 16.0], [4.0, 8.0]) == [2.0, 2.0]


def test_the_table_shows_how_many_times_faster_rowsocket_is() -> None:
    """Less CPU time per request is faster."""
    text = table(reports_of({"original": [6.0, 9.0], "rowsocket": [4.0, 4.0]}), ["original", "rowsocket"])
    assert text.splitlines()[-1] == "| 1 in flight | 7.50 (6.00 - 9.00) | 4.00 (4.00 - 4.00) | 1.88 (1.50 - 2.25) |"


def test_a_peer_that_took_no_part_has_no_figure() -> None:
    """The floor answers no IN lists."""
    assert median_and_spread([]) == "-"


def test_inserts_are_measured_only_on_demand() -> None:
    """They depend on the disk more than on the plugin."""
    assert "insert" not in parse_arguments(["--programs", "."]).scenarios
