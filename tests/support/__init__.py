# SPDX-License-Identifier: GPL-2.0-only
"""The vocabulary of the tests: private servers, raw connections, vectors."""
