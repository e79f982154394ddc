"""What was removed for good, kept beside the ledger: a restored backup must not bring it back.

One line for each event or record, with its id and no text, in a private file that only grows. A
ledger that holds one of them with its text is an older copy; the start removes it again.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import orjson

from groupx_server.ledger.backup import sync
from groupx_server.ledger.connection import file_error
from groupx_server.ledger.redaction import Kind, Target, redact
from groupx_shared.errors import RefusedError
from groupx_shared.ids import SYSTEM

SUFFIX: Final = ".removed.jsonl"
_KINDS: Final[dict[str, Kind]] = {
    "event": "event",
    "memory": "memory",
    "identity": "identity",
    "side": "side",
}

Removal = tuple[Kind, str]


def list_path(database: Path) -> Path:
    """Where the list of a database lies."""
    return database.with_name(f"{database.stem}{SUFFIX}")


def note_removals(database: Path, removals: Iterable[Removal]) -> None:
    """Add to the list; on disk when this returns. Raises: LedgerError."""
    path = list_path(database)
    lines = b"".join(orjson.dumps({"kind": k, "id": r}) + b"\n" for k, r in removals)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, lines)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        sync(path.parent)
    except OSError as error:
        raise file_error(error, path, "write") from error


def read_removals(database: Path) -> list[Removal]:
    """The list; a line that is none (a write that was cut) is passed over. Raises: LedgerError."""
    path = list_path(database)
    try:
        lines = path.read_bytes().splitlines() if path.exists() else []
    except OSError as error:
        raise file_error(error, path, "read") from error
    found: dict[Removal, None] = {}
    for line in lines:
        try:
            entry = orjson.loads(line)
            found[_KINDS[entry["kind"]], str(entry["id"])] = None
        except (orjson.JSONDecodeError, KeyError, TypeError):
            continue
    return list(found)


def missing(connection: sqlite3.Connection, removals: Sequence[Removal]) -> list[Removal]:
    """Those of the list that this ledger does not know as removed."""
    known = set(connection.execute("SELECT kind, ref_id FROM redactions").fetchall())
    return [removal for removal in removals if removal not in known]


def unlisted(connection: sqlite3.Connection, removals: Sequence[Removal]) -> list[Removal]:
    """What this ledger knows as removed and the list lacks: a kill came between the two."""
    known = frozenset(removals)
    rows = connection.execute("SELECT kind, ref_id FROM redactions").fetchall()
    return [(_KINDS[kind], ref_id) for kind, ref_id in rows if (kind, ref_id) not in known]


def remove_again(connection: sqlite3.Connection, removals: Sequence[Removal], now: str) -> int:
    """Remove what the ledger holds of the list; return how many there were."""
    count = 0
    for kind, ref_id in missing(connection, removals):
        try:
            redact(connection, Target(kind, ref_id, SYSTEM, "restore"), now)
        except RefusedError:
            continue  # this copy is older than the text, or holds no text there
        count += 1
    return count
