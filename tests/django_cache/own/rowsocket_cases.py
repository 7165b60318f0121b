# SPDX-License-Identifier: GPL-2.0-only
"""Django's own tests of caches and of sessions in caches, with RowSocket in the place of the cache."""

from cache.tests import (  # type: ignore[import-not-found]
    BaseCacheTests,
    CacheMiddlewareTest,
    CacheUtils,
    caches_setting_for_tests,
)
from django.conf import settings
from django.core.cache import cache
from django.test import TestCase, override_settings
from sessions_tests.tests import (  # type: ignore[import-not-found]
    CacheDBSessionTests,
    CacheSessionTests,
)

ROWSOCKET = settings.CACHES["default"]


@override_settings(CACHES=caches_setting_for_tests(base=ROWSOCKET, exclude={"cull", "zero_cull"}))
class RowSocketCacheTests(BaseCacheTests, TestCase):  # type: ignore[misc]
    """The tests that Django has for every backend."""


@override_settings(CACHES={"default": {**ROWSOCKET, "KEY_PREFIX": "utils"}})
class RowSocketCacheUtils(CacheUtils):  # type: ignore[misc]
    """Of what learns a response's headers."""

    def tearDown(self) -> None:
        cache.clear()


@override_settings(
    CACHES={
        "default": ROWSOCKET,
        "other": {**ROWSOCKET, "KEY_PREFIX": "other", "TIMEOUT": "1"},
    }
)
class RowSocketCacheMiddlewareTest(CacheMiddlewareTest):  # type: ignore[misc]
    """Of what caches whole pages."""

    def tearDown(self) -> None:
        cache.clear()


class RowSocketSessionTests(CacheSessionTests):  # type: ignore[misc]
    """Of the engine django.contrib.sessions.backends.cache."""


class RowSocketDBSessionTests(CacheDBSessionTests):  # type: ignore[misc]
    """Of the engine django.contrib.sessions.backends.cached_db."""


del BaseCacheTests, CacheDBSessionTests, CacheMiddlewareTest, CacheSessionTests, CacheUtils
