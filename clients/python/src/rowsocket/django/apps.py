# SPDX-License-Identifier: MIT
"""The application, for its management command."""

from django.apps import AppConfig


class RowSocketConfig(AppConfig):
    """There are no models in it."""

    name = "rowsocket.django"
    label = "rowsocket"
    verbose_name = "RowSocket"
