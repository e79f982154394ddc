"""The name of a ledger, for those who keep something about it."""

from __future__ import annotations

import secrets
import sqlite3
from typing import Final

FIRST_VERSION: Final = 10
"""Older files have no name; they get one when they are upgraded."""


def renew_ledger_id(connection: sqlite3.Connection) -> None:
    """Make it another ledger: its future is not that of the file it was copied from."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version >= FIRST_VERSION:
        connection.execute(
            "UPDATE ledger_meta SET value = ? WHERE key = 'ledger_id'", (secrets.token_hex(16),)
        )
