"""What an agent may look up while it works: its root, a text, a turn, who is here, words.

Only of its own room, only what people see in the timeline too, and nobody's reasoning or tool
calls. Results are bounded; each says where to go on.
"""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import Final

from groupx_server.ledger.callers import Caller, require_turn
from groupx_server.ledger.correlation import (
    ToldEvent,
    ToldTurn,
    children_of,
    events_of,
    read_told,
    require_correlation,
    turns_of,
)
from groupx_server.ledger.search import Filters
from groupx_server.ledger.turns import read_turn, unknown_turn
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.readpages import NOTE_CHARS, hits_of, page_of, text_of, turn_told
from groupx_server.rooms.rosterview import read_roster
from groupx_server.rooms.searching import Searching
from groupx_server.rooms.toolresults import (
    ReadResult,
    RosterResult,
    SearchResult,
    TextResult,
    TurnStatusResult,
)
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import RefusedError
from groupx_shared.text import safe_line
from groupx_shared.wire.events import TERMINAL_TYPES, EventType

READABLE: Final = tuple(
    sorted(
        {
            EventType.MESSAGE_CREATED,
            EventType.OPERATOR_DISPATCH,
            EventType.TURN_QUEUED,
            EventType.TURN_STARTED,
            EventType.ROUTING_LOOP_STOPPED,
            EventType.ROUTING_LOOP_CONTINUED,
            EventType.SUPERVISION_STEERED,
            *TERMINAL_TYPES,
        }
    )
)
"""Event types that `read` tells; reasoning and tool records are not among them."""


class AgentReads:
    """The lookups of all agents."""

    def __init__(self, runtime: Runtime, agents: Agents, searching: Searching) -> None:
        self._runtime = runtime
        self._ledger = runtime.ledger
        self._agents = agents
        self._searching = searching

    async def read(
        self, caller: Caller, correlation_id: str | None, after_seq: int, limit: int
    ) -> ReadResult:
        """The events of a root after a seq, oldest first, and its turns. Raises: RefusedError."""

        def query(connection: sqlite3.Connection) -> tuple[str, list[ToldEvent], list[ToldTurn]]:
            turn = require_turn(connection, caller)
            root = correlation_id or turn.correlation_id
            require_correlation(connection, root, caller.room_id)
            events = events_of(connection, root, after_seq, limit + 1, READABLE)
            return root, events, turns_of(connection, root)

        root, events, turns = await self._ledger.read(query)
        page = page_of(events, limit)
        return ReadResult(
            correlation_id=root,
            events=tuple(page),
            turns=tuple(map(turn_told, turns)),
            next_after_seq=page[-1].seq if len(page) < len(events) else None,
        )

    async def text(self, caller: Caller, event_id: str, offset: int) -> TextResult:
        """A part of the whole text of one event. Raises: RefusedError (UNKNOWN_EVENT)."""

        def query(connection: sqlite3.Connection) -> TextResult:
            require_turn(connection, caller)
            event = read_told(connection, event_id, caller.room_id)
            if event.type not in READABLE:
                raise RefusedError("This event has no text that you may read; messages have one.")
            return text_of(connection, event, offset)

        return await self._ledger.read(query)

    async def turn_status(self, caller: Caller, turn_id: str | None) -> TurnStatusResult:
        """How far a turn of this room is (default: the caller's own), and what it called.

        Raises: RefusedError (UNKNOWN_TURN).
        """

        def query(connection: sqlite3.Connection) -> TurnStatusResult:
            own = require_turn(connection, caller)
            info = read_turn(connection, turn_id or own.turn_id)
            if info.room_id != caller.room_id:
                raise unknown_turn(turn_id or own.turn_id)
            note = info.error_message
            return TurnStatusResult(
                turn_id=info.turn_id,
                target=info.target_actor_id,
                status=info.status,
                correlation_id=info.correlation_id,
                parent_turn_id=info.parent_turn_id,
                source_event_id=info.source_event_id,
                queue_position=info.queue_position,
                active_turn_id=info.behind_turn_id,
                queued_at=info.queued_at,
                started_at=info.started_at,
                terminal_at=info.terminal_at,
                response_event_id=info.response_event_id,
                error_code=info.error_code,
                note=None if note is None else safe_line(note, NOTE_CHARS),
                called=tuple(map(turn_told, children_of(connection, info.turn_id))),
            )

        return await self._ledger.read(query)

    async def roster(self, caller: Caller) -> RosterResult:
        """Who is here, and what each is doing."""
        cards = self._agents.board.all()
        return await self._ledger.read(partial(read_roster, caller=caller, cards=cards))

    async def search(
        self, caller: Caller, query: str, cursor: str | None, limit: int
    ) -> SearchResult:
        """Messages of the room that `query` asks for, best first.

        Raises: RefusedError (a query without a word; a foreign cursor).
        """
        await self._ledger.read(partial(require_turn, caller=caller))
        filters = Filters(room_id=caller.room_id, kind="message")
        found = await self._searching.find(query, filters, cursor, limit)
        hits = await self._ledger.read(partial(hits_of, found=found.hits))
        return SearchResult(
            hits=tuple(hits),
            next_cursor=found.next_cursor,
            capped=found.capped,
            behind=found.behind,
            meaning_problem=found.meaning_problem,
        )
