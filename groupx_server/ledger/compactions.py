"""How each room's latest compaction stands, on disk: a crash leaves no lie behind.

One row for a room. What a server did not finish is `interrupted` at the next start: its parts that
were kept are named, and it can be asked for again. Failures are counted, so that turns do not ask
agents again and again; a success, or a person's asking, goes past the pause.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from groupx_server.ledger.times import parse_iso, to_iso
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.context import CompactionInfo

FIRST_PAUSE: Final = timedelta(seconds=15)
LONGEST_PAUSE: Final = timedelta(minutes=15)
"""After a failure; doubled from the first to the longest."""
NO_WRITER_PAUSE: Final = timedelta(minutes=1)
"""Where nobody writes summaries: agents may be added, and turns go on meanwhile."""


@dataclass(frozen=True, slots=True)
class KeptCompaction:
    """A room's latest compaction, and until when turns do not try again."""

    info: CompactionInfo
    failure_count: int
    next_attempt_at: str | None


def read_compaction(connection: sqlite3.Connection, room_id: str) -> KeptCompaction | None:
    """How the room's latest compaction stands; None when there was none."""
    row = connection.execute(
        "SELECT info_json, failure_count, next_attempt_at FROM compactions WHERE room_id = ?",
        (room_id,),
    ).fetchone()
    if row is None:
        return None
    return KeptCompaction(CompactionInfo.model_validate_json(row[0]), row[1], row[2])


def keep_compaction(
    connection: sqlite3.Connection, room_id: str, info: CompactionInfo, now: str
) -> None:
    """Note how it stands now."""
    known = read_compaction(connection, room_id)
    failures = 0 if known is None else known.failure_count
    next_at = None if known is None else known.next_attempt_at
    if info.phase == "failed":
        longest = NO_WRITER_PAUSE if info.has_no_writer else LONGEST_PAUSE
        pause = min(longest, FIRST_PAUSE * 2 ** min(failures, 6))
        failures, next_at = failures + 1, to_iso(parse_iso(now) + pause)
    elif info.phase == "completed":
        failures, next_at = 0, None
    connection.execute(
        "INSERT INTO compactions(room_id, operation_id, phase, info_json, failure_count,"
        " next_attempt_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
        " ON CONFLICT(room_id) DO UPDATE SET operation_id = ?2, phase = ?3, info_json = ?4,"
        " failure_count = ?5, next_attempt_at = ?6, updated_at = ?7",
        (
            room_id,
            info.operation_id,
            info.phase,
            info.model_dump_json(by_alias=True, exclude_none=True),
            failures,
            next_at,
            now,
        ),
    )


def settle_left_compactions(connection: sqlite3.Connection, now: str) -> list[str]:
    """A start: what an earlier server had begun is interrupted, or done when all of it was kept.
    Return the rooms."""
    rows = connection.execute(
        "SELECT room_id, info_json FROM compactions WHERE phase IN ('started', 'retrying')"
    ).fetchall()
    for room_id, stored in rows:
        info = CompactionInfo.model_validate_json(stored)
        keep_compaction(connection, room_id, _settled(info, now), now)
    return [room_id for room_id, _ in rows]


def _settled(info: CompactionInfo, now: str) -> CompactionInfo:
    if info.kept_parts >= info.parts:
        return info.model_copy(update={"phase": "completed", "ended_at": now})
    return interrupted(info, now)


def interrupted(info: CompactionInfo, now: str) -> CompactionInfo:
    """The same compaction, broken off, with what that means."""
    kept = f"{info.kept_parts} of {info.parts} parts were" if info.kept_parts else "Nothing was"
    return info.model_copy(
        update={
            "phase": "interrupted",
            "ended_at": now,
            "error_code": ErrorCode.TURN_INTERRUPTED,
            "error_message": (
                f"It was broken off before it was done. {kept} kept; no message was touched. "
                "The next turn that needs it does it again, and so does “groupx context compact”."
            ),
        }
    )
