"""The lease: one server per database file.

An advisory lock (`flock`) on `<database>.lock`. The kernel frees it when the process dies, so a
crash leaves nothing to clean up; the file itself stays, since removing a lock file while somebody
opens it would let two servers hold "the" lock. Its text names the holder for the error sentence
and means nothing else.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from groupx_server.ledger.connection import file_error
from groupx_server.ledger.times import to_iso
from groupx_shared.errors import LedgerBusyError
from groupx_shared.text import safe_line

_HOLDER_MAX_BYTES: Final = 200


class Lease:
    """The held lock; `release` it, or leave the `with` block."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    @classmethod
    def take(cls, database: Path, *, now: Callable[[], datetime]) -> Self:
        """Take the lease for `database`; never waits.

        Raises:
            LedgerBusyError: another server holds it; the sentence names its process.
            LedgerError: the lock file cannot be made.
        """
        path = database.with_name(database.name + ".lock")
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            descriptor = os.open(path, flags, 0o600)
        except OSError as error:
            raise file_error(error, path, "make the lock file") from error
        try:
            _lock(descriptor, path, database)
            _write_holder(descriptor, f"process {os.getpid()} since {to_iso(now())}", path)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor)

    def release(self) -> None:
        """Let the next server in. Harmless when called again."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        os.close(descriptor)  # frees the lock; no copy of the descriptor exists in a child

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def _lock(descriptor: int, path: Path, database: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = _read_holder(descriptor)
        raise LedgerBusyError(
            f"Another GroupX server already uses {database} ({holder}). Use that one, or stop it "
            "first: groupx stop.",
            details={"holder": holder},
        ) from error
    except OSError as error:
        raise file_error(error, path, "lock") from error


def _read_holder(descriptor: int) -> str:
    text = os.pread(descriptor, _HOLDER_MAX_BYTES, 0).decode("utf-8", "replace")
    return safe_line(text) or "it does not say which"


def _write_holder(descriptor: int, text: str, path: Path) -> None:
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode() + b"\n", 0)
    except OSError as error:
        raise file_error(error, path, "write") from error
