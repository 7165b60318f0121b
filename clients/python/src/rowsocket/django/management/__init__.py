# SPDX-License-Identifier: MIT
"""Commands of `manage.py`."""
