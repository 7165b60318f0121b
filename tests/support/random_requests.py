# SPDX-License-Identifier: GPL-2.0-only
"""Tests with random arguments: other ones in every run, the same ones by the seed that a run prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from support.soak import Soak

Value = TypeVar("Value")


def weighed(*choices: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    """Each of them as often as it stands here, which `st.one_of` does not heed."""
    return st.sampled_from(choices).flatmap(lambda chosen: chosen)


def repeat(
    soak: Soak, example_count: int, check: Callable[..., None], **arguments: st.SearchStrategy[object]
) -> None:
    """Call `check` with so many random choices of its arguments, once or for as long as the soak goes.

    What fails is made as small as possible, and then raised. ROWSOCKET_SOAK_SEED chooses the same arguments
    again.
    """
    run = settings(
        max_examples=example_count,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
    )
    for _ in soak.trials(1):
        seed(soak.random.getrandbits(64))(run(given(**arguments)(check)))()
