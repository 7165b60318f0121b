# SPDX-License-Identifier: MIT
"""For a server of WSGI: `gunicorn --workers 2 --preload wsgi`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")
application = get_wsgi_application()
