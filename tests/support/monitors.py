# SPDX-License-Identifier: GPL-2.0-only
"""What watches a server: Prometheus, exporters and `rowsocket metrics`, each a process on a port of its own.

ROWSOCKET_MONITORS   root of the unpacked programs
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from prometheus_client.parser import text_string_to_metric_families

from support.ports import free_ports
from support.tree import environment_path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 120.0
ANY_PORT_TRIES = 5

Labels = frozenset[tuple[str, str]]
Samples = dict[tuple[str, Labels], float]
Result = TypeVar("Result")


def program(name: str) -> Path:
    """One of the programs."""
    return environment_path("ROWSOCKET_MONITORS") / "usr/bin" / name


def until(what: str, look: Callable[[], Result | None], timeout_s: float = TIMEOUT_S) -> Result:
    """The first answer that is not None and not False. Raises AssertionError after `timeout_s` seconds."""
    deadline = time.monotonic() + timeout_s
    while True:
        found = look()
        if found is not None and found is not False:
            return found
        assert time.monotonic() < deadline, f"not in {timeout_s} s: {what}"
        time.sleep(0.05)


def samples_of(text: str) -> Samples:
    """What an exporter tells, by name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


class Monitor:
    """A program that answers over HTTP on loopback; `command` makes its command line for a port.

    If another program is quicker to take the port, the next one is tried.
    """

    READY = "/metrics"
    """What it answers when it is ready."""

    def __init__(
        self, folder: Path, command: Callable[[int], Sequence[str | Path]], environment: Mapping[str, str]
    ) -> None:
        self._command, self._environment = command, environment
        self._log = folder / "log"
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        for _ in range(ANY_PORT_TRIES):
            [self.port] = free_ports(1)
            with self._log.open("ab") as log:
                self.process = subprocess.Popen(
                    list(map(str, self._command(self.port))),
                    env={**os.environ, **self._environment},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            if until("it answers, or has ended", self._answers_or_ended) == "answers":
                return self
        raise AssertionError(self.log())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def _answers_or_ended(self) -> str | None:
        assert self.process is not None
        if self.process.poll() is not None:
            return "ended"
        try:
            self.get(self.READY)
        except (OSError, http.client.HTTPException):
            return None
        return "answers"

    def log(self) -> str:
        """What it printed."""
        return self._log.read_text(errors="replace")

    def get(self, path: str) -> str:
        """What it answers. Raises OSError."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=TIMEOUT_S) as answer:
            return str(answer.read().decode())

    def samples(self) -> Samples:
        """What it tells Prometheus."""
        return samples_of(self.get("/metrics"))


class Prometheus(Monitor):
    """Prometheus, with questions."""

    READY = "/-/ready"

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The samples of an expression now. Raises OSError, AssertionError with what Prometheus says."""
        try:
            answer = self.get("/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{expression}: {error.read().decode()}") from None
        return list(json.loads(answer)["data"]["result"])

    def values(self, expression: str) -> list[float]:
        """The numbers of an expression now."""
        return [float(sample["value"][1]) for sample in self.query(expression)]

    def names(self) -> set[str]:
        """Of all metrics that it has."""
        return set(json.loads(self.get("/api/v1/label/__name__/values"))["data"])


def mysqld_exporter(configuration: str, folder: Path) -> Monitor:
    """Debian's exporter of status values, with its configuration; not started yet."""
    file = folder / "mysqld-exporter.cnf"
    file.write_text(configuration)

    def command(port: int) -> Sequence[str | Path]:
        own = [f"--config.my-cnf={file}", f"--web.listen-address=127.0.0.1:{port}"]
        return [program("prometheus-mysqld-exporter"), *own]

    return Monitor(folder, command, {})


def command_environment(sql_url: str) -> dict[str, str]:
    """What the command `rowsocket` needs."""
    return {"PYTHONPATH": str(ROOT / "clients/python/src"), "ROWSOCKET_SQL": sql_url}


def rowsocket_metrics(sql_url: str, folder: Path, *options: str) -> Monitor:
    """The project's own exporter, not started yet."""

    def command(port: int) -> Sequence[str | Path]:
        return [sys.executable, "-m", "rowsocket", "metrics", "--listen", f"127.0.0.1:{port}", *options]

    return Monitor(folder, command, command_environment(sql_url))


def node_exporter(textfiles: Path, folder: Path) -> Monitor:
    """Debian's exporter of a machine's figures, with nothing but the files in a folder; not started yet."""

    def command(port: int) -> Sequence[str | Path]:
        options = ["--collector.disable-defaults", "--collector.textfile"]
        own = [f"--collector.textfile.directory={textfiles}", f"--web.listen-address=127.0.0.1:{port}"]
        return [program("prometheus-node-exporter"), *options, *own]

    return Monitor(folder, command, {})


def prometheus(configuration: str, targets: Mapping[str, int], folder: Path) -> Prometheus:
    """Prometheus with the configuration of a document: ports of its targets are replaced, by their job.

    It looks once a second. Not started yet.
    """
    for job, port in targets.items():
        pattern = rf"(job_name: {job}\n(?:.*\n)*?.*targets: \[['\"]?)[\w.]+:\d+"
        configuration, count = re.subn(pattern, rf"\g<1>127.0.0.1:{port}", configuration, count=1)
        assert count == 1, job
    often = "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 300ms}\n"
    configuration = often + configuration
    file = folder / "prometheus.yml"
    file.write_text(configuration)

    def command(port: int) -> Sequence[str | Path]:
        options = [f"--config.file={file}", f"--storage.tsdb.path={folder / 'data'}"]
        return [program("prometheus"), *options, f"--web.listen-address=127.0.0.1:{port}"]

    return Prometheus(folder, command, {})
