# SPDX-License-Identifier: MIT
"""How all tests run: none fails because its machine is busy."""

from hypothesis import settings

settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")
