"""Looking for words in a room by reading its newest messages, within bounds that are told.

It reads backwards through the message index until enough was found or a bound is reached, and
says how far it got; a caller goes on from there. It needs no index of words, and is no
substitute for one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from groupx_server.ledger.messages import SpokenMessage, spoken
from groupx_server.ledger.turns import LAST_SEQ

MAX_MESSAGES: Final = 2_000
MAX_CHARS: Final = 4_000_000
"""Read in one call; about 20 ms of a reader's time."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What was found, newest first, and what was looked at."""

    found: Sequence[SpokenMessage]
    messages: int
    """How many messages were read."""
    oldest_seq: int | None
    """The oldest one read; None when there was none."""
    has_more: bool
    """There are older messages that were not read."""


def scan_messages(
    connection: sqlite3.Connection,
    room_id: str,
    words: Sequence[str],
    before_seq: int | None,
    limit: int,
) -> Scan:
    """Find messages that hold all `words` (case does not count), older than `before_seq`."""
    wanted = [word.casefold() for word in words]
    found: list[SpokenMessage] = []
    read, chars, oldest = 0, 0, None
    cursor = connection.execute(
        "SELECT e.seq, e.event_id, e.actor_id, e.actor_display_name, e.occurred_at, e.body_json,"
        " e.reply_to_event_id, e.correlation_id, m.chars FROM room_messages m"
        " JOIN events e ON e.seq = m.seq WHERE m.room_id = ? AND m.seq < ?"
        " ORDER BY m.seq DESC LIMIT ?",
        (room_id, LAST_SEQ if before_seq is None else before_seq, MAX_MESSAGES + 1),
    )
    for row in cursor:
        if read == MAX_MESSAGES or chars >= MAX_CHARS or len(found) == limit:
            cursor.close()
            return Scan(found, read, oldest, has_more=True)
        read, chars, oldest = read + 1, chars + row[8], row[0]
        message = _readable(row)
        if message is not None and _holds(message.content, wanted):
            found.append(message)
    return Scan(found, read, oldest, has_more=False)


def _holds(content: str, wanted: Sequence[str]) -> bool:
    text = content.casefold()
    return all(word in text for word in wanted)


def _readable(row: tuple[object, ...]) -> SpokenMessage | None:
    """The message; None for a row of the earlier program whose body is not JSON."""
    try:
        return spoken(row[:8])
    except ValueError:
        return None
