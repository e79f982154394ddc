"""Is the file that we write still the one under its name?

A database that is deleted, moved or replaced while it is open goes on working for those who have
it open, and everything written to it is gone when they close it. So the writer asks here before
each commit and refuses instead of accepting what nobody would find again; what was accepted until
then is copied to a new file beside the old name, once. The same is asked of the WAL, where the
newest commits are. Only names are looked at: opening and closing the file ourselves would free
SQLite's locks on it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from groupx_server.ledger.backup import copy_online
from groupx_server.ledger.fileheader import sidecar
from groupx_server.ledger.times import utc_now
from groupx_shared.errors import GroupXError, LedgerDiskError

Identity = tuple[int, int]


class Presence:
    """Watches one open database; `require` before each commit."""

    def __init__(self, path: Path, *, now: Callable[[], datetime] = utc_now) -> None:
        self.path = path
        self._now = now
        self._names = str(path), str(sidecar(path, "-wal"))  # asked before each commit
        self._database = identity(path)
        self._wal: Identity | None = None
        self._loss: str | None = None

    def require(self, connection: sqlite3.Connection) -> None:
        """Return if all is where it was. `connection` must not be inside a transaction.

        Raises: LedgerDiskError with the name of the copy that was made.
        """
        if self._loss is None:
            name, wal_name = self._names
            wal = identity(wal_name)
            if self._database == identity(name) and self._wal in (None, wal):
                self._wal = wal  # it appears with the first commit and stays while it is open
                return
            self._loss = self._rescue(connection)
        raise LedgerDiskError(self._loss)

    def _rescue(self, connection: sqlite3.Connection) -> str:
        found = (
            f"{self.path} (or its -wal file) was deleted, moved or replaced while the server used "
            "it. Nothing is stored any more."
        )
        copy = self.path.with_name(f"{self.path.stem}.rescued-{self._now():%Y%m%d-%H%M%S}.bak.db")
        try:
            copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            copy_online(connection, copy)
        except (GroupXError, OSError, sqlite3.Error) as error:
            return (
                f"{found} All that was accepted could not be copied to {copy} ({error}): keep the "
                "server running and export the rooms with “groupx export”."
            )
        return (
            f"{found} All that was accepted is in {copy}. Stop the server, move what is left of "
            f"{self.path.name} away, copy the rescued file to its place and start again."
        )


def identity(path: Path | str) -> Identity | None:
    """Device and inode under a name; None when there is nothing."""
    try:
        found = os.stat(path)  # noqa: PTH116 - names, since a Path is made into one each time
    except OSError:
        return None
    return (found.st_dev, found.st_ino)
