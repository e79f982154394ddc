"""Passing a message on: what others get of it, with its author kept.

The new message is the person's; its text holds the original, named and quoted, so that every
reader and every agent has it, and `body.forwarded` says the same for programs.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any, Final

from groupx_server.ledger.events import MESSAGE_TYPES
from groupx_server.ledger.originals import read_original
from groupx_server.ledger.overview import whole_text
from groupx_shared.errors import RefusedError
from groupx_shared.text import clip_text, safe_line
from groupx_shared.wire.bodies import Forwarded

LEAST_CHARS: Final = 200
"""Of the original's text, however long the note is."""


@dataclass(frozen=True, slots=True)
class PassedOn:
    """The text of the new message, and what its body says of the original."""

    content: str
    more: dict[str, Any]


def pass_on(connection: sqlite3.Connection, event_id: str, note: str, max_chars: int) -> PassedOn:
    """What a message with this note and this original is.

    Raises: RefusedError (UNKNOWN_EVENT; INVALID_ENVELOPE when it is no message).
    """
    room_id, kind, actor_id, name, at = read_original(connection, event_id)
    if kind not in MESSAGE_TYPES:
        raise RefusedError(f"This event is a {safe_line(kind, 64)}; only messages are forwarded.")
    text = whole_text(connection, event_id).text
    head = f"Forwarded: {safe_line(name, 64)} ({actor_id}) wrote at {at}:"
    left = max_chars - len(note) - len(head) - 8
    kept = _quoted(text, left)
    body = Forwarded(
        event_id=event_id,
        room_id=room_id,
        actor_id=actor_id,
        display_name=name,
        occurred_at=at,
        cut=kept.cut,
    )
    content = "\n\n".join(filter(None, [note.strip("\n"), f"{head}\n{kept.text}"]))
    return PassedOn(content, {"forwarded": body.model_dump(by_alias=True)})


@dataclass(frozen=True, slots=True)
class _Quoted:
    text: str
    cut: bool


def _quoted(text: str, max_chars: int) -> _Quoted:
    """Each line behind a mark, so that a text cannot pose as the note of the one who forwards."""
    whole = "\n".join(f"> {line}" for line in text.split("\n"))
    room = max(LEAST_CHARS, max_chars)
    return _Quoted(clip_text(whole, room), len(whole) > room)
