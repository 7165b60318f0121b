# SPDX-License-Identifier: GPL-2.0-only
"""What one has to know about the machine and the build to judge a figure."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.harness.environment import Environment
from bench.harness.servers import DATABASE_OPTIONS, ROOT


def gather(environment: Environment) -> dict[str, Any]:
    """The facts, all of them texts and numbers."""
    return {
        "cpu": processor(_text("/proc/cpuinfo")),
        "cpus": os.cpu_count(),
        "last_level_cache": _text("/sys/devices/system/cpu/cpu0/cache/index3/size"),
        "memory": _fields(_text("/proc/meminfo")).get("MemTotal", ""),
        "kernel": f"{platform.system()} {platform.release()}",
        "distribution": platform.freedesktop_os_release().get("PRETTY_NAME", ""),
        "tcp_congestion_control": _text("/proc/sys/net/ipv4/tcp_congestion_control"),
        "load_average_before": round(os.getloadavg()[0], 2),
        "commit": _said(["git", "-C", str(ROOT), "describe", "--always", "--dirty"]) or "an export",
        "compiler": _said(["c++", "--version"]),
        "mariadb": _said([str(environment.server_tree / "usr/sbin/mariadbd"), "--version"]).partition("Ver ")[
            2
        ],
        "memcached": _version(environment, "memcached", "-V"),
        "redis": _version(environment, "redis-server", "--version"),
        "sysbench": _version(environment, "sysbench", "--version"),
        "handler_floor": environment.floor_plugin is not None,
        "server_options": " ".join(f"{name}={value}" for name, value in DATABASE_OPTIONS.items()),
        "command": " ".join(["./x bench", *sys.argv[2:]]).replace(f"{ROOT}/", ""),
    }


def processor(cpuinfo: str) -> str:
    """Make and model of the processor, by the text of /proc/cpuinfo.

    A virtual machine may have a name without a number, so the numbers of family and model go along.
    """
    words = _fields(cpuinfo.partition("\n\n")[0])
    numbers = [f"{name} {words[name]}" for name in ("cpu family", "model", "stepping") if name in words]
    name = words.get("model name") or words.get("CPU implementer") or platform.machine()
    details = ", ".join(filter(None, [words.get("vendor_id", ""), *numbers]))
    return f"{name} ({details})" if details else name


def _version(environment: Environment, name: str, option: str) -> str:
    program = environment.program(name)
    return _said([program, option], environment.of_peers()) if program else "not there"


def _said(command: list[str], variables: Any = None) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    except OSError:
        return ""
    return (done.stdout.strip().splitlines() or [""])[0]


def _text(path: str) -> str:
    return Path(path).read_text().strip() if Path(path).is_file() else ""


def _fields(text: str) -> dict[str, str]:
    """The lines `name : value`."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}
