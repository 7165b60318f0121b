# SPDX-License-Identifier: GPL-2.0-only
"""One run of the load generator: opens connections, writes the job, starts bench/player, reads its figures.

The player knows no protocol: it fills in the forms of the job and compares what comes back. The names of the
figures are those of results.jsonl (bench/README.md has the list).
"""

from __future__ import annotations

import array
import contextlib
import json
import resource
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from bench.harness.figures import Report
from bench.traffic.forms import form
from bench.traffic.protocol import Address, Protocol, WrongAnswer, dial
from bench.traffic.workloads import Does, Keys

SILENCE_SECONDS_MAX = 60.0
"""What a run may take beyond its own time before it counts as failed."""
PERCENTILES = {"p50_us": 50.0, "p90_us": 90.0, "p99_us": 99.0, "p999_us": 99.9}
ZIPF_LIST_LENGTH = 1 << 22
SCATTER = 2_654_435_761
"""A prime: multiplying by it modulo the number of keys spreads the hot keys over the table's pages."""


@dataclass(frozen=True)
class Tls:
    """The player's connections are inside TLS."""

    authority: Path
    """Who must have signed the server's certificate."""
    version: str = "TLSv1.3"
    """As OpenSSL names it; no other one is agreed on."""


@dataclass(frozen=True)
class Load:
    """How the workload is asked."""

    connections: int = 100
    in_flight: int = 1
    """Requests under way per connection."""
    rate_per_s: float = 0.0
    """Requests due per second over all connections: the open loop; 0 = closed loop."""
    zipf: float = 0.0
    """Exponent of the keys' distribution; 0 = uniform."""
    seed: int = 1
    first_key: int = 0
    """Of workloads that make rows; 0 = the first after the table's."""
    requests: int = 0
    """End after so many, without a warm-up; 0 = after the seconds."""
    warm_up_s: float = 0.5
    seconds: float = 3.0
    silence_s: float = 10.0
    """So long without an answer ends the run."""
    server_pid: int = 0
    """Whose CPU time is measured; 0 = nobody's."""
    cpu: int = -1
    """The player's core; -1 = any."""
    tls: Tls | None = None


def play(program: Path, protocol: Protocol, address: Address, load: Load, what: str = "") -> Report:
    """Run the player to its end; the figures. `what` names the run in messages. Raises WrongAnswer."""
    _allow_many_descriptors()
    seconds_max = (load.warm_up_s + load.seconds) * (10 if load.requests else 1) + SILENCE_SECONDS_MAX
    with contextlib.ExitStack() as stack:
        try:
            connections = []
            for _ in range(load.connections):
                # Inside TLS the player says for itself what `connect` would.
                connection, number = (dial(address), 0) if load.tls else protocol.connect(address)
                connections.append((stack.enter_context(connection).fileno(), number))
            list_of_keys = stack.enter_context(tempfile.NamedTemporaryFile(prefix="rs-keys-"))
            job = job_of(protocol, load, connections, Path(list_of_keys.name))
            before = process_facts(load.server_pid)
            done = subprocess.run(
                [program],
                input=json.dumps(job).encode(),
                capture_output=True,
                check=False,
                timeout=seconds_max,
                pass_fds=[descriptor for descriptor, _ in connections],
            )
            after = process_facts(load.server_pid)
        except subprocess.TimeoutExpired:
            raise WrongAnswer(f"{what}: no end after {seconds_max:.0f} s") from None
        except OSError as failure:
            raise WrongAnswer(f"{what}: {failure}") from failure
        except WrongAnswer as failure:
            raise WrongAnswer(f"{what}: {failure}") from failure
    try:
        said = json.loads(done.stdout)
    except ValueError:
        raise WrongAnswer(
            f"{what}: the player ended with {done.returncode}: {done.stderr[-500:]!r}"
        ) from None
    if "failure" in said:
        raise WrongAnswer(f"{what}: {said['failure']}")
    return report_of(protocol, address, load, said, before, after)


def job_of(
    protocol: Protocol, load: Load, connections: Sequence[tuple[int, int]], list_of_keys: Path
) -> dict[str, Any]:
    """What the player is told (bench/job.h). Writes the list of keys, if there is to be one."""
    workload = protocol.workload
    keys = workload.keys
    if keys.next and load.first_key:
        keys = replace(keys, least=load.first_key)
    if load.zipf and not keys.next:
        list_of_keys.write_bytes(zipf_list(keys, load.zipf))
    return {
        "connections": [{"descriptor": descriptor, "number": number} for descriptor, number in connections],
        "in_flight": load.in_flight,
        "rate_per_s": load.rate_per_s,
        "requests": load.requests,
        "warm_up_s": load.warm_up_s,
        "seconds": load.seconds,
        "silence_s": load.silence_s,
        "seed": load.seed,
        "server_pid": load.server_pid,
        "cpu": load.cpu,
        "tls": _tls_of(protocol, load.tls),
        "keys": {
            "count": keys.count,
            "least": keys.least,
            "most": keys.most,
            "next": keys.next,
            "list": str(list_of_keys) if load.zipf and not keys.next else "",
        },
        "exchanges": [
            {
                "weight": request.weight,
                "request": form(protocol.request(request)),
                "reply": form(protocol.reply(request)),
            }
            for request in workload.requests
        ],
    }


def _tls_of(protocol: Protocol, tls: Tls | None) -> dict[str, str]:
    """What the player is told of TLS; all empty without. Raises WrongAnswer where a protocol cannot."""
    opening, reply = protocol.opening() if tls else (b"", b"")
    return {
        "authority": str(tls.authority) if tls else "",
        "version": tls.version if tls else "",
        "opening": opening.decode("latin-1"),
        "opening_reply": reply.decode("latin-1"),
    }


