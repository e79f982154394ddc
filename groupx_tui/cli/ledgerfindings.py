"""`groupx doctor` on the ledger: is its file sound, and is there a backup of it?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from groupx_shared.config import database_path, load_config
from groupx_shared.workspace import Workspace
from groupx_tui.cli import files
from groupx_tui.cli.diagnostics import CommandError
from groupx_tui.cli.findings import Finding

PROVE_MAX_BYTES: Final = 256_000_000
"""A larger file takes more than some seconds to read; the person is told how."""

BEHIND: Final = timedelta(days=2)
"""A backup this much older than the last write: the daily one was missed."""


def findings(workspace: Workspace, *, prove: bool) -> Iterator[Finding]:
    """Check the database of a workspace whose config can be read. `prove`: read all of it."""
    config = load_config(workspace)
    path = database_path(workspace, config)
    try:
        size, written_at = path.stat().st_size, path.stat().st_mtime
    except FileNotFoundError:
        yield Finding("database", "ok", f"{path} is made at the first start")
        return
    is_proven = prove and size <= PROVE_MAX_BYTES
    yield (
        _proof(path)
        if is_proven
        else Finding(
            "database", "ok", f"{path} ({size / 1_000_000:,.1f} MB); “groupx verify” proves it"
        )
    )
    if config.storage.backups.enabled:
        yield _backups(path, datetime.fromtimestamp(written_at, UTC))
    else:
        yield Finding("backups", "warning", "switched off (storage.backups.enabled)")


def _proof(path: Path) -> Finding:
    try:
        result = files.ask("verify", path)
    except CommandError as error:
        return Finding("database", "error", error.message)
    if result["violations"]:
        broken = ", ".join(violation["rule"] for violation in result["violations"])
        return Finding("database", "error", f"{path} is not sound: {broken}. See “groupx verify”.")
    if result["isNewer"]:
        return Finding(
            "database", "error", f"{path} was written by a newer GroupX; update this one."
        )
    return Finding("database", "ok", f"{path}: {result['events']:,} events, sound")


def _backups(path: Path, written_at: datetime) -> Finding:
    try:
        backups = files.ask("list", path)["backups"]
    except CommandError as error:
        return Finding("backups", "error", error.message)
    if not backups:
        return Finding("backups", "ok", "none yet; the first is made after an hour of use")
    newest = datetime.fromisoformat(backups[0]["madeAt"])
    text = f"{len(backups)}, the newest of {newest:%Y-%m-%d %H:%M} UTC"
    if written_at - newest > BEHIND:
        return Finding("backups", "warning", f"{text}; make one with “groupx backup FILE”")
    return Finding("backups", "ok", text)
