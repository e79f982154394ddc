"""Which automatic backups there are, and which of them may go. Pure but for the folder's listing.

A backup says when it was made in its name, `groupx-20260131-091500.bak.db` (UTC): dates of files
change when they are copied. Only such names are ever removed. The newest one always stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

_STAMP: Final = "%Y%m%d-%H%M%S"
SUFFIX: Final = ".bak.db"


@dataclass(frozen=True, slots=True)
class Policy:
    """What is kept: at most `keep` backups, none older than `max_age`."""

    keep: int
    max_age: timedelta


@dataclass(frozen=True, slots=True)
class Backup:
    """One automatic backup."""

    path: Path
    made_at: datetime
    """UTC, to the second."""


def backup_path(database: Path, folder: Path, moment: datetime) -> Path:
    """Where the backup of `moment` goes."""
    return folder / f"{database.stem}-{moment.astimezone(UTC):{_STAMP}}{SUFFIX}"


def list_backups(database: Path, folder: Path) -> list[Backup]:
    """The automatic backups of `database` in `folder`, newest first. Raises: OSError."""
    if not folder.is_dir():
        return []
    found = [
        Backup(entry, made_at)
        for entry in folder.iterdir()
        if (made_at := _made_at(database, entry)) is not None
    ]
    return sorted(found, key=lambda backup: backup.made_at, reverse=True)


def surplus(backups: Sequence[Backup], policy: Policy, now: datetime) -> list[Backup]:
    """Those of `backups` (newest first) that the policy does not keep."""
    oldest = now - policy.max_age
    kept = [backup for backup in backups[: policy.keep] if backup.made_at >= oldest]
    return [backup for backup in backups[1:] if backup not in kept]


def leftovers(database: Path, folder: Path) -> list[Path]:
    """Unfinished backups of a server that was killed. Raises: OSError."""
    if not folder.is_dir():
        return []
    pattern = re.compile(rf"\.{re.escape(database.stem)}-\d{{8}}-\d{{6}}\.bak\.db\.[0-9a-f]+\.part")
    return [entry for entry in folder.iterdir() if pattern.fullmatch(entry.name)]


def _made_at(database: Path, entry: Path) -> datetime | None:
    start = f"{database.stem}-"
    if not (entry.name.startswith(start) and entry.name.endswith(SUFFIX)):
        return None
    try:
        return datetime.strptime(f"{entry.name[len(start) : -len(SUFFIX)]}+0000", f"{_STAMP}%z")
    except ValueError:
        return None  # a file that somebody else put there