@cache
def zipf_list(keys: Keys, exponent: float) -> bytes:
    """Keys to draw from uniformly; by Zipf's law the key of rank r is there in proportion to r^-exponent."""
    count = keys.most - keys.least + 1
    ends = list(accumulate(rank**-exponent for rank in range(1, count + 1)))
    drawn = array.array("I")
    for rank, end in enumerate(ends, 1):
        key = keys.least + rank * SCATTER % count
        drawn.extend([key] * (int(end / ends[-1] * ZIPF_LIST_LENGTH) - len(drawn)))
    return drawn.tobytes()


def report_of(
    protocol: Protocol,
    address: Address,
    load: Load,
    said: dict[str, Any],
    before: dict[str, int],
    after: dict[str, int],
) -> Report:
    """The figures of a run. Per request means: by the requests that were answered in the measured seconds."""
    workload = protocol.workload
    seconds, requests = said["seconds"], sum(said["answered"])
    counts = list(zip(workload.requests, said["answered"], strict=True))
    rows = sum(count * len(workload.rows_of(request)) for request, count in counts)
    in_all = list(zip(workload.requests, said["answered_in_all"], strict=True))
    report: Report = {
        "protocol": protocol.name,
        "workload": workload.name,
        "table": workload.table.name,
        "transport": "unix" if isinstance(address, str) else "tcp",
        "loop": "open" if load.rate_per_s else "closed",
        "connections": load.connections,
        "in_flight": load.in_flight,
        "keys_per_request": workload.keys.count,
        "rows": workload.rows,
        "zipf": load.zipf,
        "rate": load.rate_per_s,
        "requests": requests,
        "seconds": seconds,
        "requests_per_s": requests / seconds,
        "keys_per_s": requests * workload.keys.count / seconds,
        "rows_per_s": rows / seconds,
        **latency_figures(said),
        "bytes_sent_per_request": said["bytes_sent"] / max(requests, 1),
        "bytes_received_per_request": said["bytes_received"] / max(requests, 1),
        "errors": 0,
        "requests_in_all": sum(count for _, count in in_all),
        "writes_in_all": sum(count for request, count in in_all if request.does is not Does.FIND),
        "next_key": said["next_key"],
        "backlog_max": said["backlog_max"],
        "generator_busy": said["generator_cpu_ns"] / 1e9 / seconds,
        "generator_cpu_us_per_request": said["generator_cpu_ns"] / 1e3 / max(requests, 1),
    }
    if load.tls:
        report["encryption"] = said["encryption"]
    if load.server_pid and requests:
        report |= server_figures(said, requests, before, after)
    return report


def latency_figures(said: dict[str, Any]) -> Report:
    """Of the requests begun (open loop: due) while it was measured. Percentiles are up to 0.8 % too high."""
    buckets = said["latency_buckets_ns"]
    total = sum(count for _, count in buckets)
    figures: Report = {
        "mean_us": said["latency_sum_ns"] / max(total, 1) / 1e3,
        "max_us": said["latency_max_ns"] / 1e3,
    }
    for name, percent in PERCENTILES.items():
        seen = 0
        for last_ns, count in buckets:
            seen += count
            if seen >= total * percent / 100:
                figures[name] = last_ns / 1e3
                break
    return {**figures, "latency_buckets": [[last_ns / 1e3, count] for last_ns, count in buckets]}


def server_figures(
    said: dict[str, Any], requests: int, before: dict[str, int], after: dict[str, int]
) -> Report:
    """What the server used. Switches and the kernel's share are those of the whole run, with its warm-up."""
    cpu_us = said["server_cpu_ns"] / 1e3 / requests
    gained = {name: after[name] - before[name] for name in after}
    ticks = gained["user_ticks"] + gained["system_ticks"]
    user_share = gained["user_ticks"] / ticks if ticks else 0.0
    figures: Report = {
        "server_busy": said["server_cpu_ns"] / 1e9 / said["seconds"],
        "server_cpu_us_per_request": cpu_us,
        "server_cpu_user_us_per_request": cpu_us * user_share,
        "server_cpu_system_us_per_request": cpu_us * (1 - user_share),
        "server_threads": after["threads"],
        "server_peak_bytes": after["peak_bytes"],
    }
    for kind in ("voluntary", "involuntary"):
        if gained[f"switches_{kind}"] >= 0:  # else a thread ended and took its count with it
            figures[f"server_switches_{kind}_per_request"] = gained[f"switches_{kind}"] / sum(
                said["answered_in_all"]
            )
    return figures


def process_facts(pid: int) -> dict[str, int]:
    """Threads, their context switches, CPU time in ticks, and the most memory so far; empty of process 0."""
    if not pid:
        return {}
    folder = Path(f"/proc/{pid}")
    facts = {"threads": 0, "switches_voluntary": 0, "switches_involuntary": 0}
    for task in (folder / "task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            status = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines())
            facts["threads"] += 1
            facts["switches_voluntary"] += int(status["voluntary_ctxt_switches"])
            facts["switches_involuntary"] += int(status["nonvoluntary_ctxt_switches"])
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    words = (folder / "stat").read_text().rpartition(")")[2].split()
    return {
        **facts,
        "user_ticks": int(words[11]),
        "system_ticks": int(words[12]),
        "peak_bytes": int(status["VmHWM"].split()[0]) * 1024,
    }


def _allow_many_descriptors() -> None:
    """Thousands of connections are more descriptors than most shells allow at first."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
