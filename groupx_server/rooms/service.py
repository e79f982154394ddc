"""The use cases as the HTTP layer calls them; the port is `http/ports.py`.

Commands return once their change is on disk. Replies made of stored events are bytes whose JSON
is ready.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import orjson

from groupx_server.ledger.accept import AcceptMessage, Source, accept_message
from groupx_server.ledger.cancel import cancel_turn
from groupx_server.ledger.commands import once
from groupx_server.ledger.events import page, read_event, rows_after
from groupx_server.ledger.overview import Overview, read_overview, whole_text
from groupx_server.ledger.pairs import Watch
from groupx_server.ledger.rooms import change_room, create_room, list_rooms, read_room
from groupx_server.ledger.turns import TurnSelection, list_turns, read_turn
from groupx_server.ledger.usage import UsageGroup, read_usage
from groupx_server.rooms.advising import Advising
from groupx_server.rooms.again import Again, plan_again
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.compaction import Compactor
from groupx_server.rooms.contexts import Contexts
from groupx_server.rooms.dated import Diaries
from groupx_server.rooms.forgetting import Forgetting
from groupx_server.rooms.forwarding import pass_on
from groupx_server.rooms.loops import Loops
from groupx_server.rooms.memories import Memories
from groupx_server.rooms.roomids import room_id_of
from groupx_server.rooms.roots import Roots
from groupx_server.rooms.rows import DurableFrameSource, EventRows
from groupx_server.rooms.scribes import Scribes
from groupx_server.rooms.searching import Searching
from groupx_server.rooms.sendable import require_length, require_text
from groupx_server.rooms.turnrunner import Runtime
from groupx_server.rooms.watchorders import heads_of, targets_of, watchers
from groupx_shared.text import safe_line, safe_text
from groupx_shared.wire.replies import (
    AdviceReply,
    AgentList,
    BootstrapReply,
    CancelReply,
    MessageAccepted,
    RestartReply,
    RoomInfo,
    RoomList,
    RoomReply,
    RootContinued,
    TextReply,
    TurnInfo,
    TurnList,
    UsageReply,
)
from groupx_shared.wire.requests import ChangeRoom, CreateRoom, SendMessage, Supervision

RoomChange = Callable[[sqlite3.Connection, str], None]


class RoomService:
    """All use cases over one ledger and one set of agents."""

    def __init__(self, runtime: Runtime, agents: Agents) -> None:
        self._runtime = runtime
        self._ledger = runtime.ledger
        self._agents = agents
        self._loops = Loops(runtime, agents)
        self._advising = Advising(runtime, agents)
        self.roots = Roots(runtime, agents)
        """What messages led to."""
        self.searching = Searching(runtime)
        """Search over messages and records."""
        self.memories = Memories(runtime, self.searching)
        """Memory and identity records."""
        self.forgetting = Forgetting(runtime)
        """Removing texts for good."""
        scribes = Scribes(runtime, agents)
        compactor = Compactor(runtime, scribes)
        self.diaries = Diaries(runtime, agents, scribes)
        """What agents write down of their days."""
        compactor.before = self.diaries.before_compaction
        self.contexts = Contexts(runtime, agents, compactor)
        """What agents are told."""
        runtime.prepare = compactor.prepared

    # Commands

    async def send(self, request: SendMessage, source: Source) -> MessageAccepted:
        """Accept a message and wake its targets' lanes."""
        content, more = request.content, {}
        if request.forwarded_event_id is None:
            require_text(content)
        require_length(content, self._runtime.limits)
        if request.forwarded_event_id is not None:
            passed = await self._ledger.read(
                partial(
                    pass_on,
                    event_id=request.forwarded_event_id,
                    note=content,
                    max_chars=self._runtime.limits.message_characters,
                )
            )
            content, more = passed.content, passed.more
        entries = {entry.actor_id: entry for entry in map(self._agents.roster.resolve, request.to)}
        command = AcceptMessage(
            client_command_id=request.client_command_id,
            room_id=request.room_id,
            content=content,
            targets=[self._agents.target(entry) for entry in entries.values()],
            reply_to_event_id=request.reply_to_event_id,
            source=source,
            watch=self._watch(request.supervision),
            more=more,
            forwarded_event_id=request.forwarded_event_id,
        )
        return await self._accept(command)

    def _watch(self, asked: Supervision | None) -> Watch | None:
        if asked is None:
            return None
        observers = watchers(self._agents.roster, asked.observers)
        return Watch(observers, safe_text(asked.brief or ""))

    async def take_up_again(
        self, turn_id: str, client_command_id: str, how: Again, source: Source
    ) -> MessageAccepted:
        """Retry or continue an ended turn: a new message and turn that point to the old one."""
        command = await self._ledger.read(
            partial(
                plan_again,
                turn_id=turn_id,
                client_command_id=client_command_id,
                how=how,
                source=source,
            )
        )
        entries = [self._agents.roster.resolve(target.actor_id) for target in command.targets]
        targets = [self._agents.target(entry) for entry in entries]
        return await self._accept(replace(command, targets=targets))

    async def _accept(self, command: AcceptMessage) -> MessageAccepted:
        step = partial(
            accept_message,
            command=command,
            limits=self._runtime.limits,
            now=self._runtime.clock.now(),
        )
        accepted = await self._ledger.write(step)
        if not accepted.replayed:
            self._agents.queued(targets_of(accepted.reply), heads_of(accepted.reply))
        return accepted.reply

    async def cancel_turn(self, turn_id: str, client_command_id: str) -> CancelReply:
        """Cancel a turn; a running one is told at once."""
        step = partial(
            cancel_turn,
            turn_id=turn_id,
            client_command_id=client_command_id,
            limits=self._runtime.limits,
            now=self._runtime.clock.now(),
        )
        cancelled = await self._ledger.write(step)
        self._agents.cancelled(cancelled)
        return cancelled.reply

    async def advise_turn(
        self, turn_id: str, client_command_id: str, content: str, source: Source
    ) -> AdviceReply:
        """Say something to the agent of a turn, into it while it runs."""
        return await self._advising.advise(turn_id, client_command_id, content, source)

    async def continue_root(
        self, correlation_id: str, client_command_id: str, source: Source
    ) -> RootContinued:
        """Let agents go on that a limit has stopped."""
        return await self._loops.let_go_on(correlation_id, client_command_id, source)

    async def restart_agent(self, actor_id: str, client_command_id: str) -> RestartReply:
        """End the agent's process; it starts again with its next turn, or at once."""
        entry = self._agents.roster.resolve(actor_id)
        reply = RestartReply(actor_id=entry.actor_id, accepted=True)
        is_new = False
        now = self._runtime.clock.now()

        def act() -> dict[str, object]:
            nonlocal is_new
            is_new = True
            return reply.model_dump(mode="json", by_alias=True)

        await self._ledger.write(
            lambda connection: once(
                connection,
                client_command_id,
                "agent.restart",
                {"actorId": entry.actor_id},
                act,
                now,
            )
        )
        if is_new:
            self._agents.request_restart(entry.actor_id)
        return reply

    async def create_room(self, request: CreateRoom) -> RoomReply:
        """Create a room; its id is made from the title unless given."""
        title = safe_line(request.title, 64)
        room_id = room_id_of(title, request.room_id)
        content = {"title": title, "roomId": request.room_id}
        return await self._room_command(
            request.client_command_id,
            "room.create",
            content,
            room_id,
            lambda connection, now: create_room(connection, room_id, title, now),
        )

    async def change_room(self, room_id: str, request: ChangeRoom) -> RoomReply:
        """Rename, archive or restore a room."""
        title = None if request.title is None else safe_line(request.title, 64)
        content = {"roomId": room_id, "title": title, "archived": request.archived}
        return await self._room_command(
            request.client_command_id,
            "room.change",
            content,
            room_id,
            lambda connection, now: change_room(connection, room_id, title, request.archived, now),
        )

    async def _room_command(
        self,
        client_command_id: str,
        command_type: str,
        content: Mapping[str, object],
        room_id: str,
        change: RoomChange,
    ) -> RoomReply:
        now = self._runtime.clock.now()

        def step(connection: sqlite3.Connection) -> RoomReply:
            def act() -> dict[str, object]:
                change(connection, now)
                room = read_room(connection, room_id)
                return RoomReply(room=room).model_dump(mode="json", by_alias=True)

            stored = once(connection, client_command_id, command_type, content, act, now)
            return RoomReply.model_validate(stored)

        return await self._ledger.write(step)

    # Reading events

    async def bootstrap(self, room_id: str, limit: int) -> bytes:
        """A `BootstrapReply` as JSON; stored events are spliced in unread."""
        overview = await self._ledger.read(partial(read_overview, room_id=room_id, limit=limit))
        return self._splice(overview)

    def _splice(self, overview: Overview) -> bytes:
        frame = BootstrapReply(
            ledger_id=self._ledger.ledger_id,
            through_seq=overview.through_seq,
            room=overview.room,
            rooms=tuple(overview.rooms),
            agents=self._agents.board.all(),
            recent_events=(),
            has_more_before=overview.recent.has_more_before,
            active_turns=tuple(overview.open_turns),
            limits={
                "messageCharacters": self._runtime.limits.message_characters,
                "contextCharacters": self._runtime.limits.context_characters,
            },
        )
        reply = frame.model_dump(mode="json", by_alias=True, exclude_none=True)
        reply["recentEvents"] = [orjson.Fragment(event) for event in overview.recent.events]
        return orjson.dumps(reply)

    async def page(
        self,
        room_id: str,
        before: int | None,
        after: int | None,
        around: int | None,
        limit: int,
        types: Sequence[str],
    ) -> EventRows:
        """A page of a room's events, oldest first."""

        def query(connection: sqlite3.Connection) -> EventRows:
            read_room(connection, room_id)
            return page(
                connection,
                room_id,
                before=before,
                after=after,
                around=around,
                limit=limit,
                types=types,
            )

        return await self._ledger.read(query)

    async def event(self, event_id: str) -> bytes:
        """One envelope as JSON."""
        return await self._ledger.read(partial(read_event, event_id=event_id))

    async def event_text(self, event_id: str) -> TextReply:
        """The whole text of an event."""
        return await self._ledger.read(partial(whole_text, event_id=event_id))

    async def durable_after(
        self, after_seq: int, limit: int, room_id: str | None
    ) -> list[DurableFrameSource]:
        """The next events for the live tail: what was committed a moment ago without a read."""
        if room_id is None:
            fresh = self._ledger.fresh.after(after_seq, limit)
            if fresh is not None:
                return [*fresh]
        return await self._ledger.read(
            partial(rows_after, after_seq=after_seq, limit=limit, room_id=room_id)
        )

    async def export_rows(
        self, room_id: str | None, after_seq: int, limit: int
    ) -> list[tuple[int, bytes]]:
        """The next events for an export."""
        if room_id is not None and after_seq == 0:
            await self._room(room_id)
        rows = await self.durable_after(after_seq, limit, room_id)
        return [(row.seq, row.data) for row in rows]

    # Reading state

    async def turns(
        self,
        room_id: str | None,
        status: str,
        actor_id: str | None,
        before: int | None,
        limit: int,
    ) -> TurnList:
        """Turns, newest first."""
        if room_id is not None:
            await self._room(room_id)
        found, next_before = await self._ledger.read(
            partial(
                list_turns,
                room_id=room_id,
                actor_id=actor_id,
                selection=cast("TurnSelection", status),
                before=before,
                limit=limit,
            )
        )
        return TurnList(turns=tuple(found), next_before=next_before)

    async def turn(self, turn_id: str) -> TurnInfo:
        """One turn with its answer."""
        return await self._ledger.read(partial(read_turn, turn_id=turn_id))

    async def agents(self) -> AgentList:
        """All agents' cards."""
        return AgentList(agents=self._agents.board.all())

    async def usage(
        self,
        room_id: str | None,
        correlation_id: str | None,
        actor_id: str | None,
        by: str = "agent",
        limit: int = 100,
    ) -> UsageReply:
        """What turns cost, as far as agents told."""
        if room_id is not None:
            await self._room(room_id)
        return await self._ledger.read(
            partial(
                read_usage,
                room_id=room_id,
                correlation_id=correlation_id,
                actor_id=actor_id,
                by=cast("UsageGroup", by),
                limit=limit,
            )
        )

    async def rooms(self) -> RoomList:
        """All rooms."""
        return RoomList(rooms=tuple(await self._ledger.read(list_rooms)))

    async def _room(self, room_id: str) -> RoomInfo:
        return await self._ledger.read(partial(read_room, room_id=room_id))
