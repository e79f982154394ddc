"""An agent's days: which turns go into them, and how far they were written down (seed §6.3).

`agent_dated_memory_sources` has one row for each completed turn, written with its end;
`agent_dated_memory_rollups` one row for each agent, room and local day, with what waits and when it
may be tried. Both hold ids and counts only; the texts are the events'. At most one dated record of
a day is active, replaced by compare-and-set. What watched others is left out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.memory import NewMemory, read_memory, write_dated
from groupx_server.ledger.messages import SpokenMessage, read_message
from groupx_server.ledger.records import Author
from groupx_server.ledger.times import parse_iso, to_iso
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.context import DayInfo
from groupx_shared.wire.memory import MemoryRecord, MemoryScope

DUE_TURNS: Final = 8
DUE_CHARS: Final = 16_000
QUIET: Final = timedelta(minutes=5)
"""So many turns, or characters, and then quiet: a batch is written down."""
BATCH_CHARS: Final = 120_000
"""Of one batch; at least one turn."""
SOURCE_KIND: Final = "automatic_rollup"
FIRST_PAUSE: Final = timedelta(seconds=60)
LONGEST_PAUSE: Final = timedelta(minutes=15)
"""After a failure; doubled from the first to the longest, and on disk."""


@dataclass(frozen=True, slots=True)
class Day:
    """One agent's local day in one room, with what waits of it."""

    room_id: str
    actor_id: str
    local_date: str
    pending_turns: int
    pending_chars: int
    failure_count: int

    @property
    def key(self) -> tuple[str, str, str]:
        return self.room_id, self.actor_id, self.local_date


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said to the agent, and what it answered."""

    turn_id: str
    asked: SpokenMessage
    answered: SpokenMessage


@dataclass(frozen=True, slots=True)
class DayBatch:
    """The next turns of a day, oldest first, and what was written of it until now."""

    day: Day
    previous: MemoryRecord | None
    turns: Sequence[Turn]

    @property
    def characters(self) -> int:
        return sum(len(t.asked.content) + len(t.answered.content) for t in self.turns)


def local_date(now: str) -> str:
    """The day of a stored time in the server's time zone."""
    return parse_iso(now).astimezone().date().isoformat()


@dataclass(frozen=True, slots=True)
class Answer:
    """A turn's answer as it was just written."""

    event_id: str
    seq: int
    chars: int


def note_turn(
    connection: sqlite3.Connection,
    turn_id: str,
    room_id: str,
    actor_id: str,
    source_event_id: str,
    answer: Answer,
    now: str,
) -> None:
    """A turn completed: it goes into its agent's day, unless the agent watched others in it."""
    is_watch = connection.execute(
        "SELECT 1 FROM supervision_pair_turns WHERE turn_id = ? AND role = 'observer'", (turn_id,)
    ).fetchone()
    if is_watch is not None:
        return
    asked = read_message(connection, source_event_id)
    if asked is None:
        return
    chars = len(asked.content) + answer.chars
    day = (room_id, actor_id, local_date(now))
    connection.execute(
        "INSERT INTO agent_dated_memory_rollups(room_id, actor_id, local_date, pending_turns,"
        " pending_chars, pending_through_seq, first_pending_at, last_pending_at, updated_at)"
        " VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?6, ?6) ON CONFLICT DO UPDATE SET"
        " pending_turns = pending_turns + 1, pending_chars = pending_chars + ?4,"
        " pending_through_seq = ?5, first_pending_at = COALESCE(first_pending_at, ?6),"
        " last_pending_at = ?6, updated_at = ?6",
        (*day, chars, answer.seq, now),
    )
    connection.execute(
        "INSERT INTO agent_dated_memory_sources(turn_id, room_id, actor_id, local_date,"
        " source_event_id, source_seq, response_event_id, response_seq, source_chars, terminal_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            turn_id,
            *day,
            source_event_id,
            asked.seq,
            answer.event_id,
            answer.seq,
            chars,
            now,
        ),
    )


_DAY: Final = (
    "SELECT room_id, actor_id, local_date, pending_turns, pending_chars, failure_count"
    " FROM agent_dated_memory_rollups WHERE pending_turns > 0"
)


