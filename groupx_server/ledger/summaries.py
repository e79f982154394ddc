"""Checkpoint summaries of a room: one active, rolled forward by compare-and-set, never a source.

A summary covers the room's messages from `from_seq` through `through_seq`; the messages stay.
Saving one neither moves a delivery cursor nor anybody's view. A context reset puts a floor below
which nothing is told any more; summaries that do not reach over it count no longer.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.messages import SPOKEN, SpokenMessage, spoken
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import new_id

_COLUMNS: Final = (
    "summary_id, room_id, from_seq, through_seq, content, generator_actor_id, created_at"
)


@dataclass(frozen=True, slots=True)
class Summary:
    """An active summary."""

    summary_id: str
    room_id: str
    from_seq: int
    through_seq: int
    content: str
    generator_actor_id: str
    created_at: str


@dataclass(frozen=True, slots=True)
class NewSummary:
    """What is to take the place of `previous_id` (None: there was no summary)."""

    room_id: str
    from_seq: int
    through_seq: int
    content: str
    generator_actor_id: str
    previous_id: str | None


def active_summary(connection: sqlite3.Connection, room_id: str) -> Summary | None:
    """The room's summary, if there is one that reaches over the newest reset."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM summaries WHERE room_id = ? AND status = 'active'", (room_id,)
    ).fetchone()
    if row is None or row[3] <= reset_floor(connection, room_id):
        return None
    return Summary(*row)


def reset_floor(connection: sqlite3.Connection, room_id: str) -> int:
    """Seq up to which nothing of the room is told any more; 0 when it was never reset."""
    row = connection.execute(
        "SELECT through_seq FROM context_resets WHERE room_id = ?"
        " ORDER BY through_seq DESC LIMIT 1",
        (room_id,),
    ).fetchone()
    return 0 if row is None else int(row[0])


def save_summary(connection: sqlite3.Connection, new: NewSummary, now: str) -> Summary:
    """Let `new` take the place of the summary it was made from.

    Raises: RefusedError (STORE_CONFLICT) when that is not the active one any more, or when the
    range is not one of this room that goes further.
    """
    current = active_summary(connection, new.room_id)
    if (None if current is None else current.summary_id) != new.previous_id:
        raise _conflict("another summary was written meanwhile")
    if new.through_seq <= (0 if current is None else current.through_seq):
        raise _conflict("it does not reach further than the one before")
    if current is not None and new.from_seq != current.from_seq:
        raise _conflict("it does not begin where the one before began")
    # Where the first one began is not asked again: an earlier program let it begin at any event.
    ends = {new.through_seq} if current is not None else {new.from_seq, new.through_seq}
    if not all(_is_message(connection, new.room_id, seq) for seq in ends):
        raise _conflict("its range does not begin and end with messages of the room")
    end_summary(connection, new.room_id, "superseded")
    summary = Summary(
        new_id("summary"),
        new.room_id,
        new.from_seq,
        new.through_seq,
        new.content,
        new.generator_actor_id,
        now,
    )
    connection.execute(
        f"INSERT INTO summaries({_COLUMNS}, status) VALUES (?, ?, ?, ?, ?, ?, ?, 'active')",
        (
            summary.summary_id,
            summary.room_id,
            summary.from_seq,
            summary.through_seq,
            summary.content,
            summary.generator_actor_id,
            summary.created_at,
        ),
    )
    failpoint("compact.before_commit")
    return summary


def _is_message(connection: sqlite3.Connection, room_id: str, seq: int) -> bool:
    found = connection.execute(
        "SELECT 1 FROM room_messages WHERE room_id = ? AND seq = ?", (room_id, seq)
    ).fetchone()
    return found is not None


def end_summary(connection: sqlite3.Connection, room_id: str, status: str) -> None:
    """The active summary counts no longer. `status`: superseded or invalidated."""
    connection.execute(
        "UPDATE summaries SET status = ? WHERE room_id = ? AND status = 'active'",
        (status, room_id),
    )


def oldest_between(
    connection: sqlite3.Connection, room_id: str, after_seq: int, through_seq: int, max_chars: int
) -> list[SpokenMessage]:
    """Messages with after_seq < seq <= through_seq, oldest first: at least one, and as many as
    have `max_chars` characters together."""
    cursor = connection.execute(
        f"{SPOKEN} FROM room_messages m JOIN events e ON e.seq = m.seq"
        " WHERE m.room_id = ? AND m.seq > ? AND m.seq <= ? ORDER BY m.seq",
        (room_id, after_seq, through_seq),
    )
    messages: list[SpokenMessage] = []
    for row in cursor:
        message = spoken(row)
        max_chars -= len(message.content)
        if messages and max_chars < 0:
            break
        messages.append(message)
    return messages


def seq_before_last(connection: sqlite3.Connection, room_id: str, keep: int) -> int:
    """Seq of the newest message that is older than the last `keep`; 0 when there is none."""
    row = connection.execute(
        "SELECT seq FROM room_messages WHERE room_id = ? ORDER BY seq DESC LIMIT 1 OFFSET ?",
        (room_id, keep),
    ).fetchone()
    return 0 if row is None else int(row[0])


def _conflict(why: str) -> RefusedError:
    return RefusedError(f"The summary was not kept: {why}.", code=ErrorCode.STORE_CONFLICT)
