# SPDX-License-Identifier: MIT
"""A module for each command."""