def due_days(connection: sqlite3.Connection, now: str) -> list[Day]:
    """Days of which enough waits and it is quiet, or that are over; those that failed wait."""
    quiet_since = to_iso(parse_iso(now) - QUIET)
    rows = connection.execute(
        f"{_DAY} AND COALESCE(next_attempt_at, '') <= ? AND (local_date < ? OR ("
        "(pending_turns >= ? OR pending_chars >= ?) AND last_pending_at <= ?))"
        " ORDER BY local_date, first_pending_at",
        (now, local_date(now), DUE_TURNS, DUE_CHARS, quiet_since),
    )
    return [Day(*row) for row in rows]


def days_before(connection: sqlite3.Connection, room_id: str, through_seq: int) -> list[Day]:
    """Days of a room of which something waits that is about to be summed up."""
    rows = connection.execute(
        f"{_DAY} AND room_id = ? AND EXISTS (SELECT 1 FROM agent_dated_memory_sources s"
        " WHERE s.room_id = agent_dated_memory_rollups.room_id"
        " AND s.actor_id = agent_dated_memory_rollups.actor_id"
        " AND s.local_date = agent_dated_memory_rollups.local_date"
        " AND s.processed_at IS NULL AND s.source_seq <= ?) ORDER BY local_date",
        (room_id, through_seq),
    )
    return [Day(*row) for row in rows]


def list_days(
    connection: sqlite3.Connection, room_id: str | None, actor_id: str | None, limit: int
) -> list[DayInfo]:
    """The newest days of all agents and rooms, or of those that are given: what is written and
    what waits."""
    rows = connection.execute(
        "SELECT r.room_id, r.actor_id, r.local_date, m.memory_id, COALESCE(length(m.content), 0),"
        " m.created_at, (SELECT count(*) FROM agent_dated_memory_sources s WHERE"
        " s.room_id = r.room_id AND s.actor_id = r.actor_id AND s.local_date = r.local_date),"
        " r.pending_turns, r.pending_chars, r.failure_count, r.next_attempt_at, r.last_error_code"
        " FROM agent_dated_memory_rollups r LEFT JOIN memory_records m"
        " ON m.memory_id = r.memory_id AND m.status = 'active'"
        " WHERE (?1 IS NULL OR r.room_id = ?1) AND (?2 IS NULL OR r.actor_id = ?2)"
        " ORDER BY r.local_date DESC, r.updated_at DESC LIMIT ?3",
        (room_id, actor_id, limit),
    )
    names = tuple(DayInfo.model_fields)
    return [DayInfo(**dict(zip(names, row, strict=True))) for row in rows]


def read_batch(connection: sqlite3.Connection, day: Day) -> DayBatch | None:
    """The next turns of a day; None when none waits."""
    rows = connection.execute(
        "SELECT turn_id, source_event_id, response_event_id, source_chars"
        " FROM agent_dated_memory_sources WHERE room_id = ? AND actor_id = ? AND local_date = ?"
        " AND processed_at IS NULL ORDER BY response_seq",
        day.key,
    )
    turns: list[Turn] = []
    left = BATCH_CHARS
    for turn_id, source_id, response_id, chars in rows:
        left -= chars
        if turns and left < 0:
            break
        asked, answered = read_message(connection, source_id), read_message(connection, response_id)
        assert asked is not None  # a foreign key holds them
        assert answered is not None
        turns.append(Turn(turn_id, asked, answered))
    if not turns:
        return None
    return DayBatch(day, _active(connection, _rollup_memory(connection, day)), turns)


def finish_batch(
    connection: sqlite3.Connection,
    batch: DayBatch,
    content: str | None,
    usage: dict[str, Any],
    now: str,
) -> MemoryRecord | None:
    """Note that a batch was written down, as `content` or as nothing worth keeping (None).

    Raises: RefusedError (STORE_CONFLICT) when another record of the day was written, or that one
    was taken back, meanwhile: nothing is changed then.
    """
    day = batch.day
    current = _active(connection, _rollup_memory(connection, day))
    known = None if batch.previous is None else batch.previous.memory_id
    if (None if current is None else current.memory_id) != known:
        raise RefusedError(
            "The day's record changed while it was being written; it is tried again.",
            code=ErrorCode.STORE_CONFLICT,
        )
    record = current
    if content is not None:
        record = write_dated(connection, _new_record(batch, content), known, usage, now)
    memory_id = None if record is None else record.memory_id
    connection.executemany(
        "UPDATE agent_dated_memory_sources SET processed_at = ?, memory_id = ? WHERE turn_id = ?",
        [(now, memory_id, turn.turn_id) for turn in batch.turns],
    )
    _count(connection, day, memory_id, batch.turns[-1].answered.seq, now)
    failpoint("dated.before_commit")
    return record if content is not None else None


