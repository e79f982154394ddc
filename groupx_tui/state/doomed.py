"""What a person is about to remove for good: what it is, who said it, and its text.

Pure. Invariant: every text here is cleaned; nothing is shown that is not the text itself. The other
half is `handlers.removal`, which asks for it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from groupx_shared.text import clip_text, safe_line, safe_text
from groupx_shared.wire.assistant import SideMessage
from groupx_shared.wire.events import Event, EventType
from groupx_tui.state.clean import author_of, clean_id
from groupx_tui.state.remembered import Kept
from groupx_tui.state.removal import TOMBSTONE

MAX_TEXT_CHARS: Final = 2_000
"""Shown of a text: enough to know it again."""
SIDE: Final = "request to the assistant"
_TEXT_KEYS: Final = ("content", "partialText", "message", "reason", "errorMessage", "title")
"""Where a body says something, the most telling first."""
_WORDS: Final = {
    EventType.MESSAGE_CREATED: "message",
    EventType.TURN_REASONING_RECORDED: "reasoning",
    EventType.TOOL_PROGRESS_RECORDED: "tool call",
    "memory.": "memory record",
    "identity.": "note about an agent",
    "turn.": "end of a turn",
    "room.": "title of a room",
}
"""By how its type begins."""


@dataclass(frozen=True, slots=True)
class Doomed:
    """A text that can be removed."""

    ref_id: str
    what: str
    """What it is, as a person calls it: `message`, `tool call`, `memory record`."""
    by: str
    """Who said or did it."""
    at: str
    """ISO time, UTC."""
    text: str
    """Its beginning."""
    whole: str = ""
    """As it was sent, for finding it where this window keeps it too."""
    is_day: bool = False
    """What an agent wrote of one of its days."""

    @property
    def is_gone(self) -> bool:
        """It was removed before."""
        return self.text == TOMBSTONE


def doomed_event(event: Event, *, is_answer: bool = False) -> Doomed | None:
    """What removing this event removes; None when it holds no text."""
    text = _text_of(event.body)
    if not text or event.type in (EventType.CONTENT_REDACTED, EventType.TURN_QUEUED):
        return None
    return Doomed(
        ref_id=clean_id(event.event_id),
        what="answer" if is_answer else _word_of(event.type),
        by=author_of(event.actor).name,
        at=event.occurred_at,
        text=clip_text(safe_text(text), MAX_TEXT_CHARS),
        whole="" if text == TOMBSTONE else text,
    )


def doomed_record(kept: Kept, author: str) -> Doomed:
    """What removing a record removes, in all its versions."""
    what = "note about an agent" if kept.is_identity else "memory record"
    return Doomed(
        ref_id=kept.record_id,
        what="day of an agent" if kept.place == "dated" else what,
        by=author,
        at=kept.created_at,
        text=clip_text(kept.content, MAX_TEXT_CHARS),
        is_day=kept.place == "dated",
    )


def doomed_side(asked: SideMessage) -> Doomed:
    """What removing a request to the room assistant removes."""
    return Doomed(
        ref_id=asked.message_id,
        what=SIDE,
        by="You",
        at=asked.created_at,
        text=clip_text(safe_text(asked.content), MAX_TEXT_CHARS),
    )


def _word_of(event_type: str) -> str:
    for start, word in _WORDS.items():
        if event_type.startswith(start):
            return word
    return "event"


def _text_of(body: dict[str, Any]) -> str:
    if body.get("redacted"):
        return TOMBSTONE
    for holder in ("record", "details"):
        inner = body.get(holder)
        if isinstance(inner, dict):
            return _tool_text(inner) if holder == "details" else _text_of(inner)
    for key in _TEXT_KEYS:
        if isinstance(body.get(key), str) and body[key].strip():
            return str(body[key])
    return ""


def _tool_text(details: dict[str, Any]) -> str:
    """A tool call: its title, what went in, what came out."""
    parts = [safe_line(str(details.get("title") or ""))]
    parts += [
        json.dumps(details[key], ensure_ascii=False)[:MAX_TEXT_CHARS]
        for key in ("input", "content")
        if details.get(key)
    ]
    return "\n".join(part for part in parts if part)
