# SPDX-License-Identifier: GPL-2.0-only
"""Reads the vector files of tests/vectors; the format is described in tests/vectors/README.md.

Run as a program (`PYTHONPATH=tests python -m support.vectors`), it writes tests/vectors/DIFFERENCES.md anew.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "vectors"
DIFFERENCES = FOLDER / "DIFFERENCES.md"


class VectorError(Exception):
    """A vector file breaks the format; the text names file and line."""


@dataclass
class Sql:
    """Execute a statement over SQL."""

    statement: str


@dataclass
class Connect:
    """Make a new connection to the "read" or the "write" port."""

    port: str


@dataclass
class Send:
    """Send bytes as they are."""

    data: bytes


@dataclass
class Expect:
    """Receive this line. `original` is what the original answers instead; it closes instead if
    `original_closes`."""

    line: bytes
    original: bytes | None = None
    original_closes: bool = False


@dataclass
class Closed:
    """The server closes the connection."""


@dataclass
class Rows:
    """A query over SQL and the rows, each value as its text, that it must give."""

    query: str
    rows: list[bytes] = field(default_factory=list)
    original: list[bytes] | None = None


Step = Sql | Connect | Send | Expect | Closed | Rows


@dataclass
class Case:
    """One case of a file."""

    file: str
    name: str
    server: dict[str, str]
    steps: list[Step]
    original_reason: str = ""
    original_skip: str = ""
    original_skip_on: dict[str, str] = field(default_factory=dict)
    """Why the original of these series of MariaDB must not be asked."""
    extension: str = ""

    def is_asked_of_original(self) -> bool:
        """False if the case is RowSocket's own, or the original must not be asked."""
        return not self.original_skip and not self.extension

    def __str__(self) -> str:
        return f"{self.file}: {self.name}"

    def differs(self) -> bool:
        """True if the original's own answers stand in the case."""
        return any(
            (isinstance(step, Expect) and (step.original_closes or step.original not in (None, step.line)))
            or (isinstance(step, Rows) and step.original is not None and step.original != step.rows)
            for step in self.steps
        )


_ESCAPE = re.compile(r"⇥|\\(?:0|r|n|\\|x([0-9a-fA-F]{2})|\{(.*?)\*(\d+)\})", re.DOTALL)
_PLAIN = {"⇥": b"\t", "\\0": b"\0", "\\r": b"\r", "\\n": b"\n", "\\\\": b"\\"}


def to_bytes(text: str) -> bytes:
    """The bytes that a line's text stands for; raises ValueError for an unknown escape."""
    out = bytearray()
    position = 0
    for match in _ESCAPE.finditer(text):
        _append_plain(out, text[position : match.start()])
        if match[1]:
            out.append(int(match[1], 16))
        elif match[3]:
            out += to_bytes(match[2]) * int(match[3])
        else:
            out += _PLAIN[match[0]]
        position = match.end()
    _append_plain(out, text[position:])
    return bytes(out)


def _append_plain(out: bytearray, text: str) -> None:
    if "\\" in text:
        raise ValueError(f"unknown escape in {text!r}")
    out += text.encode()


def to_text(data: bytes) -> str:
    """Bytes in the notation of the files."""
    text = data.decode("utf-8", "backslashreplace").replace("\t", "⇥").replace("\0", "\\0")
    return "".join(c if c >= " " else f"\\x{ord(c):02x}" for c in text)


def read_all() -> list[Case]:
    """Every case of every file."""
    return [case for path in sorted(FOLDER.glob("handlersocket/*.txt")) for case in read_file(path)]


def read_file(path: Path) -> list[Case]:
    """The cases of one file; raises VectorError."""
    reader = _Reader(path.stem)
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        try:
            reader.line(line)
        except (ValueError, IndexError, KeyError) as error:
            raise VectorError(f"{path}:{number}: {error}: {line}") from error
    try:
        return reader.finish()
    except ValueError as error:
        raise VectorError(f"{path}: {error}") from error


