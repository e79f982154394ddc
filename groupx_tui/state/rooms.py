"""The room list: newest seq, unread counts, titles.

The invariant: each durable event counts once, whatever is replayed; nothing that a person wrote
counts as unread, since there is one person.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from groupx_shared.wire.base import WireModel
from groupx_shared.wire.bodies import MessageBody, RoomBody, TurnTerminalBody
from groupx_shared.wire.events import Event, EventType
from groupx_shared.wire.replies import RoomInfo
from groupx_tui.state.clean import clean_id, clean_name
from groupx_tui.state.model import RoomEntry, TurnBlock


def room_entry(info: RoomInfo, known: RoomEntry | None, cursor: int) -> RoomEntry:
    """Return the list's line for a room as the server tells it. Counts of `known` stay, and so
    does its newest seq: what the stream has not brought yet (after `cursor`) is still to count."""
    return RoomEntry(
        room_id=clean_id(info.room_id),
        title=clean_name(info.title) or clean_id(info.room_id),
        last_seq=known.last_seq if known else min(info.last_seq, cursor),
        is_archived=info.archived_at is not None,
        unread=known.unread if known else 0,
        open_turns=known.open_turns if known else 0,
    )


def unknown_room(room_id: str) -> RoomEntry:
    """Return a line for a room that is known only from an event in it."""
    return RoomEntry(room_id=room_id, title=room_id.removeprefix("room:"), last_seq=0)


def is_news(event: Event, body: WireModel | None) -> bool:
    """Whether an event is something to read: a message, or a turn that ended without one."""
    if isinstance(body, TurnTerminalBody):
        return event.type != EventType.TURN_COMPLETED
    return isinstance(body, MessageBody)


def with_event(
    entry: RoomEntry, event: Event, body: WireModel | None, seq: int, *, is_shown: bool
) -> RoomEntry:
    """Return the line after a durable event that is newer than all before it."""
    entry = replace(entry, last_seq=seq)
    if not is_shown and event.actor.kind != "user" and is_news(event, body):
        entry = replace(entry, unread=entry.unread + 1)
    if isinstance(body, RoomBody):
        entry = replace(
            entry,
            title=clean_name(body.title) or entry.title,
            is_archived=_is_archived(event, entry),
        )
    return entry


def _is_archived(event: Event, entry: RoomEntry) -> bool:
    if event.type == EventType.ROOM_ARCHIVED:
        return True
    return entry.is_archived and event.type != EventType.ROOM_RESTORED


def with_open_counts(
    rooms: dict[str, RoomEntry], turns: Iterable[TurnBlock]
) -> dict[str, RoomEntry]:
    """Return the lines with the numbers of their open turns."""
    counts: dict[str, int] = {}
    for turn in turns:
        counts[turn.room_id] = counts.get(turn.room_id, 0) + 1
    return {
        room_id: entry
        if entry.open_turns == counts.get(room_id, 0)
        else replace(entry, open_turns=counts.get(room_id, 0))
        for room_id, entry in rooms.items()
    }
