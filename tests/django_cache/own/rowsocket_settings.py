# SPDX-License-Identifier: GPL-2.0-only
"""Settings for Django's own tests, of which test_own.py runs some on a RowSocket."""

import os

SECRET_KEY = "of the tests"
USE_TZ = False
DATABASES = {
    name: {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"} for name in ("default", "other")
}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sites",
    "django.contrib.sessions",
    "django.contrib.messages",
    "cache",  # folders of Django's tests, for their models
    "sessions_tests",
    "rowsocket.django",
]
MIDDLEWARE = [
    "django.middleware.common.CommonMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SITE_ID = 1
CACHES = {
    "default": {
        "BACKEND": "rowsocket.django.cache.RowSocketCache",
        "LOCATION": os.environ["ROWSOCKET_URL"],
    }
}
