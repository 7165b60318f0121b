# SPDX-License-Identifier: GPL-2.0-only
"""Tests with random arguments: other ones in each run. The seed stands in the output (support/soak.py says how to use it)."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from support.soak import Soak


def repeat(soak: Soak, example_count: int, check: Callable[..., None], **arguments: st.SearchStrategy[object]) -> None:
    """Call `check` with so many random choices of its arguments, once or for as long as the soak goes.

    What fails is made as small as possible, and then raised.
    """
    run = settings(
        max_examples=example_count,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
    )
    for _ in soak.trials(1):
        test = run(given(**arguments)(check))
        seed(soak.random.getrandbits(64))(test)()
