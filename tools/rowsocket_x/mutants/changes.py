# SPDX-License-Identifier: GPL-2.0-only
"""Changes of one line of C++ that a test should notice, and how they are compiled in behind a switch.

A change is written so that its line does as before until its switch is on: `if (a && b)` becomes
`if ((MUTANT(7) || (a)) && b)`. So one build holds hundreds of changes, and a run tries one of them. The lines
are read by patterns, not by a parser. What does not compile is left out by the build (see trial.py).
"""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

SWITCH = "MUTANT(@)"
"""The switch in the text of a change; the number of the change takes the place of the @."""

_CONDITION = re.compile(
    r"^(?P<before>\s*(?:\} else )?(?:if|while) \()(?P<all>.*)"
    r"(?P<behind>\)(?: \{| return.*;| continue;| break;| .*;)?)$"
)
_RETURN = re.compile(r"^(?P<before>\s*return )(?P<all>.*)(?P<behind>;)$")
_DECLARES = re.compile(r"^(const )?[\w:<>*&]+[\s*&]+\w+ = ")
_OPERAND = r"[\w\.\->\(\)_\[\]:]+"
_COMPARISON = re.compile(
    rf"^(?P<before>\s*(?:if \(|return |\}} else if \())(?P<left>{_OPERAND}) (?P<operator><|>|<=|>=) "
    rf"(?P<right>{_OPERAND}?)(?P<behind>\)(?: \{{| return.*;)|;|\))$"
)
_CALL = re.compile(r"^(?P<before>\s+)(?P<all>(?:[\w:]+(?:\.|->))*[\w:]+\(.*\);)$")
_NO_CALL = re.compile(
    r"^(return|if|for|while|switch|throw|delete|static_cast|assert|ROWSOCKET|DBUG|do|else|catch)\b"
)
_ASSIGNMENT = re.compile(r"^(?P<before>\s+)(?P<all>(?:\w+(?:\.|->|\[[^\]]*\]\.?))*\w+ (?:\+|-|\|)?= .*;)$")
_COUNT = re.compile(r"^(?P<before>\s+)(?P<all>(?:\+\+|--)[\w\.\->\[\]]+;)$")
_ONE = re.compile(r"([\w\)]) ([+-]) 1\b(?!\.)")
_OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_STAYS = re.compile(r"^\s*(//|\*|#|case )|constexpr|static_assert|invariant")
_CONSTANT = re.compile(r"\bconst(expr|eval)\b")


@dataclass(frozen=True)
class Change:
    """One change: its file (from the project's root), its line (from 1), what it is, the line's two texts."""

    file: str
    line: int
    kind: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.kind}: {self.old.strip()}"


def of_source(file: str, source: str) -> Iterator[Change]:
    """Every change that a file offers."""
    lines = source.split("\n")
    for number in _lines_that_run(lines):
        line, previous = lines[number - 1], lines[number - 2]
        for kind, new in _of_line(line.split("  //")[0], previous.strip()):
            yield Change(file, number, kind, line, new)


def choose(changes: Iterable[Change], seed: int, count: int) -> list[Change]:
    """At most `count` changes at random, no two of one line. The same seed and source choose the same."""
    all_of_them = list(changes)
    random.Random(seed).shuffle(all_of_them)
    of_lines = {(change.file, change.line): change for change in reversed(all_of_them)}
    return [change for change in all_of_them if of_lines[change.file, change.line] is change][:count]


def put_in(source: str, changes: Mapping[int, Change]) -> str:
    """The text of a file with its changes, each by its number, behind their switches."""
    lines = source.split("\n")
    for number, change in changes.items():
        lines[change.line - 1] = change.new.replace(SWITCH, SWITCH.replace("@", str(number)))
    return "\n".join(lines)


def _lines_that_run(lines: Sequence[str]) -> Iterator[int]:
    """The numbers of the lines inside functions, but of those that run while they are compiled.

    No switch can be asked there.
    """
    indent = None
    for number, line in enumerate(lines, start=1):
        if indent is None and _CONSTANT.search(line) and "(" in line and line.rstrip().endswith("{"):
            indent = line[: len(line) - len(line.lstrip())]
        if indent is not None:
            indent = None if line.startswith(indent + "}") else indent
        elif line.startswith("  ") and not _STAYS.search(line):
            yield number


