# SPDX-License-Identifier: MIT
"""How all tests run: none fails because its machine is busy."""

from hypothesis import HealthCheck, settings

slow = [HealthCheck.too_slow]
settings.register_profile("any machine", deadline=None, suppress_health_check=slow)
settings.load_profile("any machine")
