"""What the assistant does about turns, roots, agents and rooms, as a person would by command."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from groupx_server.assistant.acts import OPERATOR, Act, Acts, Done
from groupx_server.ledger.accept import place_message
from groupx_server.ledger.cancel import Cancelled, cancel_asked, cancel_one
from groupx_server.ledger.queueing import Target
from groupx_server.ledger.rooms import change_room, create_room, read_room
from groupx_server.ledger.roots import cancel_root
from groupx_server.ledger.turns import list_turns
from groupx_server.rooms.again import Again, plan_again
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.roomids import room_id_of
from groupx_server.rooms.service import RoomService
from groupx_server.rooms.watchorders import targets_of
from groupx_shared.ids import MAIN_ROOM, USER_ASSISTANT
from groupx_shared.text import safe_line
from groupx_shared.wire.base import WireModel
from groupx_shared.wire.context import CompactContext, ResetContext
from groupx_shared.wire.replies import MessageAccepted

MAX_CANCELLED: Final = 500
"""Turns cancelled by one call."""


class Ruling:
    """Commands over what goes on."""

    def __init__(self, acts: Acts, agents: Agents, rooms: RoomService) -> None:
        self._acts = acts
        self._agents = agents
        self._rooms = rooms

    async def cancel_turn(self, command_id: str, turn_id: str) -> Mapping[str, Any]:
        """Cancel one turn, and what it asked for. Raises: RefusedError (UNKNOWN_TURN)."""
        act = Act("turn_cancel", command_id, {"turnId": turn_id})
        return await self._cancel(act, [turn_id], f"cancelled {turn_id}", turn_id)

    async def cancel_turns(self, command_id: str, to: Sequence[str]) -> Mapping[str, Any]:
        """Cancel all open turns, or those of some agents. Raises: RefusedError (UNKNOWN_TARGET)."""
        actors = {self._agents.roster.resolve(name).actor_id for name in to}
        act = Act("turns_cancel", command_id, {"to": sorted(actors)})
        of = ", ".join(sorted(name.removeprefix("agent:") for name in actors)) or "all agents"
        return await self._cancel(act, None, f"cancelled the open turns of {of}", None, actors)

    async def _cancel(
        self,
        act: Act,
        turn_ids: Sequence[str] | None,
        summary: str,
        subject: str | None,
        actors: set[str] | None = None,
    ) -> Mapping[str, Any]:
        limits, done = self._acts.runtime.limits, list[Cancelled]()

        def change(connection: sqlite3.Connection, now: str) -> Done:
            done.clear()
            chosen = turn_ids if turn_ids is not None else _open_of(connection, actors or set())
            for turn_id in chosen:
                one = cancel_one(connection, turn_id, limits, now)
                if one.reply.accepted:
                    one = replace(one, asked=cancel_asked(connection, turn_id, limits, now))
                done.append(one)
            turns = [each.reply.model_dump(mode="json", by_alias=True) for each in done]
            return Done(summary, {"turns": turns}, subject)

        result = await self._acts.perform(act, change)
        for cancelled in done:
            self._agents.cancelled(cancelled)
        return result

    async def cancel_root(self, command_id: str, correlation_id: str) -> Mapping[str, Any]:
        """Cancel every open turn of a root. Raises: RefusedError (UNKNOWN_EVENT)."""
        limits, done = self._acts.runtime.limits, list[Cancelled]()

        def change(connection: sqlite3.Connection, now: str) -> Done:
            done[:] = cancel_root(connection, correlation_id, limits, now)
            turns = [each.reply.model_dump(mode="json", by_alias=True) for each in done]
            summary = f"cancelled {len(turns)} open turns of {correlation_id}"
            return Done(summary, {"turns": turns}, correlation_id)

        act = Act("root_cancel", command_id, {"correlationId": correlation_id})
        result = await self._acts.perform(act, change)
        for cancelled in done:
            self._agents.cancelled(cancelled)
        return result

    async def continue_root(self, command_id: str, correlation_id: str) -> Mapping[str, Any]:
        """Let agents go on that a limit stopped. Raises: RefusedError as `Loops.let_go_on`."""
        act = Act("root_continue", command_id, {"correlationId": correlation_id})
        full_id = self._full_id(command_id)
        reply = await self._rooms.continue_root(correlation_id, full_id, OPERATOR)
        result = reply.model_dump(mode="json", by_alias=True, exclude_none=True)
        summary = f"let {correlation_id} go on"
        return await self._acts.perform(act, lambda *_: Done(summary, result, correlation_id))

    async def take_up_again(self, command_id: str, turn_id: str, how: Again) -> MessageAccepted:
        """Retry or continue an ended turn. Raises: RefusedError as for a person's."""
        limits, placed = self._acts.runtime.limits, list[MessageAccepted]()

        def change(connection: sqlite3.Connection, now: str) -> Done:
            command = plan_again(connection, turn_id, command_id, how, OPERATOR)
            entries = [self._agents.roster.resolve(each.actor_id) for each in command.targets]
            targets = [Target(entry.actor_id, entry.driver) for entry in entries]
            reply = place_message(connection, replace(command, targets=targets), limits, now)
            placed[:] = [reply]
            result = reply.model_dump(mode="json", by_alias=True, exclude_none=True)
            word = "retried" if how == "retry" else "let go on"
            return Done(f"{word} {turn_id}", result, turn_id)

        act = Act(f"turn_{how}", command_id, {"turnId": turn_id})
        reply = MessageAccepted.model_validate(await self._acts.perform(act, change))
        for new in placed:
            self._agents.queued(targets_of(new))
        return reply

    async def restart_agent(self, command_id: str, name: str) -> Mapping[str, Any]:
        """End an agent's program; it starts again. Raises: RefusedError (UNKNOWN_TARGET)."""
        entry = self._agents.roster.resolve(name)
        is_new = False

        def change(connection: sqlite3.Connection, now: str) -> Done:
            nonlocal is_new
            is_new = True
            result = {"actorId": entry.actor_id, "accepted": True}
            return Done(f"restarted {entry.handle}", result, entry.actor_id)

        act = Act("agent_restart", command_id, {"actorId": entry.actor_id})
        result = await self._acts.perform(act, change)
        if is_new:
            self._agents.request_restart(entry.actor_id)
        return result

    async def create_room(
        self, command_id: str, title: str, room_id: str | None
    ) -> Mapping[str, Any]:
        """Make a room. Raises: RefusedError (ROOM_EXISTS)."""
        clean = safe_line(title, 64)
        new_id = room_id_of(clean, room_id)

        def change(connection: sqlite3.Connection, now: str) -> Done:
            create_room(connection, new_id, clean, now, USER_ASSISTANT)
            room = read_room(connection, new_id).model_dump(mode="json", by_alias=True)
            return Done(f"made the room “{clean}”", {"room": room}, new_id)

        act = Act("room_create", command_id, {"title": clean, "roomId": room_id}, new_id)
        return await self._acts.perform(act, change)

    async def change_room(
        self, command_id: str, room_id: str, title: str | None, archived: bool | None
    ) -> Mapping[str, Any]:
        """Rename, archive or restore. Raises: RefusedError (UNKNOWN_ROOM, STORE_CONFLICT)."""
        clean = None if title is None else safe_line(title, 64)

        def change(connection: sqlite3.Connection, now: str) -> Done:
            change_room(connection, room_id, clean, archived, now, USER_ASSISTANT)
            room = read_room(connection, room_id).model_dump(mode="json", by_alias=True)
            return Done(f"changed the room {room_id}", {"room": room}, room_id)

        content = {"roomId": room_id, "title": clean, "archived": archived}
        return await self._acts.perform(Act("room_change", command_id, content, room_id), change)

    async def compact(self, command_id: str, room_id: str | None) -> Mapping[str, Any]:
        """Have a room summed up. Raises: RefusedError (UNKNOWN_ROOM)."""
        room = self._room(room_id)
        request = CompactContext(client_command_id=self._full_id(command_id))
        reply = await self._rooms.contexts.compact(room, request)
        summary = f"had {room} summed up" if reply.accepted else f"{room} needs no summing up"
        return await self._after(
            Act("context_compact", command_id, {"roomId": room}, room), reply, summary
        )

    async def reset_context(
        self, command_id: str, room_id: str | None, is_native: bool
    ) -> Mapping[str, Any]:
        """Let agents begin anew in a room. Raises: RefusedError (UNKNOWN_ROOM)."""
        room = self._room(room_id)
        full_id = self._full_id(command_id)
        request = ResetContext(client_command_id=full_id, native_sessions=is_native)
        reply = await self._rooms.contexts.reset(room, request)
        content = {"roomId": room, "nativeSessions": is_native}
        act = Act("context_reset", command_id, content, room)
        return await self._after(act, reply, f"had the agents of {room} begin anew")

    def _room(self, room_id: str | None) -> str:
        return room_id or self._acts.require_request().room_id or MAIN_ROOM

    def _full_id(self, command_id: str) -> str:
        """An id for a command of the room's own, below the act's."""
        return f"{self._acts.require_request().message_id}/{command_id}/self"

    async def _after(self, act: Act, reply: WireModel, summary: str) -> Mapping[str, Any]:
        """Write down what a command of the room has done already."""
        result = reply.model_dump(mode="json", by_alias=True, exclude_none=True)
        return await self._acts.perform(act, lambda *_: Done(summary, result, act.room_id))


def _open_of(connection: sqlite3.Connection, actors: set[str]) -> list[str]:
    """Open turns of these agents; of all when none is named."""
    turns, _ = list_turns(connection, selection="open", limit=MAX_CANCELLED)
    return [turn.turn_id for turn in turns if not actors or turn.target_actor_id in actors]
