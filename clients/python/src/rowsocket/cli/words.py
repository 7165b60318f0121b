# SPDX-License-Identifier: MIT
"""What the words of a command line mean: names, values, and NAME=VALUE. No input or output here.

name        user    `a,b`    shop.user    `my.shop`.`my.user`
value       42      :null    :hex=FF00    :base64=/wA=    :text=:null
assignment  NAME=42  NAME:null  NAME:hex=FF00 ...: a name, and behind it a value with its = or its :
"""

from __future__ import annotations

import base64
import binascii
import re
import shlex
from collections.abc import Sequence
from typing import Any, Union

from rowsocket.cli.plain_help import Verb

CommandValue = Union[str, bytes, None]

_QUOTED = re.compile(r"`((?:[^`]|``)+)`(?!`)")
_KINDS = ("text", "hex", "base64")
_OF_A_KIND = re.compile(f":({'|'.join(_KINDS)})=(.*)", re.DOTALL)
_NEGATIVE_NUMBER = re.compile(r"-\.?[0-9]")
NULL = ":null"
_NEEDS_BACKTICKS = re.compile(r"[`.,=:]|^-|^$")
"""What ends a name, or gives it another meaning, in one of the words that have names."""


# ── names ───────────────────────────────────────────────────────────────────────────────────────────────────


def _names(text: str, separator: str) -> list[str]:
    """Names with a separator between them. Those in backticks may have it, too. Raises ValueError."""
    names = []
    rest = text
    while True:
        quoted = _QUOTED.match(rest)
        if quoted is not None:
            names.append(quoted[1].replace("``", "`"))
            rest = rest[quoted.end() :]
        else:
            name = rest.partition(separator)[0]
            if name.startswith("`"):
                raise ValueError(f"a name in backticks has one at each end: {text}")
            names.append(name)
            rest = rest[len(name) :]
        if not rest:
            return names
        if not rest.startswith(separator):
            raise ValueError(f"a {separator!r} is missing behind the name {names[-1]!r}: {text}")
        rest = rest[len(separator) :]


def column_list(text: str) -> list[str]:
    """The names of `--columns`. Raises ValueError."""
    names = _names(text, ",")
    _refuse_twice(names)
    return names


def table_name(text: str) -> tuple[str | None, str]:
    """The database, if it is said, and the table. Without backticks the last point is between them.

    Raises ValueError.
    """
    if "`" not in text:
        database, point, name = text.rpartition(".")
        return (database if point else None), name
    names = _names(text, ".")
    if len(names) > 2:
        raise ValueError(f"more than DATABASE.TABLE: {text}")
    return (names[0] if len(names) == 2 else None), names[-1]


def one_name(text: str) -> str:
    """A name that stands alone. Raises ValueError."""
    if not text.startswith("`"):
        return text
    quoted = _QUOTED.fullmatch(text)
    if quoted is None:
        raise ValueError(f"a name in backticks has one at each end: {text}")
    return quoted[1].replace("``", "`")


def name_in_word(name: str) -> str:
    """The name as a word has it: in backticks, if the word would not be understood without."""
    return "`{}`".format(name.replace("`", "``")) if _NEEDS_BACKTICKS.search(name) else name


def names_begun(text: str, separator: str) -> tuple[list[str], str]:
    """The names of a word that is being typed, and how the last one begins. Without backticks the last point
    of a table is the separator. Without a separator there is one name. Raises ValueError.
    """
    if separator == "." and "`" not in text:
        database, point, begun = text.rpartition(".")
        return ([database] if point else []), begun
    names: list[str] = []
    rest = text
    while rest.startswith("`") or (separator and separator in rest):
        quoted = _QUOTED.match(rest)
        if rest.startswith("`") and (quoted is None or quoted.end() == len(rest)):
            return names, (rest[1:] if quoted is None else quoted[1]).replace("``", "`")
        name, rest = (quoted[0], rest[quoted.end() :]) if quoted else _cut(rest, separator)
        if not separator or not rest.startswith(separator):
            raise ValueError(f"a separator is missing behind {name}")
        names.append(one_name(name))
        rest = rest[len(separator) :]
    return names, rest


def _cut(text: str, separator: str) -> tuple[str, str]:
    name = text.partition(separator)[0]
    return name, text[len(name) :]


def _refuse_twice(names: Sequence[str]) -> None:
    twice = [name for position, name in enumerate(names) if name in names[:position]]
    if twice:
        raise ValueError(f"the column {twice[0]!r} is named twice")


# ── values ──────────────────────────────────────────────────────────────────────────────────────────────────


