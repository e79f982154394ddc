"""Memory and identity records, written, corrected and taken back by the assistant."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, Final

from groupx_server.assistant.acts import OPERATOR, Act, Acts, Done
from groupx_server.ledger.identity_records import (
    NewIdentity,
    remember_identity,
    retract_identity,
    supersede_identity,
)
from groupx_server.ledger.memory import NewMemory, pin, remember, retract, supersede
from groupx_server.ledger.records import Author
from groupx_server.rooms.agents import Agents
from groupx_shared.text import safe_text
from groupx_shared.wire.base import WireModel
from groupx_shared.wire.memory import MemoryScope

AUTHOR: Final = Author(OPERATOR.actor_id, OPERATOR.source_kind)
Write = Callable[[sqlite3.Connection, str], WireModel]
EXCERPT_CHARS: Final = 80


class Remembering:
    """Records by the assistant; each is an event in the room it belongs to."""

    def __init__(self, acts: Acts, agents: Agents) -> None:
        self._acts = acts
        self._agents = agents

    async def remember(
        self,
        command_id: str,
        content: str,
        kind: str,
        *,
        room_id: str | None = None,
        agent: str | None = None,
    ) -> Mapping[str, Any]:
        """Keep something in a room's memory, or as core memory of `agent`."""
        text = safe_text(content)
        room = room_id or self._acts.require_request().room_id or "room:main"
        actor = None if agent is None else self._agents.roster.resolve(agent).actor_id
        scope = MemoryScope(type="room" if actor is None else "agent", id=actor or room)
        memory = NewMemory(scope=scope, kind=kind, content=text, author=AUTHOR, room_id=room)
        tool = "memory_remember" if actor is None else "agent_core_remember"
        given = {"scope": [scope.type, scope.id], "kind": kind, "content": text}
        act = Act(tool, command_id, given, room)
        return await self._write(
            act,
            "memory",
            f"remembered: {_short(text)}",
            lambda book, now: remember(book, memory, now),
        )

    async def correct(
        self, command_id: str, memory_id: str, content: str, kind: str | None
    ) -> Mapping[str, Any]:
        """Put a corrected record in the place of one. Raises: RefusedError (UNKNOWN_MEMORY)."""
        text = safe_text(content)
        act = Act("memory_supersede", command_id, {"id": memory_id, "content": text, "kind": kind})
        return await self._write(
            act,
            "memory",
            f"corrected {memory_id}: {_short(text)}",
            lambda book, now: supersede(book, memory_id, text, AUTHOR, now, kind=kind),
        )

    async def take_back(self, command_id: str, memory_id: str) -> Mapping[str, Any]:
        """Retract a record. Raises: RefusedError (UNKNOWN_MEMORY)."""
        act = Act("memory_retract", command_id, {"id": memory_id})
        return await self._write(
            act,
            "memory",
            f"took back {memory_id}",
            lambda book, now: retract(book, memory_id, AUTHOR, now),
        )

    async def pin(self, command_id: str, memory_id: str, is_pinned: bool) -> Mapping[str, Any]:
        """Let a record go with every turn, or no more. Raises: RefusedError (UNKNOWN_MEMORY)."""
        act = Act("memory_pin", command_id, {"id": memory_id, "pinned": is_pinned})
        word = "pinned" if is_pinned else "unpinned"
        return await self._write(
            act,
            "memory",
            f"{word} {memory_id}",
            lambda book, now: pin(book, memory_id, is_pinned, AUTHOR, now),
        )

    async def describe(
        self, command_id: str, agent: str, content: str, kind: str
    ) -> Mapping[str, Any]:
        """Say who an agent is. Raises: RefusedError (UNKNOWN_TARGET)."""
        text = safe_text(content)
        actor = self._agents.roster.resolve(agent).actor_id
        identity = NewIdentity(actor, kind, text, AUTHOR)
        act = Act("identity_remember_for", command_id, {"of": actor, "kind": kind, "content": text})
        return await self._write(
            act,
            "identity",
            f"said of {actor.removeprefix('agent:')}: {_short(text)}",
            lambda book, now: remember_identity(book, identity, now),
        )

    async def describe_anew(
        self, command_id: str, identity_id: str, content: str, kind: str | None
    ) -> Mapping[str, Any]:
        """Correct an identity record. Raises: RefusedError (UNKNOWN_IDENTITY)."""
        text = safe_text(content)
        given = {"id": identity_id, "content": text, "kind": kind}
        return await self._write(
            Act("identity_supersede", command_id, given),
            "identity",
            f"corrected {identity_id}: {_short(text)}",
            lambda book, now: supersede_identity(book, identity_id, text, AUTHOR, now, kind=kind),
        )

    async def unsay(self, command_id: str, identity_id: str) -> Mapping[str, Any]:
        """Retract an identity record. Raises: RefusedError (UNKNOWN_IDENTITY)."""
        return await self._write(
            Act("identity_retract", command_id, {"id": identity_id}),
            "identity",
            f"took back {identity_id}",
            lambda book, now: retract_identity(book, identity_id, AUTHOR, now),
        )

    async def _write(self, act: Act, key: str, summary: str, write: Write) -> Mapping[str, Any]:
        def change(connection: sqlite3.Connection, now: str) -> Done:
            record = write(connection, now)
            told = record.model_dump(mode="json", by_alias=True, exclude_none=True)
            return Done(summary, {key: told}, str(told[f"{key}Id"]))

        return await self._acts.perform(act, change)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT_CHARS else f"{line[:EXCERPT_CHARS]}…"
