# SPDX-License-Identifier: MIT
"""A site without a database of Django's: its sessions and its cache are rows of a table, over RowSocket."""

import os

SECRET_KEY = os.environ.get("DJANGO_SECRET_KEY", "only for this example")
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
ROOT_URLCONF = "urls"
USE_TZ = True
INSTALLED_APPS = ["rowsocket.django"]
MIDDLEWARE = ["django.contrib.sessions.middleware.SessionMiddleware"]

CACHES = {
    "default": {
        "BACKEND": "rowsocket.django.cache.RowSocketCache",
        "LOCATION": os.environ.get("ROWSOCKET_URL", "rowsocket://127.0.0.1:9999/demo"),
        "KEY_PREFIX": "visits",
    }
}
SESSION_ENGINE = "django.contrib.sessions.backends.cache"
SESSION_SERIALIZER = "django.contrib.sessions.serializers.JSONSerializer"