def _of_line(code: str, previous: str) -> Iterator[tuple[str, str]]:
    yield from _conditions(code)
    yield from _returns(code)
    yield from _comparisons(code)
    # Where the line before ends a statement, this one begins one.
    if previous.endswith((";", "{", "}", ":")) and not previous.startswith(("struct", "enum", "class")):
        yield from _statements(code)
    if _ONE.search(code) and "for (" not in code and code.rstrip().endswith(";"):
        yield "without 1", _ONE.sub(rf"\1 \2 ({SWITCH} ? 0 : 1)", code, count=1)


def _conditions(code: str) -> Iterator[tuple[str, str]]:
    found = _CONDITION.match(code)
    if found is None or "[[" in found["behind"]:
        return
    all_of_it = found["all"]
    if not _is_balanced(all_of_it) or ";" in all_of_it or _DECLARES.match(all_of_it):
        return
    operands = list(_without_one_operand(all_of_it))
    if operands:
        for kind, new in operands:
            yield kind, found["before"] + new + found["behind"]
        return
    yield "never", f"{found['before']}!{SWITCH} && ({all_of_it}){found['behind']}"
    if not code.strip().startswith("while"):
        yield "always", f"{found['before']}{SWITCH} || ({all_of_it}){found['behind']}"


def _returns(code: str) -> Iterator[tuple[str, str]]:
    found = _RETURN.match(code)
    if found is None or not _is_balanced(found["all"]) or "?" in found["all"]:
        return
    if found["all"] in ("true", "false"):
        negated = "!" if found["all"] == "true" else ""
        yield "the other answer", f"{found['before']}{negated}{SWITCH}{found['behind']}"
    elif not ("&&" in found["all"] and "||" in found["all"]):
        for kind, new in _without_one_operand(found["all"]):
            yield kind, found["before"] + new + found["behind"]


def _without_one_operand(condition: str) -> Iterator[tuple[str, str]]:
    """`a && b` as if only `b` stood there, then only `a`; likewise `a || b`."""
    for operator, left_out in ((" || ", "(!{} && ({}))"), (" && ", "({} || ({}))")):
        operands = _split(condition, operator)
        for position, operand in enumerate(operands if len(operands) > 1 else []):
            new = [*operands]
            new[position] = left_out.format(SWITCH, operand)
            yield f"drops {operand}", operator.join(new)
        if len(operands) > 1:
            return


def _comparisons(code: str) -> Iterator[tuple[str, str]]:
    found = _COMPARISON.match(code)
    if found and _is_balanced(found["left"]) and _is_balanced(found["right"]):
        left, operator, right = found["left"], found["operator"], found["right"]
        other = f"{left} {_OTHER[operator]} {right}"
        yield (
            f"{operator} is {_OTHER[operator]}",
            f"{found['before']}({SWITCH} ? {other} : {left} {operator} {right}){found['behind']}",
        )


def _statements(code: str) -> Iterator[tuple[str, str]]:
    for kind, pattern in (("no call", _CALL), ("no assignment", _ASSIGNMENT), ("not counted", _COUNT)):
        found = pattern.match(code)
        if found is None or not _is_balanced(found["all"]):
            continue
        if not _NO_CALL.match(found["all"]) and not found["all"].startswith("using"):
            yield kind, f"{found['before']}if (!{SWITCH}) {found['all']}"
            return


def _is_balanced(text: str) -> bool:
    depth = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return False
    return depth == 0 and text.count('"') % 2 == 0


def _split(text: str, separator: str) -> list[str]:
    """Split where no bracket is open."""
    parts = [""]
    depth = position = 0
    while position < len(text):
        letter = text[position]
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 and text.startswith(separator, position):
            parts.append("")
            position += len(separator)
        else:
            parts[-1] += letter
            position += 1
    return parts
