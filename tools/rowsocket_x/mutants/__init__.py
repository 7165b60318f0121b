# SPDX-License-Identifier: GPL-2.0-only
"""`./x mutants`: whether the tests notice when a line of the source is changed (mutation testing)."""