def value_of(word: str) -> CommandValue:
    """The value that a word says. Raises ValueError."""
    if word == NULL:
        return None
    said = _OF_A_KIND.fullmatch(word)
    if said is None:
        return word
    kind, text = said.groups()
    try:
        if kind == "hex":
            return bytes.fromhex(text)
        if kind == "base64":
            return base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(f"{text!r} is not {kind}") from None
    return str(text)


def key_of(words: Sequence[str]) -> tuple[CommandValue, ...]:
    """The values of a key. Raises ValueError."""
    return tuple(value_of(word) for word in words)


def is_assignment(word: str) -> bool:
    """Whether a word is NAME=VALUE, or one of its kin."""
    name, value = _split(word)
    return bool(name) and value is not None


def assignments(words: Sequence[str]) -> dict[str, CommandValue]:
    """Values by name. Raises ValueError."""
    names, values = [], []
    for word in words:
        name, value = _split(word)
        if not name or value is None:
            raise ValueError(f"{word!r} is neither NAME=VALUE nor NAME:null")
        names.append(name)
        values.append(value_of(value) if value.startswith(":") else value[1:])
    _refuse_twice(names)
    return dict(zip(names, values))


def _split(word: str) -> tuple[str, str | None]:
    """A name, and what follows it: `=VALUE`, or the value's word with its colon; None if there is none."""
    quoted = _QUOTED.match(word)
    if quoted is not None:
        name, rest = quoted[1].replace("``", "`"), word[quoted.end() :]
        is_value = rest.startswith("=") or rest == NULL or _OF_A_KIND.fullmatch(rest) is not None
        return (name, rest) if is_value else (word, None)
    if word.startswith("`"):
        return word, None
    left, equals, value = word.partition("=")
    if not equals:
        return (word[: -len(NULL)], NULL) if word.endswith(NULL) else (word, None)
    name, colon, kind = left.rpartition(":")
    if colon and kind in _KINDS:
        return name, f":{kind}={value}"
    return left, f"={value}"


# ── lines of the shell ──────────────────────────────────────────────────────────────────────────────────────

_ENDS_WORD = " \t\r\n"
_NEEDS_QUOTES = re.compile(r"""[\s'"\\]|^$""")


def in_line(word: str) -> str:
    """The word as a line has it, which `words_of` and a POSIX shell split."""
    return shlex.quote(word) if _NEEDS_QUOTES.search(word) else word


def words_of(line: str) -> list[str]:
    """The words of a line, with quotes and backslashes as those of a POSIX shell. Raises ValueError."""
    words, last, _, missing = _scan(line)
    if missing:
        raise ValueError(missing)
    return words if last is None else [*words, last]


def line_begun(text: str) -> tuple[list[str], str, int]:
    """The words of a line that is being typed, how the last one begins, and how many characters of the line
    are that beginning.
    """
    words, begun, start, _ = _scan(text)
    return (words, "", 0) if begun is None else (words, begun, len(text) - start)


def _scan(text: str) -> tuple[list[str], str | None, int, str]:
    """The words but the last one; that one, where it begins, and what it lacks to be whole.

    None instead of the last one where the text ends behind it. (shlex takes four times as long for a line
    that is twice as long.)
    """
    words: list[str] = []
    begun: str | None = None
    start, quote, is_escaped = len(text), "", False
    for at, character in enumerate(text):
        if not quote and not is_escaped and character in _ENDS_WORD:
            words += [] if begun is None else [begun]
            begun = None
            continue
        if begun is None:
            begun, start = "", at
        if is_escaped:
            begun += character if not quote or character in '"\\' else f"\\{character}"
            is_escaped = False
        elif character == "\\" and quote != "'":
            is_escaped = True
        elif character in ("'", '"') and quote in ("", character):
            quote = "" if quote else character
        else:
            begun += character
    missing = "nothing behind a backslash" if is_escaped else "no closing quotation" if quote else ""
    return words, begun, start, missing


# ── negative numbers ────────────────────────────────────────────────────────────────────────────────────────


class VerbWithValues(Verb):
    """A verb among whose words are values: what begins like a negative number is no option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As its base, with all values behind the options."""
        taking = {
            name
            for parameter in self.params
            if parameter.param_type_name == "option" and not getattr(parameter, "is_flag", False)
            for name in parameter.opts
        }
        return super().parse_args(ctx, values_last(args, taking))


def values_last(words: Sequence[str], taking: set[str]) -> list[str]:
    """The words with `--` between the options and all others. `taking`: options that a value follows."""
    options: list[str] = []
    values: list[str] = []
    left = iter(words)
    for word in left:
        if word == "--":
            values += left
        elif len(word) < 2 or not word.startswith("-") or _NEGATIVE_NUMBER.match(word):
            values.append(word)
        else:
            options.append(word)
            if word in taking:
                options += [value for value in [next(left, None)] if value is not None]
    return [*options, "--", *values] if values else options