class _Reader:
    """Takes a file line by line."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.server: dict[str, str] = {}
        self.extension = ""
        self.preamble: list[Step] = []
        self.cases: list[Case] = []
        self.steps = self.preamble

    def line(self, line: str) -> None:
        if not line.strip() or line.startswith("#"):
            return
        if line.startswith("  "):
            step = self.steps[-1]
            if not isinstance(step, Sql):
                raise ValueError("only sql: goes on over lines")
            step.statement += "\n" + line.strip()
            return
        word, _, rest = line.partition(" ")
        if word == "original" or word == "original<":
            self.original(line)
        else:
            self.item(word, rest)

    def item(self, word: str, rest: str) -> None:
        match word:
            case "case:":
                self.begin_case(rest)
            case "server:":
                if self.cases:
                    raise ValueError("server: stands before the first case")
                self.server = dict(setting.split("=", 1) for setting in rest.split())
            case "extension:":
                if self.cases:
                    raise ValueError("extension: stands before the first case")
                self.extension = rest
            case "sql:":
                self.steps.append(Sql(rest))
            case "connect:":
                self.steps.append(Connect({"read": "read", "write": "write"}[rest]))
            case ">":
                self.steps.append(Send(to_bytes(rest) + b"\n"))
            case ">>":
                self.steps.append(Send(to_bytes(rest)))
            case "<":
                self.steps.append(Expect(to_bytes(rest)))
            case "closed:":
                self.steps.append(Closed())
            case "rows:":
                self.steps.append(Rows(rest))
            case "row:":
                self.last_rows().rows.append(to_bytes(rest))
            case "original:":
                self.cases[-1].original_reason = rest
            case _:
                raise ValueError(f"unknown word {word!r}")

    def original(self, line: str) -> None:
        what, _, rest = line.removeprefix("original").lstrip().partition(" ")
        if what == "<":
            self.last_expect().original = to_bytes(rest)
        elif what == "closed:":
            self.last_expect().original_closes = True
        elif what == "skip:":
            self.cases[-1].original_skip = rest
        elif what == "skip" and rest.startswith("on "):
            series, _, reason = rest.removeprefix("on ").partition(": ")
            self.cases[-1].original_skip_on[series] = reason
        elif what == "row:":
            rows = self.last_rows()
            rows.original = [*(rows.original or []), *([to_bytes(rest)] if rest else [])]
        else:
            raise ValueError(f"unknown word {what!r} after original")

    def begin_case(self, name: str) -> None:
        if any(case.name == name for case in self.cases):
            raise ValueError("a case of this name stands above")
        self.steps = list(self.preamble)
        self.cases.append(Case(self.name, name, self.server, self.steps, extension=self.extension))

    def last_expect(self) -> Expect:
        step = self.steps[-1]
        if not isinstance(step, Expect) or not self.cases:
            raise ValueError("stands below no < line of a case")
        return step

    def last_rows(self) -> Rows:
        step = self.steps[-1]
        if not isinstance(step, Rows) or not self.cases:
            raise ValueError("stands below no rows: line of a case")
        return step

    def finish(self) -> list[Case]:
        for case in self.cases:
            if case.differs() != bool(case.original_reason):
                raise ValueError(
                    f"case {case.name!r}: an original: line stands if and only if the original's answers"
                    f" differ"
                )
        return self.cases


def differences() -> str:
    """The text of DIFFERENCES.md."""
    lines = [
        "# Where RowSocket and the original differ",
        "",
        "Made from `handlersocket/*.txt` by `PYTHONPATH=tests python -m support.vectors`; do not edit.",
        "Every other case of the vectors is answered alike, byte by byte.",
    ]
    cases = read_all()
    tables = {
        "Answered otherwise": [(case, case.original_reason) for case in cases],
        "Not asked of the original": [(case, case.original_skip) for case in cases],
        "Not asked of the original of one series of MariaDB": [
            (case, f"on {series}: {reason}")
            for case in cases
            for series, reason in case.original_skip_on.items()
        ],
    }
    for title, rows in tables.items():
        lines += ["", f"## {title}", "", "| case | the original |", "|---|---|"]
        lines += [f"| {case} | {text} |" for case, text in rows if text]
    lines += [
        "",
        "## Extensions",
        "",
        "Not asked of the original, which answers the requests of these files with an error.",
        "",
    ]
    lines += ["| file | what the original does not have |", "|---|---|"]
    lines += [
        f"| {file} | {extension} |"
        for file, extension in sorted({(c.file, c.extension) for c in read_all() if c.extension})
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    DIFFERENCES.write_text(differences(), encoding="utf-8")