def note_failure(connection: sqlite3.Connection, day: Day, code: str, now: str) -> None:
    """The day could not be written down; it is tried again after a pause that grows."""
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(day.failure_count, 4))
    connection.execute(
        "UPDATE agent_dated_memory_rollups SET failure_count = failure_count + 1,"
        " last_attempt_at = ?, next_attempt_at = ?, last_error_code = ?, updated_at = ?"
        " WHERE room_id = ? AND actor_id = ? AND local_date = ?",
        (now, to_iso(parse_iso(now) + pause), code, now, *day.key),
    )


def _new_record(batch: DayBatch, content: str) -> NewMemory:
    day = batch.day
    return NewMemory(
        scope=MemoryScope(type="agent", id=day.actor_id),
        kind="summary",
        content=content,
        author=Author(day.actor_id, SOURCE_KIND),
        room_id=day.room_id,
        agent_memory_type="dated",
        subject_actor_id=day.actor_id,
        source_event_id=batch.turns[-1].answered.event_id,
        supersedes=None if batch.previous is None else batch.previous.memory_id,
    )


def _rollup_memory(connection: sqlite3.Connection, day: Day) -> str | None:
    row = connection.execute(
        "SELECT memory_id FROM agent_dated_memory_rollups WHERE room_id = ? AND actor_id = ?"
        " AND local_date = ?",
        day.key,
    ).fetchone()
    return None if row is None else row[0]


def _active(connection: sqlite3.Connection, memory_id: str | None) -> MemoryRecord | None:
    record = None if memory_id is None else read_memory(connection, memory_id)
    return record if record is not None and record.status == "active" else None


def _count(
    connection: sqlite3.Connection, day: Day, memory_id: str | None, through_seq: int, now: str
) -> None:
    connection.execute(
        "UPDATE agent_dated_memory_rollups SET memory_id = ?4,"
        " summarized_through_seq = MAX(summarized_through_seq, ?5),"
        f" {_PENDING}, failure_count = 0, last_attempt_at = ?6, next_attempt_at = NULL,"
        " last_error_code = NULL, updated_at = ?6"
        " WHERE room_id = ?1 AND actor_id = ?2 AND local_date = ?3",
        (*day.key, memory_id, through_seq, now),
    )


_PENDING: Final = (
    "(pending_turns, pending_chars, pending_through_seq, first_pending_at, last_pending_at) ="
    " (SELECT count(*), COALESCE(sum(source_chars), 0), max(response_seq), min(terminal_at),"
    " max(terminal_at) FROM agent_dated_memory_sources s WHERE s.room_id = ?1"
    " AND s.actor_id = ?2 AND s.local_date = ?3 AND s.processed_at IS NULL)"
)


def reopen_days(
    connection: sqlite3.Connection,
    event_ids: Sequence[str],
    drop: Callable[[str], None],
    now: str,
) -> int:
    """Days that were written from one of these events are to be written anew: `drop` is given
    their records, and all their turns wait again. Return how many days."""
    marks = ", ".join("?" * len(event_ids))
    days = connection.execute(
        "SELECT DISTINCT room_id, actor_id, local_date FROM agent_dated_memory_sources"
        f" WHERE memory_id IS NOT NULL AND (source_event_id IN ({marks})"
        f" OR response_event_id IN ({marks}))",
        (*event_ids, *event_ids),
    ).fetchall()
    for day in days:
        records = connection.execute(
            "SELECT DISTINCT memory_id FROM agent_dated_memory_sources WHERE room_id = ?"
            " AND actor_id = ? AND local_date = ? AND memory_id IS NOT NULL",
            day,
        ).fetchall()
        for (memory_id,) in records:
            drop(memory_id)
        connection.execute(
            "UPDATE agent_dated_memory_sources SET processed_at = NULL, memory_id = NULL"
            " WHERE room_id = ? AND actor_id = ? AND local_date = ?",
            day,
        )
        connection.execute(
            "UPDATE agent_dated_memory_rollups SET memory_id = NULL, summarized_through_seq = 0,"
            f" {_PENDING}, failure_count = 0, next_attempt_at = NULL, updated_at = ?4"
            " WHERE room_id = ?1 AND actor_id = ?2 AND local_date = ?3",
            (*day, now),
        )
    return len(days)
