"""What the assistant may look up: everything that the person sees, newest first.

Results are bounded; each says where to go on. Texts of others stand beside their provenance.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from groupx_server.assistant.acts import Acts
from groupx_server.assistant.results import (
    EventsResult,
    OpenTurn,
    PairedState,
    PairsResult,
    PairState,
    RosterResult,
)
from groupx_server.ledger.correlation import ToldEvent, newest_told, read_told
from groupx_server.ledger.originals import read_original
from groupx_server.ledger.pairstatus import PairNow, newest_pairs
from groupx_server.ledger.rooms import list_rooms, read_room
from groupx_server.ledger.roots import read_root
from groupx_server.ledger.search import Filters
from groupx_server.ledger.turns import list_turns
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.readpages import page_of, text_of
from groupx_server.rooms.service import RoomService
from groupx_server.rooms.toolresults import TextResult
from groupx_shared.ids import agent_actor
from groupx_shared.text import clip_text
from groupx_shared.wire.base import WireModel
from groupx_shared.wire.events import TERMINAL_TYPES, EventType
from groupx_shared.wire.replies import RoomInfo, TurnInfo

MAX_ROOMS: Final = 100
MAX_OPEN: Final = 100
MAX_PAIRS: Final = 20
ANSWER_CHARS: Final = 16_000
READABLE: Final = tuple(
    sorted(
        {
            EventType.MESSAGE_CREATED,
            EventType.OPERATOR_DISPATCH,
            EventType.OPERATOR_ACTED,
            EventType.ROUTING_LOOP_STOPPED,
            EventType.ROUTING_LOOP_CONTINUED,
            EventType.SUPERVISION_PAIRED,
            EventType.SUPERVISION_STEERED,
            EventType.SESSION_FAILED,
            EventType.CONTEXT_RESET,
            *TERMINAL_TYPES,
        }
    )
)


class Looking:
    """The assistant's lookups; only while it answers a request."""

    def __init__(self, acts: Acts, agents: Agents, rooms: RoomService) -> None:
        self._acts = acts
        self._agents = agents
        self._rooms = rooms
        self._ledger = acts.runtime.ledger

    async def roster(self) -> RosterResult:
        """Rooms, agents with their true states, and what goes on."""
        self._acts.require_request()

        def query(connection: sqlite3.Connection) -> tuple[list[RoomInfo], list[TurnInfo]]:
            turns, _ = list_turns(connection, selection="open", limit=MAX_OPEN)
            return list_rooms(connection)[:MAX_ROOMS], turns

        rooms, turns = await self._ledger.read(query)
        return RosterResult(
            rooms=tuple(rooms),
            agents=self._agents.board.all(),
            open_turns=tuple(map(_open_turn, turns)),
        )

    async def events(
        self, room_id: str | None, correlation_id: str | None, before_seq: int | None, limit: int
    ) -> EventsResult:
        """What was said and done, newest first. Raises: RefusedError (UNKNOWN_ROOM/EVENT)."""
        default = self._acts.require_request().room_id or "room:main"

        def query(connection: sqlite3.Connection) -> tuple[str, list[ToldEvent]]:
            room = room_id or default
            if correlation_id is not None:
                room = read_root(connection, correlation_id).room_id
            read_room(connection, room)
            return room, newest_told(
                connection, room, correlation_id, before_seq, limit + 1, READABLE
            )

        room, found = await self._ledger.read(query)
        page = page_of(found, limit)
        next_before = page[-1].seq if len(page) < len(found) else None
        return EventsResult(room_id=room, events=tuple(page), next_before_seq=next_before)

    async def text(self, event_id: str, offset: int) -> TextResult:
        """A part of the whole text of one event. Raises: RefusedError (UNKNOWN_EVENT)."""
        self._acts.require_request()

        def query(connection: sqlite3.Connection) -> TextResult:
            room_id = read_original(connection, event_id).room_id
            return text_of(connection, read_told(connection, event_id, room_id), offset)

        return await self._ledger.read(query)

    async def turn(self, turn_id: str) -> WireModel:
        """How far a turn is, and its answer. Raises: RefusedError (UNKNOWN_TURN)."""
        self._acts.require_request()
        turn = await self._rooms.turn(turn_id)
        texts = {"content": turn.content, "partial_text": turn.partial_text}
        kept = {k: clip_text(text, ANSWER_CHARS) for k, text in texts.items() if text}
        return turn.model_copy(update=kept)

    async def root(self, correlation_id: str | None, room_id: str | None) -> WireModel:
        """One root with its turns; without an id the newest ones. Raises: RefusedError."""
        self._acts.require_request()
        if correlation_id is not None:
            return await self._rooms.roots.show(correlation_id)
        return await self._rooms.roots.list(room_id, "all", None, 20)

    async def pairs(self, pair_id: str | None, correlation_id: str | None) -> PairsResult:
        """Who watches whom, newest first."""
        self._acts.require_request()
        query = partial(
            newest_pairs, pair_id=pair_id, correlation_id=correlation_id, limit=MAX_PAIRS
        )
        return PairsResult(pairs=tuple(map(_pair, await self._ledger.read(query))))

    async def search(self, text: str, room_id: str | None, cursor: str | None) -> WireModel:
        """Messages, memory and identity that fit, the best first. Raises: RefusedError."""
        self._acts.require_request()
        return await self._rooms.searching.find(text, Filters(room_id=room_id), cursor, 20)

    async def usage(
        self, room_id: str | None, correlation_id: str | None, agent: str | None
    ) -> WireModel:
        """What turns cost. Raises: RefusedError (UNKNOWN_ROOM)."""
        self._acts.require_request()
        actor = None if agent is None else agent_actor(agent)
        return await self._rooms.usage(room_id, correlation_id, actor)

    async def context(self, room_id: str | None) -> WireModel:
        """How full a context packet of a room would be. Raises: RefusedError (UNKNOWN_ROOM)."""
        room = room_id or self._acts.require_request().room_id or "room:main"
        return await self._rooms.contexts.usage(room)

    async def memory(self, given: Mapping[str, Any], cursor: str | None, limit: int) -> WireModel:
        """Memory records, newest first; `given` are filters of the ledger's."""
        self._acts.require_request()
        filters = {key: value for key, value in given.items() if value is not None}
        history = bool(filters.pop("include_history", False))
        return await self._rooms.memories.list_memory(filters, history, cursor, limit)

    async def identity(self, agent: str | None, cursor: str | None, limit: int) -> WireModel:
        """What is said of agents, newest first."""
        self._acts.require_request()
        filters = {} if agent is None else {"subject_actor_id": agent_actor(agent)}
        return await self._rooms.memories.list_identity(filters, False, cursor, limit)


def _pair(pair: PairNow) -> PairState:
    def of(role: str) -> tuple[PairedState, ...]:
        return tuple(
            PairedState(
                agent=turn.actor_id,
                turn_id=turn.turn_id,
                status=turn.status,
                steer_count=turn.steer_count,
                last_steer_reason=turn.last_reason,
            )
            for turn in pair.turns
            if turn.role == role
        )

    return PairState(
        pair_id=pair.pair_id,
        room_id=pair.room_id,
        correlation_id=pair.correlation_id,
        mode=pair.mode,
        created_at=pair.created_at,
        workers=of("worker"),
        observers=of("observer"),
    )


def _open_turn(turn: TurnInfo) -> OpenTurn:
    return OpenTurn(
        turn_id=turn.turn_id,
        agent=turn.target_actor_id,
        room_id=turn.room_id,
        status=turn.status,
        correlation_id=turn.correlation_id,
        since=turn.started_at or turn.queued_at,
        queue_position=turn.queue_position,
    )
