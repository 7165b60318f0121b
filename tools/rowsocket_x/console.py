# SPDX-License-Identifier: GPL-2.0-only
"""How `./x` speaks: short lines on stderr, a spinner for long steps, and problems that say what to do.

Results (test counts, findings) go to stdout; everything about the way there goes to stderr, so that output
can be piped.
"""

import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

console = Console(stderr=True, highlight=False)


class Problem(Exception):
    """Something that the user can mend: one sentence on what is wrong, and lines on what to do."""

    def __init__(self, what: str, *hints: str) -> None:
        super().__init__(what)
        self.what = what
        self.hints = hints

    def show(self) -> None:
        """Print the problem and its hints to stderr."""
        console.print(f"[bold red]./x:[/] {escape(self.what)}", soft_wrap=True)
        for hint in self.hints:
            console.print(f"  {escape(hint)}", soft_wrap=True)


def say(line: str) -> None:
    """Print one line of progress."""
    console.print(escape(line), soft_wrap=True)


@contextmanager
def step(title: str) -> Iterator[None]:
    """Announce a step that may take long: a spinner on a terminal, one line with its seconds at the end."""
    start_s = time.monotonic()
    if console.is_terminal:
        with console.status(escape(title)):
            yield
    else:
        say(f"{title} ...")
        yield
    console.print(f"{escape(title)}: [green]done[/] in {time.monotonic() - start_s:.1f} s", soft_wrap=True)


def run(
    command: Sequence[str | Path],
    *,
    what: str,
    hints: Sequence[str] = (),
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    log: Path | None = None,
) -> str:
    """Run a command to its end and return its output (stdout and stderr together).

    `what` names the attempt in the error. With `log` the output goes to that file instead and the returned
    text is empty. Raises `Problem` with the last lines of the output when the command fails or is not there.
    """
    words = [str(word) for word in command]
    try:
        if log is None:
            done = subprocess.run(
                words,
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            output, code = done.stdout, done.returncode
        else:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("wb") as sink:
                code = subprocess.run(
                    words, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT
                ).returncode
            output = "" if code == 0 else tail(log, 40)
    except FileNotFoundError:
        raise Problem(
            f"{what}: the command {words[0]} is not there", "./x setup installs what is missing"
        ) from None
    if code != 0:
        said = [f"| {line}" for line in output.strip().splitlines()[-40:]]
        where = [f"all of its output: {log}"] if log else []
        raise Problem(f"{what} failed (exit code {code}): {shlex.join(words)}", *said, *where, *hints)
    return output if log is None else ""


def tail(path: Path, lines: int) -> str:
    """The last lines of a text file, or an empty string when there is no such file."""
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A step of `total` parts: yields a function to call with the number of parts just done.

    A bar on a terminal.
    """
    start_s = time.monotonic()
    if console.is_terminal:
        with Progress(console=console, transient=True) as bar:
            task = bar.add_task(escape(title), total=total)
            yield lambda count: bar.advance(task, count)
    else:
        say(f"{title}: {total:,} ...")
        yield lambda count: None
    console.print(
        f"{escape(title)}: [green]{total:,}[/] in {time.monotonic() - start_s:.1f} s", soft_wrap=True
    )
