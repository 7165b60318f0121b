# SPDX-License-Identifier: GPL-2.0-only
"""The servers of `./x bench`, for tests: one set for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from bench.harness.data import Template
from bench.harness.environment import from_variables
from bench.harness.servers import Servers
from bench.tests.small import cases, environment_variables


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    """Servers that start when a peer is first asked, on tables of a few rows."""
    environment = from_variables(environment_variables())
    template = Template(lambda: made.folder, cases(), print)
    with Servers(environment, print, template) as made:
        made.warm_up_seconds = 0.1
        yield made
