# SPDX-License-Identifier: MIT
"""The pages: how often each was seen, by all and in this session; and one that is made once in a minute."""

from __future__ import annotations

import datetime
import os

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.cache import cache_page

DAY_S = 24 * 60 * 60


def seen(request: HttpRequest, page: str) -> HttpResponse:
    """Count a visit. No visit is lost, whichever process counts it."""
    cache.add(f"seen:{page}", 0, DAY_S)
    mine = request.session.setdefault("seen", {})
    mine[page] = mine.get(page, 0) + 1
    request.session.modified = True
    counts = {"page": page, "seen": cache.incr(f"seen:{page}"), "by_you": mine[page], "process": os.getpid()}
    return JsonResponse(counts)


@cache_page(60)
def report(request: HttpRequest) -> HttpResponse:
    """What takes long to make, as one imagines."""
    made = datetime.datetime.now(datetime.timezone.utc)
    return HttpResponse(f"made by process {os.getpid()} at {made.isoformat()}\n")


urlpatterns = [path("seen/<slug:page>", seen), path("report", report)]
