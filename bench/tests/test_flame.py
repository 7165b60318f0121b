# SPDX-License-Identifier: GPL-2.0-only
"""Profiles as pictures, without perf and without servers."""

from collections import Counter
from xml.etree import ElementTree

from bench.harness import flame, stacks

SCRIPT = """\
rs-read-0
\tffffffff81a0 tcp_sendmsg ([kernel.kallsyms])
\t    7f3a1 send (/usr/lib/x86_64-linux-gnu/libc.so.6)
\t    7f3b2 rowsocket::server::Worker::turn() (/tmp/plugins/rowsocket.so)

rs-read-0
\t    55d01 ha_innobase::index_read(unsigned char*, unsigned int) (/usr/sbin/mariadbd)
\t    7f3b2 rowsocket::server::Worker::turn() (/tmp/plugins/rowsocket.so)

rs-read-0
\t    55d01 [unknown] (/usr/sbin/mariadbd)
\t    7f3b2 rowsocket::server::Worker::turn() (/tmp/plugins/rowsocket.so)
"""

TURN = stacks.Frame("rowsocket::server::Worker::turn()", stacks.ROWSOCKET)
LOOK_UP = stacks.Frame("ha_innobase::index_read(unsigned char*, unsigned int)", stacks.DATABASE)


def samples() -> Counter[stacks.Stack]:
    """The three samples of SCRIPT."""
    return stacks.parse(SCRIPT.splitlines(keepends=True))


def boxes(text: str) -> dict[str, ElementTree.Element]:
    """The boxes of a picture by the names of their functions."""
    return {
        group.get("data-name", ""): group
        for group in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}g")
    }


def test_a_stack_begins_with_the_thread_and_ends_with_the_innermost_function() -> None:
    """Perf tells them the other way round."""
    assert samples()[(stacks.Frame("rs-read-0", ""), TURN, LOOK_UP)] == 1


def test_a_function_without_a_symbol_is_called_as_its_file() -> None:
    """Debian's programs are stripped."""
    assert samples()[(stacks.Frame("rs-read-0", ""), TURN, stacks.Frame("mariadbd", stacks.DATABASE))] == 1


def test_a_sample_counts_for_the_part_that_ran_and_not_for_its_callers() -> None:
    """The turn is on all three stacks and ran in none."""
    assert stacks.shares(samples()) == {stacks.KERNEL: 1 / 3, stacks.DATABASE: 2 / 3}


def test_stacks_that_begin_alike_share_their_boxes() -> None:
    """A picture with a box for each sample would show nothing."""
    thread = flame.tree(samples()).callees[stacks.Frame("rs-read-0", "")]
    assert thread.samples == 3
    assert thread.callees[TURN].samples == 3
    assert thread.callees[TURN].callees[LOOK_UP].samples == 1


def test_a_box_is_as_wide_as_its_share() -> None:
    """One sample of three."""
    rect = boxes(flame.svg(samples(), "point"))[LOOK_UP.name].find("{http://www.w3.org/2000/svg}rect")
    assert rect is not None
    assert float(rect.get("width", "0")) == flame.WIDTH / 3


def test_the_picture_is_whole_whatever_a_function_is_called() -> None:
    """C++ names are full of what XML reserves."""
    odd: Counter[stacks.Stack] = Counter({(stacks.Frame('std::map<int, "&">::find', stacks.LIBRARY),): 1})
    assert 'std::map<int, "&">::find' in boxes(flame.svg(odd, "a < b & c"))


def test_a_name_that_does_not_fit_is_shortened() -> None:
    """Part of a name is better than none, one letter is not."""
    assert flame.shortened("row_search_mvcc", 60) == "row_sea…"
    assert flame.shortened("row_search_mvcc", 10) == ""


def test_boxes_too_narrow_to_be_seen_are_left_out() -> None:
    """They would only make the file large."""
    many: Counter[stacks.Stack] = Counter(
        {(stacks.Frame("often", ""),): 1_000_000, (stacks.Frame("once", ""),): 1}
    )
    assert "once" not in boxes(flame.svg(many, "point"))
