"""Live (transient) events: built here, sent to those who listen right now, never stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from groupx_shared.ids import new_id
from groupx_shared.version import EVENT_SCHEMA


class Outlet(Protocol):
    """Where live events go: the fan-out of `broadcast`."""

    def publish_transient(
        self, data: bytes, room_id: str | None, merge_key: str | None = None
    ) -> None:
        """Send one event's JSON to the readers of a room (None: of all rooms). With `merge_key`
        it replaces an earlier one of that key for readers who have not got that yet."""

    def turn_ended(self, turn_id: str) -> None:
        """Forget how a turn stands: its end is stored."""


class LateOutlet:
    """An outlet that is connected once the fan-out exists; before that nobody listens."""

    def __init__(self) -> None:
        self._outlet: Outlet | None = None

    def connect(self, outlet: Outlet) -> None:
        self._outlet = outlet

    def publish_transient(
        self, data: bytes, room_id: str | None, merge_key: str | None = None
    ) -> None:
        if self._outlet is not None:
            self._outlet.publish_transient(data, room_id, merge_key)

    def turn_ended(self, turn_id: str) -> None:
        if self._outlet is not None:
            self._outlet.turn_ended(turn_id)


@dataclass(frozen=True, slots=True)
class Speaker:
    """The author of live events of one turn."""

    actor_id: str
    display_name: str
    room_id: str
    correlation_id: str


def live_event(speaker: Speaker, kind: str, body: dict[str, Any], now: str) -> bytes:
    """Return a transient event as wire JSON."""
    return orjson.dumps(
        {
            "schema": EVENT_SCHEMA,
            "eventId": new_id("evt"),
            "seq": None,
            "roomId": speaker.room_id,
            "type": kind,
            "actor": {
                "actorId": speaker.actor_id,
                "kind": speaker.actor_id.partition(":")[0],
                "displayName": speaker.display_name,
            },
            "to": [],
            "correlationId": speaker.correlation_id,
            "rootCorrelationId": speaker.correlation_id,
            "occurredAt": now,
            "durability": "transient",
            "body": body,
        }
    )
