"""Pages of what agents read: events and turns shaped, cut to what a result may hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from groupx_server.ledger.actors import author_names
from groupx_server.ledger.correlation import ToldEvent, ToldTurn
from groupx_server.ledger.overview import whole_text
from groupx_server.rooms.toldtext import (
    LEAST_CHARS,
    RESULT_CHARS,
    TEXT_CHARS,
    part_of,
    provenance,
    sender_kind,
)
from groupx_server.rooms.toolresults import ReadEvent, ReadTurn, SearchHit, TextResult
from groupx_shared.text import clip_text
from groupx_shared.wire.events import EventType
from groupx_shared.wire.search import SearchHit as FoundMessage

EVENT_CHARS: Final = 6_000
"""Of one event's text in a page."""
NOTE_CHARS: Final = 500


def page_of(events: Sequence[ToldEvent], limit: int) -> list[ReadEvent]:
    """As many events as fit into a result; at least one."""
    page: list[ReadEvent] = []
    left = RESULT_CHARS
    for event in events[:limit]:
        told = _event(event, max(LEAST_CHARS, min(EVENT_CHARS, left)))
        left -= len(told.content or "") + LEAST_CHARS // 2
        if page and left < 0:
            break
        page.append(told)
    return page


def text_of(connection: sqlite3.Connection, event: ToldEvent, offset: int) -> TextResult:
    """A part of the whole text of an event, from there on."""
    text = whole_text(connection, event.event_id).text
    part = part_of(text, TEXT_CHARS, offset)
    return TextResult(
        event_id=event.event_id,
        provenance=provenance_of(event),
        offset=offset,
        total=len(text),
        content=part.text,
        next_offset=part.next_offset,
    )


def _event(event: ToldEvent, max_chars: int) -> ReadEvent:
    body = event.body
    text = body.get("content", body.get("message", body.get("summary")))
    if event.type == EventType.SUPERVISION_STEERED:
        text = body.get("reason")
    part = part_of(text, max_chars) if isinstance(text, str) else None
    note = body.get("errorMessage")
    if part is None and isinstance(note, str):
        part = part_of(clip_text(note, NOTE_CHARS), NOTE_CHARS)
    return ReadEvent(
        seq=event.seq,
        event_id=event.event_id,
        type=event.type,
        provenance=provenance_of(event),
        sender=event.actor_id,
        sender_kind=sender_kind(event.actor_id, event.actor_kind),
        at=event.occurred_at,
        to=tuple(event.to),
        reply_to_event_id=event.reply_to_event_id,
        turn_id=_first(body, "turnId", "callerTurnId", "subjectTurnId"),
        status=_first(body, "status", "kind", "action"),
        error_code=_text(body, "errorCode"),
        content=None if part is None else part.text,
        next_offset=None if part is None else part.next_offset,
    )


def _text(body: dict[str, object], key: str) -> str | None:
    value = body.get(key)
    return value if isinstance(value, str) else None


def _first(body: dict[str, object], *keys: str) -> str | None:
    return next((value for key in keys if (value := _text(body, key)) is not None), None)


def turn_told(turn: ToldTurn) -> ReadTurn:
    """A turn without its texts."""
    return ReadTurn.model_validate(
        {
            "target": turn.actor_id,
            "turn_id": turn.turn_id,
            "status": turn.status,
            "parent_turn_id": turn.parent_turn_id,
            "response_event_id": turn.response_event_id,
            "error_code": turn.error_code,
        }
    )


def provenance_of(event: ToldEvent) -> str:
    """Where an event comes from."""
    return provenance(event.event_id, event.actor_id, event.actor_kind, event.actor_name)


def hits_of(connection: sqlite3.Connection, found: Sequence[FoundMessage]) -> list[SearchHit]:
    """Found messages, with where they come from."""
    names = author_names(connection, [one.id for one in found])
    return [_hit(one, names.get(one.id, one.actor_id)) for one in found if one.seq is not None]


def _hit(found: FoundMessage, name: str) -> SearchHit:
    kind = found.actor_id.partition(":")[0]
    return SearchHit(
        seq=found.seq or 0,
        event_id=found.id,
        provenance=provenance(found.id, found.actor_id, kind, name),
        sender=found.actor_id,
        sender_kind=sender_kind(found.actor_id, kind),
        at=found.occurred_at,
        correlation_id=found.correlation_id or "",
        excerpt=found.snippet,
    )
