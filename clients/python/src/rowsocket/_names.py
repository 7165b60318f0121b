# SPDX-License-Identifier: MIT
"""Names as SQL writes them."""


def quoted(name: str) -> str:
    """An identifier of SQL."""
    return "`" + name.replace("`", "``") + "`"
