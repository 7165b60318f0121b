# SPDX-License-Identifier: MIT
"""Makes the blocking client from the asyncio client: `python make_sync.py`. With `--check` it only compares.

unasync takes `async` and `await` out of the code, ruff formats what is left. Names that an asyncio file takes
from `._link` mean `aio/_link.py` there, and `_link.py` in the blocking file: those two are written by hand.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from unasync import Rule, unasync_files  # type: ignore[import-untyped]

BLOCKING = Path(__file__).resolve().parent / "src/rowsocket"
ASYNCIO = BLOCKING / "aio"
NAMES = ("executor.py", "connection.py", "pool.py")

TEXTS = {
    "Coroutine[Any, Any, T]": "T",
    "Coroutine[Any, Any, R | None]": "R | None",
    "async with": "with",
    "await ": "",
    "asyncio": "blocking",
    "task": "thread",
}
"""What unasync leaves as it is, in types and docstrings, and what is there in the blocking client."""

HEADER = "# Made by make_sync.py from aio/{name}: change that file, and run `python make_sync.py`.\n"


def blocking(name: str) -> str:
    """The text of this file of the blocking client."""
    with tempfile.TemporaryDirectory() as folder:
        unasync_files([str(ASYNCIO / name)], [Rule(str(ASYNCIO), folder)])
        text = (Path(folder) / name).read_text(encoding="utf-8")
    for asyncio_text, blocking_text in TEXTS.items():
        text = text.replace(asyncio_text, blocking_text)
    licence, rest = text.split("\n", 1)
    text = f"{licence}\n{HEADER.format(name=name)}{rest}"
    text = _ruff("check", "--fix", "--quiet", "--select=F401,I", name=name, text=text)
    return _ruff("format", name=name, text=text)


def _ruff(*words: str, name: str, text: str) -> str:
    command = [sys.executable, "-m", "ruff", *words, "--stdin-filename", str(BLOCKING / name), "-"]
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def main() -> int:
    """Write the files, or say which are stale; the exit code."""
    texts = {BLOCKING / name: blocking(name) for name in NAMES}
    if sys.argv[1:] == ["--check"]:
        stale = [path for path, text in texts.items() if path.read_text(encoding="utf-8") != text]
        for path in stale:
            print(f"{path.name}: not what make_sync.py makes of aio/{path.name}")
        return 1 if stale else 0
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
