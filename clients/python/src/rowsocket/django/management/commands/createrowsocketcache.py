# SPDX-License-Identifier: MIT
"""`manage.py createrowsocketcache`: the tables of the caches, and the events that delete what has expired."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.cache import InvalidCacheBackendError, caches
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, connections
from django.utils.connection import ConnectionDoesNotExist

from rowsocket.django import schema
from rowsocket.django.cache import RowSocketCache


class Command(BaseCommand):
    """What `createcachetable` is to Django's own cache in a database."""

    help = "Makes the tables of the caches that use RowSocket, where they are not there yet."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """The options of the command."""
        parser.add_argument("caches", nargs="*", help="Names in CACHES; all that use RowSocket without.")
        parser.add_argument(
            "--database", default=DEFAULT_DB_ALIAS, help="The connection of DATABASES to use: a MariaDB."
        )
        parser.add_argument(
            "--no-event", action="store_true", help="Make no event that deletes what has expired."
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="Only print the statements, for the client `mariadb`."
        )

    def handle(self, *names: Any, **options: Any) -> None:
        """Make them, or print what would."""
        chosen = self._chosen(options["caches"])
        if options["dry_run"]:
            for cache in chosen:
                self._print(cache, not options["no_event"])
            return
        try:
            connection = connections[options["database"]]
        except ConnectionDoesNotExist:
            raise CommandError(f"DATABASES has no {options['database']!r}") from None
        if connection.vendor != "mysql":
            raise CommandError(
                f"DATABASES[{options['database']!r}] is no MariaDB. Pipe the statements into one: "
                "manage.py createrowsocketcache --dry-run | mariadb"
            )
        with connection.cursor() as cursor:
            for cache in chosen:
                cursor.execute(schema.create_table(cache.database, cache.table))
                if not options["no_event"]:
                    cursor.execute(schema.create_event(cache.database, cache.table))
                self.stdout.write(f"{cache.database}.{cache.table} is there")
            cursor.execute("SELECT @@global.event_scheduler")
            [state] = cursor.fetchone()
        if state != "ON" and not options["no_event"]:
            self.stderr.write(
                "event_scheduler is not ON: what has expired is not deleted (SET GLOBAL event_scheduler = ON)"
            )

    def _chosen(self, names: list[str]) -> list[RowSocketCache]:
        found = []
        unknown = [name for name in names if name not in settings.CACHES]
        if unknown:
            raise CommandError(f"CACHES has no {unknown[0]!r} (it has {', '.join(settings.CACHES)})")
        for name in names or settings.CACHES:
            try:
                cache = caches[name]
            except (ImproperlyConfigured, InvalidCacheBackendError) as error:
                raise CommandError(f"CACHES[{name!r}]: {error}") from error
            if isinstance(cache, RowSocketCache):
                found.append(cache)
            elif names:
                raise CommandError(f"CACHES[{name!r}] does not use RowSocket")
        if not found:
            raise CommandError("no cache of CACHES uses RowSocket")
        return found

    def _print(self, cache: RowSocketCache, with_event: bool) -> None:
        self.stdout.write(f"{schema.create_table(cache.database, cache.table)};")
        if with_event:
            event = schema.create_event(cache.database, cache.table)
            self.stdout.write(f"DELIMITER //\n{event}//\nDELIMITER ;")
