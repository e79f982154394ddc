"""The newest events, encoded once in the transaction that wrote them, for those who listen.

A window that follows the room needs each new event the moment it is on disk. Read again in a
reader's thread, that costs two hops between threads for every commit; the writer has the pages in
its hands. Invariant: what is held is the end of the ledger without a gap, and only what was
committed; who asks for more is sent to the readers (`after` gives None). Bounded in rows and
bytes. The counterparts are `writer` (which reads and tells) and the fan-out (which asks).
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from groupx_server.ledger.events import TailRow, rows_after

MAX_ROWS: Final = 256
"""One commit of more is left to the readers, so that the writer is not held up."""
MAX_BYTES: Final = 1024 * 1024


class Committed(NamedTuple):
    """What a transaction leaves: the events after `after_seq`, up to `newest_seq`, are `rows`."""

    newest_seq: int
    after_seq: int
    rows: Sequence[TailRow]


class FreshRows:
    """`read` belongs to the writer's thread, all else to the loop."""

    def __init__(self) -> None:
        self.is_wanted = False
        """Somebody listens. Set by the loop; a commit more or less makes no difference."""
        self._read_seq = 0
        self._rows: deque[TailRow] = deque()
        self._bytes = 0
        self._after = 0
        self._through = 0

    def read(self, connection: sqlite3.Connection) -> Committed:
        """In the writer's thread, at the end of a transaction that may still fail."""
        (found,) = connection.execute("SELECT max(seq) FROM events").fetchone()
        newest: int = found or 0
        after = min(self._read_seq, newest)  # lower after a transaction that was lost
        self._read_seq = newest
        if not self.is_wanted or newest - after > MAX_ROWS:
            return Committed(newest, newest, ())
        rows = rows_after(connection, after, MAX_ROWS) if newest > after else ()
        return Committed(newest, after, rows)

    def take(self, committed: Committed) -> None:
        """The transaction is on disk."""
        if committed.after_seq != self._through:
            self.forget()
            self._after = committed.after_seq
        self._through = committed.newest_seq
        self._rows.extend(committed.rows)
        self._bytes += sum(len(row.data) for row in committed.rows)
        while self._rows and (len(self._rows) > MAX_ROWS or self._bytes > MAX_BYTES):
            oldest = self._rows.popleft()
            self._bytes -= len(oldest.data)
            self._after = oldest.seq

    def after(self, seq: int, limit: int) -> list[TailRow] | None:
        """The first `limit` events after `seq`; None when not all of them are held."""
        if not self._after <= seq <= self._through:
            return None
        found: list[TailRow] = []
        for row in reversed(self._rows):  # mostly one commit's, at the end
            if row.seq <= seq:
                break
            found.append(row)
        found.reverse()
        return found[:limit]

    def forget(self) -> None:
        """Texts of stored events were removed: nothing that was read before is given any more."""
        self._rows.clear()
        self._bytes = 0
        self._after = self._through
