"""What the writer's thread does between two batches: checkpoints, and looking after trouble.

After quiet time the WAL is moved into the database. After a failed commit a small change is tried
until one succeeds, so that the server knows by itself when the disk has space again. When nothing
happens at all, the file is looked at now and then (`presence.py`). Nothing here loses anything
when it fails; how each went is told to `Health`. The counterpart is `writer.py`, which owns the
thread.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from groupx_server.ledger.batch import Batch, Outcome, Step
from groupx_server.ledger.connection import BUSY_TIMEOUT_MS, ledger_error
from groupx_server.ledger.fileheader import sidecar
from groupx_server.ledger.health import Part
from groupx_server.ledger.presence import Presence
from groupx_shared.errors import LedgerError

IDLE_CHECKPOINT_S: Final = 5.0
"""Quiet time after which the WAL is moved into the database."""

WAL_KEPT_BYTES: Final = 8 * 1024 * 1024
"""A WAL of this size is written over from its beginning instead of being cut to nothing: in a file
that grows, each sync has the file system write its own books too, and the first message after a
quiet time would pay for that."""

PROBE_S: Final = 1.0
"""Between two tries to write while commits fail."""

WATCH_S: Final = 30.0
"""Between two looks at whether the file is still there, while nothing is written."""

ANALYSIS_ROWS: Final = 400
"""Rows per index that PRAGMA optimize looks at, so that closing a large ledger stays quick
(the value SQLite's documentation proposes)."""

Tell = Callable[[Part, str | None], None]


class Upkeep:
    """Belongs to the writer's thread; `tell` may be called from it."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        presence: Presence,
        tell: Tell,
        probe: Step[Any] | None,
    ) -> None:
        """`probe` is a small change without meaning; None: only real work is tried."""
        self._connection = connection
        self._path = path
        self._presence = presence
        self._tell = tell
        self._probe = probe
        self._has_wal = True  # from an earlier run, perhaps
        self._has_failed = False

    def rest_s(self) -> float:
        """How long the thread may wait for work before `rest` is due."""
        if self._has_failed and self._probe is not None:
            return PROBE_S
        return IDLE_CHECKPOINT_S if self._has_wal else WATCH_S

    def worked(self, outcome: Outcome) -> None:
        """A batch ran."""
        self._has_wal = True
        self._has_failed = outcome.failure is not None

    def rest(self, batch: Batch) -> None:
        """No work came for `rest_s`."""
        if self._has_failed and self._probe is not None:
            failure = batch.attempt(self._probe)
            self._has_failed = failure is not None
            self._tell("commit", failure)
        elif self._has_wal:
            self._checkpoint("PASSIVE" if self._is_wal_small() else "TRUNCATE")
            self._has_wal = False
        else:
            self._watch()

    def finish(self) -> None:
        """Last work before the end: the connection is about to be closed."""
        self._watch()
        self._attempt(f"PRAGMA analysis_limit={ANALYSIS_ROWS}")
        self._attempt("PRAGMA optimize")
        self._checkpoint()

    def _watch(self) -> None:
        """Nobody writes, so nobody else looks."""
        try:
            self._presence.require(self._connection)
        except LedgerError as error:
            self._has_failed = True
            self._tell("commit", error.message)

    def _checkpoint(self, how: str = "TRUNCATE") -> None:
        """Move the WAL into the database and cut it, unless a reader still needs it.

        Never waits for readers: a new step would wait with us.
        """
        self._attempt("PRAGMA busy_timeout=0")
        failure = self._attempt(f"PRAGMA wal_checkpoint({how})")
        self._attempt(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        self._tell("checkpoint", failure)

    def _is_wal_small(self) -> bool:
        try:
            return sidecar(self._path, "-wal").stat().st_size <= WAL_KEPT_BYTES
        except OSError:  # it was taken away: presence says so
            return False

    def _attempt(self, pragma: str) -> str | None:
        """Do some housekeeping; the sentence of its failure, which loses nothing."""
        try:
            self._connection.execute(pragma).fetchall()
        except sqlite3.Error as error:
            return ledger_error(error, self._path).message
        return None
