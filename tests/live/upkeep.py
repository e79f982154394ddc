"""Texts that real agents write for the server, in a live room: ask for one, look how that ended."""

from __future__ import annotations

import json
import uuid
from typing import Any, Final

from live.rooms import TURN_S, LiveRoom, until

ROOM: Final = "/api/rooms/room:main/context"
TASK: Final = "You write the checkpoint summary"
DAY_TASK: Final = "Below are turns of yours of"
TOOL_OF_ROOM: Final = "memory_search"
"""A name that only the room's tools have."""
PATIENCE: Final = 4
"""Times a turn: what may pass is tried three times, and programs try again by themselves."""
FILLER: Final = "Nothing more to it than that. " * 12


def talk(room: LiveRoom, *marked: str) -> None:
    """Say something to nobody; the last mark is what the model answers to a quote of it all."""
    for text in (*(f"{number}: {FILLER}" for number in range(3)), *marked):
        body = {"clientCommandId": uuid.uuid4().hex, "content": text, "to": []}
        assert room.client.post("/api/messages", json=body).status_code == 202


def compact(room: LiveRoom, keep: int = 0) -> dict[str, Any]:
    """Have the room summed up; return how that ended."""
    body = {"clientCommandId": uuid.uuid4().hex, "keep": keep}
    asked = room.client.post(f"{ROOM}/compact", json=body).json()
    assert asked["accepted"], asked
    found: dict[str, Any] = {}

    def has_ended() -> bool:
        nonlocal found
        found = room.client.get("/api/context").json().get("compaction") or {}
        is_it = found.get("operationId") == asked["operationId"]
        return is_it and found["phase"] in ("completed", "failed")

    until(has_ended, PATIENCE * TURN_S, lambda: f"the compaction is still {found}")
    return found


def summary(room: LiveRoom) -> dict[str, Any]:
    """The room's summary."""
    found: dict[str, Any] = room.client.get(f"{ROOM}/summary").json()
    return found


def days(room: LiveRoom, name: str) -> list[dict[str, Any]]:
    """What an agent wrote of its days."""
    scope = {"scopeType": "agent", "scopeId": f"agent:{name}", "agentMemoryType": "dated"}
    found: list[dict[str, Any]] = room.client.get("/api/memory", params=scope).json()["items"]
    return found


def writing(room: LiveRoom, task: str = TASK) -> list[dict[str, Any]]:
    """The requests by which the program asked its model for such a text."""
    return [json.loads(body) for body in room.model.bodies(task)]
