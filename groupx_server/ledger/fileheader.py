"""What a database file says of itself, read as bytes: nothing is opened, locked or written.

SQLite leaves traces when it opens a file whose last program crashed (it replays journals, makes
a -shm file). A file of a newer program must stay byte for byte as it is, so its version is read
here first. The counterpart is `migrate`, which decides by it.

Source: https://www.sqlite.org/fileformat2.html §1.3 (header), §4.1-4.2 (WAL).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

_MAGIC: Final = b"SQLite format 3\x00"
_VERSION_OFFSET: Final = 60
_HEADER_BYTES: Final = 100
_WAL_HEADER: Final = struct.Struct(">8I")
_WAL_FRAME: Final = struct.Struct(">6I")
_WAL_MAGIC: Final = (0x377F0682, 0x377F0683)


class NotADatabaseError(ValueError):
    """The file does not begin as a SQLite database does."""


@dataclass(frozen=True, slots=True)
class FileState:
    """What lies on disk under the database's name."""

    exists: bool
    """The database file is there and not empty."""
    version: int
    """The highest PRAGMA user_version found in the file and in committed pages of its WAL."""
    has_wal: bool
    has_journal: bool
    """A journal beside it holds changes that the next program must finish or undo."""


def sidecar(path: Path, suffix: str) -> Path:
    """`groupx.db`, `-wal` -> `groupx.db-wal`."""
    return path.with_name(path.name + suffix)


def read_state(path: Path) -> FileState:
    """Read the state of the database at `path`, which need not exist.

    Raises:
        NotADatabaseError: there is a file that is not a SQLite database.
        OSError: it cannot be read.
    """
    wal, journal = sidecar(path, "-wal"), sidecar(path, "-journal")
    exists = _size(path) > 0
    has_wal = _size(wal) > 0
    version = _main_version(path) if exists else 0
    if exists and has_wal:
        with wal.open("rb") as file:
            version = max(version, _wal_version(file))
    return FileState(exists, version, has_wal, _size(journal) > 0)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _main_version(path: Path) -> int:
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if not header.startswith(_MAGIC) or len(header) < _HEADER_BYTES:
        raise NotADatabaseError("it does not begin with SQLite's header")
    return _version_of(header)


def _version_of(page_one: bytes) -> int:
    (version,) = struct.unpack_from(">i", page_one, _VERSION_OFFSET)
    return int(version)


def _wal_version(file: BinaryIO) -> int:
    """The highest user_version in committed copies of page 1, 0 when there is none.

    Frames of an earlier round of the WAL carry other salts and are skipped. Checksums are not
    looked at: a torn frame can only make a refusal more likely, never an upgrade.
    """
    header = file.read(_WAL_HEADER.size)
    if len(header) < _WAL_HEADER.size:
        return 0
    magic, _, page_size, _, salt_one, salt_two, _, _ = _WAL_HEADER.unpack(header)
    if magic not in _WAL_MAGIC:
        return 0
    committed = pending = 0
    while len(head := file.read(_WAL_FRAME.size)) == _WAL_FRAME.size:
        page_no, pages_after_commit, frame_one, frame_two, _, _ = _WAL_FRAME.unpack(head)
        if (frame_one, frame_two) != (salt_one, salt_two):
            break
        if page_no == 1:
            page = file.read(page_size)
            if len(page) < _HEADER_BYTES:
                break
            pending = max(pending, _version_of(page))
        else:
            file.seek(page_size, 1)
        if pages_after_commit:
            committed = max(committed, pending)
    return committed
