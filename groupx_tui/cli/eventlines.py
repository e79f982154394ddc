"""Events as lines for people: one header, then the text, indented.

The indent is what keeps a text from posing as a header: only headers start at the left edge. All
that comes from an event is cleaned here. The counterpart for programs is `--json`.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final

from groupx_shared.text import safe_line, safe_text
from groupx_tui.cli.output import styled

ENDINGS: Final = ("turn.failed", "turn.cancelled", "turn.interrupted")
ROOM_CHANGES: Final = ("room.created", "room.renamed", "room.archived", "room.restored")
MESSAGES: Final = ("message.created", "operator.dispatch")
ACTED: Final = "operator.acted"
STEERED: Final = "supervision.steered"
SHOWN_TYPES: Final = (*MESSAGES, *ENDINGS, *ROOM_CHANGES, ACTED, STEERED)
"""What is shown without --all-types."""
MAIN_ROOM: Final = "room:main"
MAX_BODY: Final = 300
"""Characters of a body shown in one line, for types without words of their own."""


def event_lines(event: dict[str, Any]) -> str:
    """Return the event as text that ends with a newline; a message takes several lines."""
    kind = str(event.get("type"))
    body = event.get("body")
    body = body if isinstance(body, dict) else {}
    if kind in MESSAGES:
        return _message(event, body)
    if kind in ENDINGS:
        return _header(event, _ending(kind, body))
    if kind in ROOM_CHANGES:
        title = safe_line(str(body.get("title") or ""), 80)
        return _header(event, f"{kind.removeprefix('room.')} the room “{title}”")
    if kind == ACTED:
        return _header(event, safe_line(str(body.get("summary") or ""), MAX_BODY))
    if kind == STEERED:
        return _header(event, _steered(body))
    shown = safe_line(json.dumps(body, ensure_ascii=False), MAX_BODY)
    return _header(event, f"{safe_line(kind, 80)} {styled(shown, '2')}")


def actor_name(event: dict[str, Any]) -> str:
    """Display name of who did it, on one safe line."""
    actor = event.get("actor")
    actor = actor if isinstance(actor, dict) else {}
    return safe_line(str(actor.get("displayName") or actor.get("actorId") or "?"), 64)


def clock_time(stamp: object) -> str:
    """An ISO time of the wire as local `2026-11-03 14:03:21`; what is none is shown as it is."""
    try:
        return datetime.fromisoformat(str(stamp)).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return safe_line(str(stamp), 32)


def _message(event: dict[str, Any], body: dict[str, Any]) -> str:
    targets = event.get("to") or ()
    to = ", ".join(safe_line(str(target).removeprefix("agent:"), 64) for target in targets)
    text = safe_text(str(body.get("content") or "")).rstrip("\n")
    indented = "".join(f"  {line}".rstrip() + "\n" for line in text.split("\n"))
    return _header(event, f"→ {to}" if to else "") + indented


def _header(event: dict[str, Any], what: str) -> str:
    seq = event.get("seq")
    room = str(event.get("roomId"))
    place = "" if room == MAIN_ROOM else f" [{safe_line(room.removeprefix('room:'), 64)}]"
    name = styled(actor_name(event), "1")
    number = f"#{seq}" if isinstance(seq, int) else "live"
    event_id = styled(safe_line(str(event.get("eventId") or ""), 80), "2")
    parts = [number, clock_time(event.get("occurredAt")) + place, f"{name} {what}".rstrip()]
    return " · ".join([*parts, event_id]) + "\n"


def _steered(body: dict[str, Any]) -> str:
    """Advice by an agent, as that."""
    whom = safe_line(str(body.get("subjectActorId") or "an agent").removeprefix("agent:"), 64)
    reason = safe_line(str(body.get("reason") or "no reason was given"), MAX_BODY)
    is_stop = body.get("action") == "interrupt"
    return f"{'stops the turn of' if is_stop else 'advises'} {whom}: {reason}"


def _ending(kind: str, body: dict[str, Any]) -> str:
    code = f" ({safe_line(str(body['errorCode']), 64)})" if body.get("errorCode") else ""
    why = body.get("errorMessage") or body.get("reason")
    reason = f": {safe_line(str(why), MAX_BODY)}" if why else ""
    is_uncertain = kind == "turn.interrupted" or body.get("deliveryCertainty") == "unknown"
    uncertain = ", uncertain" if is_uncertain else ""
    turn = safe_line(str(body.get("turnId") or "?"), 80)
    return f"{turn} {kind.removeprefix('turn.')}{uncertain}{code}{reason}"
