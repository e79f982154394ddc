"""The bytes of a database file that SQLite has open in this process.

Closing any descriptor of such a file frees SQLite's own locks on it (POSIX), so the one here is
kept until the ledger is closed, and nothing is mapped. Reading is always allowed; what may be
written, and when, is `purge`'s business.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PIECE_BYTES: Final = 4 * 1024 * 1024
"""Read at once: a multiple of every page size, and searched in a few milliseconds."""


class RawFile:
    """Opened with the first use; used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """The whole file in pieces with their offsets. Raises: OSError."""
        offset = 0
        while piece := os.pread(self._open(), PIECE_BYTES, offset):
            yield offset, piece
            offset += len(piece)

    def wipe(self, begin: int, end: int) -> None:
        """Put zeros there; `sync` afterwards. Raises: OSError."""
        left = memoryview(bytes(end - begin))
        while left:
            written = os.pwrite(self._open(), left, end - len(left))
            left = left[written:]

    def sync(self) -> None:
        """Wait until what was wiped is on disk. Raises: OSError."""
        os.fsync(self._open())

    def close(self) -> None:
        """Only when SQLite has closed the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        if self._descriptor is None:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        return self._descriptor
