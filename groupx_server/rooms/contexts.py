"""What agents are told, as use cases: how full, what it would be, summing up, beginning anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from groupx_server.agents.base import native_protocol
from groupx_server.context.gather import PacketRequest, context_usage, gather_packet
from groupx_server.context.packet import SOFT_SHARE, Packet, Section
from groupx_server.ledger.bindings import native_session_to_resume
from groupx_server.ledger.commands import once
from groupx_server.ledger.days import list_days
from groupx_server.ledger.messages import SpokenMessage, said_after
from groupx_server.ledger.resets import reset_context
from groupx_server.ledger.rooms import read_room
from groupx_server.ledger.summaries import active_summary
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.compaction import Compactor
from groupx_server.rooms.roster import RosterEntry
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.ids import USER_WEB
from groupx_shared.wire.context import (
    CompactContext,
    CompactionReply,
    ContextPreview,
    DayList,
    LeftOutInfo,
    ResetContext,
    ResetReply,
    SectionInfo,
    SummaryReply,
)
from groupx_shared.wire.replies import ContextUsage

SessionKind = Literal["new", "continued"]


class Contexts:
    """What people do with the context of a room."""

    def __init__(self, runtime: Runtime, agents: Agents, compactor: Compactor) -> None:
        self._runtime = runtime
        self._agents = agents
        self.compactor = compactor

    async def usage(self, room_id: str) -> ContextUsage:
        """How full a packet of the room would be."""
        limit = self._runtime.limits.context_characters
        query = partial(context_usage, room_id=room_id, max_chars=limit)
        usage = await self._runtime.ledger.read(query)
        newest = await self.compactor.newest(room_id)
        return usage.model_copy(update={"compaction": newest})

    async def preview(
        self,
        room_id: str,
        agent: str,
        session: SessionKind | None,
        text: str,
        reply_to: str | None = None,
    ) -> ContextPreview:
        """What the agent would be sent if `text` was said to it now, in reply to an event if one
        is given. Nothing is changed.

        Raises: RefusedError (UNKNOWN_ROOM, UNKNOWN_TARGET, AGENT_DISABLED), ContextBudgetError.
        """
        entry = self._agents.roster.resolve(agent)
        limit = self._runtime.limits.context_characters
        now = self._runtime.clock.now()

        def query(connection: sqlite3.Connection) -> tuple[SessionKind, Packet]:
            room = read_room(connection, room_id)
            kind = session or _session_of(connection, entry, room_id)
            draft = SpokenMessage(
                room.last_seq + 1, "(draft)", USER_WEB, "You", now, text, reply_to, ""
            )
            request = PacketRequest(
                room_id=room_id,
                source_event_id="",
                actor_id=entry.actor_id,
                actor_name=entry.display_name,
                identity=entry.identity,
                session_is_fresh=kind == "new",
                max_chars=limit,
                draft=draft,
            )
            return kind, gather_packet(connection, request)

        kind, packet = await self._runtime.ledger.read(query)
        return ContextPreview(
            room_id=room_id,
            actor_id=entry.actor_id,
            session=kind,
            text=packet.text,
            characters=len(packet.text),
            soft_characters=int(limit * SOFT_SHARE),
            max_characters=limit,
            through_seq=packet.through_seq,
            summary_through_seq=packet.summary_through_seq,
            sections=tuple(map(_section, packet.sections)),
            needs_compaction=packet.omitted > 0,
        )

    async def summary(self, room_id: str) -> SummaryReply:
        """What stands for the room's older messages. Raises: RefusedError (UNKNOWN_ROOM)."""

        def query(connection: sqlite3.Connection) -> SummaryReply:
            read_room(connection, room_id)
            summary = active_summary(connection, room_id)
            if summary is None:
                return SummaryReply(room_id=room_id, exists=False)
            begun = said_after(connection, room_id, summary.from_seq - 1)
            ended = said_after(connection, room_id, summary.through_seq)
            return SummaryReply(
                room_id=room_id,
                exists=True,
                summary_id=summary.summary_id,
                from_seq=summary.from_seq,
                through_seq=summary.through_seq,
                message_count=begun.messages - ended.messages,
                message_characters=begun.chars - ended.chars,
                author_actor_id=summary.generator_actor_id,
                created_at=summary.created_at,
                characters=len(summary.content),
                content=summary.content,
            )

        return await self._runtime.ledger.read(query)

    async def days(self, room_id: str | None, actor_id: str | None, limit: int) -> DayList:
        """What agents wrote of their days, and what waits of them."""
        query = partial(list_days, room_id=room_id, actor_id=actor_id, limit=limit)
        return DayList(days=tuple(await self._runtime.ledger.read(query)))

    async def compact(self, room_id: str, request: CompactContext) -> CompactionReply:
        """Have the room summed up; how it goes on is told live and by `usage`."""
        await self._runtime.ledger.read(partial(read_room, room_id=room_id))
        plan = await self.compactor.plan(room_id, request.keep)
        reply = CompactionReply(
            accepted=plan is not None, operation_id=None if plan is None else plan[0]
        )
        is_new = False

        def act() -> dict[str, Any]:
            nonlocal is_new
            is_new = True
            return reply.model_dump(mode="json", by_alias=True, exclude_none=True)

        content = {"roomId": room_id, "keep": request.keep}
        stored = await self._once(request.client_command_id, "context.compact", content, act)
        if is_new and plan is not None:
            self.compactor.start(room_id, *plan)
        return CompactionReply.model_validate(stored)

    async def reset(self, room_id: str, request: ResetContext) -> ResetReply:
        """Tell agents nothing any more of what was said until now."""
        now = self._runtime.clock.now()
        is_native = request.native_sessions

        def step(connection: sqlite3.Connection) -> ResetReply:
            def act() -> dict[str, Any]:
                read_room(connection, room_id)
                done = reset_context(connection, room_id, is_native, now)
                return ResetReply(reset=done.is_new, through_seq=done.through_seq).model_dump(
                    mode="json", by_alias=True
                )

            content = {"roomId": room_id, "nativeSessions": is_native}
            stored = once(connection, request.client_command_id, "context.reset", content, act, now)
            return ResetReply.model_validate(stored)

        reply = await self._runtime.ledger.write(step)
        if is_native:
            self._agents.forget_sessions(room_id)
        return reply

    async def _once(
        self, command_id: str, kind: str, content: dict[str, Any], act: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        now = self._runtime.clock.now()
        return await self._runtime.ledger.write(
            lambda connection: once(connection, command_id, kind, content, act, now)
        )


def _session_of(connection: sqlite3.Connection, entry: RosterEntry, room_id: str) -> SessionKind:
    known = native_session_to_resume(
        connection,
        entry.actor_id,
        room_id,
        native_protocol(entry.driver),
        str(entry.spec.cwd),
    )
    return "new" if known is None else "continued"


def _section(section: Section) -> SectionInfo:
    return SectionInfo(
        name=section.name,
        characters=len(section.text),
        mandatory=section.is_mandatory,
        included=section.included,
        omitted=section.omitted,
        left_out=tuple(
            LeftOutInfo(id=out.ref_id, characters=out.characters) for out in section.left_out
        ),
    )
