# SPDX-License-Identifier: GPL-2.0-only
"""The table of the caches of tests/django_cache. Its names have to be quoted."""

DATABASE = "django caches"
TABLE = "own`table"
