# SPDX-License-Identifier: MIT
"""A Django cache in a table of MariaDB, over RowSocket. Django's sessions can live in it.

    INSTALLED_APPS = [..., "rowsocket.django"]  # for `manage.py createrowsocketcache`
    CACHES = {
        "default": {
            "BACKEND": "rowsocket.django.cache.RowSocketCache",
            "LOCATION": "rowsocket://shop_app:password@127.0.0.1:9999/shop",
        }
    }

docs/django.md has the rest. Read in this order: schema.py (the table), pools.py (connections of a process),
cache.py (what Django asks for).
"""
