"""Texts of others as an agent gets them: cut to a bound, with where they come from beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from groupx_server.rooms.toolresults import SenderKind
from groupx_shared.ids import USER_ASSISTANT
from groupx_shared.text import safe_line

RESULT_CHARS: Final = 24_000
"""Characters of quoted text in one result: some 6,000 tokens of English, or of Chinese one each.
Programs that run agents cut or refuse results from 25,000 tokens on."""
TEXT_CHARS: Final = 16_000
"""Of one text that was asked for by its id."""
LEAST_CHARS: Final = 400
EXCERPT_CHARS: Final = 240

_KINDS: Final[dict[str, SenderKind]] = {"user": "person", "agent": "agent", "system": "groupx"}
_WORDS: Final[dict[SenderKind, str]] = {
    "person": "a person",
    "agent": "an agent, not a person",
    "groupx": "GroupX itself",
}


def sender_kind(actor_id: str, actor_kind: str) -> SenderKind:
    """Who wrote it; the room's assistant is a program although it acts for people."""
    return "agent" if actor_id == USER_ASSISTANT else _KINDS.get(actor_kind, "agent")


def provenance(event_id: str, actor_id: str, actor_kind: str, name: str) -> str:
    """Like `evt_1 by agent:b “B” (an agent, not a person)`: all of it from the ledger."""
    kind = _WORDS[sender_kind(actor_id, actor_kind)]
    return f"{event_id} by {actor_id} “{safe_line(name, 64)}” ({kind})"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text, and where the rest begins (None: there is none)."""

    text: str
    next_offset: int | None


def part_of(text: str, max_chars: int, offset: int = 0) -> Part:
    """At most `max_chars` characters from `offset` on."""
    end = offset + max_chars
    return Part(text[offset:end], end if end < len(text) else None)


def excerpt(text: str, around: str = "") -> str:
    """One line of the text: its beginning, or what stands around the first place of a word."""
    line = safe_line(text, len(text) + 1)
    at = line.casefold().find(around.casefold()) if around else 0
    start = max(0, at - EXCERPT_CHARS // 3)
    cut = line[start : start + EXCERPT_CHARS]
    return f"{'…' if start else ''}{cut}{'…' if start + EXCERPT_CHARS < len(line) else ''}"
