"""Putting a backup to use: a new database file that is proven, and known as another ledger.

Never over an existing file: whoever restores moves the old one away first, and keeps it. The new
file has a new ledger id, since from here on the two go different ways under the same numbers;
clients that knew the old one load everything anew.
"""

from __future__ import annotations

import os
from pathlib import Path

from groupx_server.ledger.backup import copy_online
from groupx_server.ledger.examine import Examination, examine
from groupx_server.ledger.fileheader import sidecar
from groupx_server.ledger.identity import renew_ledger_id
from groupx_server.ledger.verify import INTEGRITY
from groupx_shared.errors import LedgerCorruptError, LedgerError, LedgerTooNewError


def restore(backup: Path, target: Path) -> Examination:
    """Make `target` from `backup`; return what the backup was found to hold.

    Rules that are broken in it do not keep it from being restored (it may be the best there is);
    they stand in the result. Raises: LedgerError; `target` does not exist then.
    """
    for suffix in ("", "-wal", "-shm", "-journal"):
        _refuse_existing(sidecar(target, suffix))
    found = examine(backup)
    _require_usable(found)
    copy_online(backup, target, edit=renew_ledger_id)
    return found


def _refuse_existing(path: Path) -> None:
    if os.path.lexists(path):
        raise LedgerError(
            f"{path} exists already; a restore never replaces a file. Stop the server, move the "
            "old database away with its -wal, -shm and -journal files, and try again."
        )


def _require_usable(found: Examination) -> None:
    if found.is_newer:
        raise LedgerTooNewError(
            f"{found.path} was written by a newer GroupX than this one. Update GroupX first."
        )
    damage = [v.rows for v in found.violations if v.rule == INTEGRITY]
    if damage or found.contents is None:
        said = damage[0][0] if damage else "it cannot be read to its end"
        raise LedgerCorruptError(f"{found.path} is damaged ({said}). Take an older backup.")
