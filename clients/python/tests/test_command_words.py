# SPDX-License-Identifier: MIT
"""What words of a command line mean."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowsocket.cli.row_verbs import key_size_of
from rowsocket.cli.words import (
    assignments,
    column_list,
    in_line,
    line_begun,
    name_in_word,
    names_begun,
    one_name,
    table_name,
    value_of,
    values_last,
    words_of,
)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("42", "42"),
        ("", ""),
        ("a=b", "a=b"),
        (":null", None),
        (":hex=FF00", b"\xff\x00"),
        (":hex=ff 00", b"\xff\x00"),
        (":hex=", b""),
        (":base64=/wA=", b"\xff\x00"),
        (":text=:null", ":null"),
        (":text=a\nb", "a\nb"),
        (":nulls", ":nulls"),
        (":other=x", ":other=x"),
        ("x:hex=00", "x:hex=00"),
    ],
)
def test_a_word_is_a_value(word: str, value: Any) -> None:
    assert value_of(word) == value


@pytest.mark.parametrize("word", [":hex=0", ":hex=zz", ":base64=/w", ":base64=/wA=\n!", ":base64=é"])
def test_bytes_that_are_none_are_refused(word: str) -> None:
    with pytest.raises(ValueError, match=r"is not (hex|base64)"):
        value_of(word)


@pytest.mark.parametrize(
    ("word", "row"),
    [
        ("n=5", {"n": "5"}),
        ("n=", {"n": ""}),
        ("n=a=b", {"n": "a=b"}),
        ("n=:null", {"n": ":null"}),
        ("n:null", {"n": None}),
        ("n:hex=FF", {"n": b"\xff"}),
        ("n:base64=/w==", {"n": b"\xff"}),
        ("n:text=x", {"n": "x"}),
        ("n:null=5", {"n:null": "5"}),
        ("n:m=5", {"n:m": "5"}),
        ("`a=b`=5", {"a=b": "5"}),
        ("`a:hex`=5", {"a:hex": "5"}),
        ("`a:hex`:hex=35", {"a:hex": b"5"}),
        ("`a``b`:null", {"a`b": None}),
    ],
)
def test_an_assignment_is_a_name_and_a_value(word: str, row: dict[str, Any]) -> None:
    assert assignments([word]) == row


@pytest.mark.parametrize("word", ["n", "", "=5", ":null", ":hex=00", "`a=5", "`a`", "`a`5"])
def test_what_is_no_assignment_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match="NAME=VALUE"):
        assignments([word])


def test_a_column_is_named_once() -> None:
    assert column_list("id,a.b,`c``d`,`e f`") == ["id", "a.b", "c`d", "e f"]
    for text in ("id,name,id", "id,`id`"):
        with pytest.raises(ValueError, match="'id' is named twice"):
            column_list(text)
    with pytest.raises(ValueError, match="'n' is named twice"):
        assignments(["n=1", "n=2"])


def test_names_in_backticks_may_have_points_and_commas() -> None:
    assert table_name("user") == (None, "user")
    assert table_name("shop.user") == ("shop", "user")
    assert table_name("my.shop.user") == ("my.shop", "user")
    assert table_name("`my.user`") == (None, "my.user")
    assert table_name("shop.`my.user`") == ("shop", "my.user")
    assert column_list("`a,b`,c") == ["a,b", "c"]
    for text in ("`a", "`a`b", "`a`.b.c"):
        with pytest.raises(ValueError):
            table_name(text)


@given(st.lists(st.text(st.sampled_from("a.`,=: -'\"\\\\é"), min_size=1), min_size=1, unique=True))
def test_a_name_comes_back_from_its_word_and_a_word_from_its_line(names: list[str]) -> None:
    for name in names:
        word = name_in_word(name)
        assert one_name(word) == name
        assert table_name(word) == (None, name)
        assert assignments([f"{word}=1"]) == {name: "1"}
        assert names_begun(word, ".") == ([], name)
        assert names_begun(f"d.{word}", ".") == (["d"], name)
    assert column_list(",".join(map(name_in_word, names))) == names
    line = " ".join(map(in_line, names))
    assert words_of(line) == names
    assert line_begun(line) == (names[:-1], names[-1], len(in_line(names[-1])))


@given(st.text(st.sampled_from(" \t'\"\\\\aé\n")))
def test_a_line_is_split_as_a_posix_shell_does(line: str) -> None:
    try:
        words = shlex.split(line)
    except ValueError:
        with pytest.raises(ValueError, match=r"no closing quotation|nothing behind a backslash"):
            words_of(line)
    else:
        assert words_of(line) == words


@pytest.mark.parametrize(
    ("line", "begun"),
    [
        ("", ([], "", 0)),
        ("get ", (["get"], "", 0)),
        ("get  'a b", (["get"], "a b", 4)),
        ('get "a \\" b', (["get"], 'a " b', 7)),
        ("get a\\ b", (["get"], "a b", 4)),
        ("put t 'a b='", (["put", "t"], "a b=", 6)),
        ("put t 'a b='5 c", (["put", "t", "a b=5"], "c", 1)),
    ],
)
def test_the_word_before_the_cursor(line: str, begun: tuple[list[str], str, int]) -> None:
    assert line_begun(line) == begun


@pytest.mark.parametrize(
    ("words", "said", "size"),
    [
        (["1", "n=5"], None, 1),
        (["a=b", "n=5"], None, 1),
        ([":null", "n=5"], None, 1),
        (["x:null", "n=5"], None, 1),
        (["1", "2", "n=5", "m=6"], None, 2),
        (["1", ":hex=00", "n=5"], None, 2),
        (["1", "a=b", "n=5"], 2, 2),
    ],
)
def test_the_first_words_are_the_key(words: list[str], said: int | None, size: int) -> None:
    assert key_size_of(words, said) == size


@pytest.mark.parametrize(("words", "said"), [(["1"], None), (["n=5"], None), (["1", "n=5"], 2)])
def test_something_has_to_be_set(words: list[str], said: int | None) -> None:
    with pytest.raises(ValueError, match="set TABLE KEY"):
        key_size_of(words, said)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["t", "-1"], ["--", "t", "-1"]),
        (["t", "-.5", "--json"], ["--json", "--", "t", "-.5"]),
        (["t", "--limit", "-1", "-2"], ["--limit", "-1", "--", "t", "-2"]),
        (["t", "--limit=5", "-c", "id", "-838:59:59"], ["--limit=5", "-c", "id", "--", "t", "-838:59:59"]),
        (["t", "--", "-c", "--json"], ["--", "t", "-c", "--json"]),
        (["t", "-", "1"], ["--", "t", "-", "1"]),
        (["t", "1", "--limit"], ["--limit", "--", "t", "1"]),
        (["--help"], ["--help"]),
    ],
)
def test_negative_numbers_are_values(words: list[str], expected: list[str]) -> None:
    assert values_last(words, {"--limit", "-c"}) == expected
