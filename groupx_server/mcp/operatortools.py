"""`/mcp/operator`: the room assistant's tools, over the use cases of assistant/.

Whatever a person can do by command, it can do; each act is written down in the room as its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from groupx_server.assistant.configuring import Configuring
from groupx_server.assistant.looking import Looking
from groupx_server.assistant.messages import OperatorMessages, Words
from groupx_server.assistant.remembering import Remembering
from groupx_server.assistant.results import EventsResult, PairsResult, Result, RosterResult
from groupx_server.assistant.ruling import Ruling
from groupx_server.ledger.callers import Caller
from groupx_server.mcp import operatorarguments as given
from groupx_server.mcp import operatorteaching as told
from groupx_server.mcp.desk import Desk, Tool
from groupx_server.rooms.toolresults import AskResult, TextResult
from groupx_shared.ids import agent_actor
from groupx_shared.wire.base import WireModel
from groupx_shared.wire.replies import MessageAccepted

SERVER_NAME: Final = "groupx"


@dataclass(frozen=True, slots=True)
class Cases:
    """The use cases behind the tools."""

    messages: OperatorMessages
    ruling: Ruling
    remembering: Remembering
    configuring: Configuring
    looking: Looking


class OperatorDesk(Desk[Caller]):
    """All tools of the room assistant."""

    def __init__(self, cases: Cases) -> None:
        self._cases = cases
        super().__init__(SERVER_NAME, told.INSTRUCTIONS, [*self._lookups(), *self._acts()])

    def _lookups(self) -> list[Tool[Caller]]:
        look = _Lookups(self._cases)
        plain = (Result,)
        return [
            Tool("roster", told.ROSTER, given.Nothing, look.roster, (RosterResult,), True),
            Tool("read", told.READ, given.ReadRoom, look.read, (EventsResult, TextResult), True),
            Tool("turn_status", told.TURN, given.LookedUpTurn, look.turn, plain, True),
            Tool("roots", told.ROOTS, given.LookedUpRoots, look.roots, plain, True),
            Tool(
                "supervision_status",
                told.PAIRS,
                given.LookedUpPairs,
                look.pairs,
                (PairsResult,),
                True,
            ),
            Tool("search", told.SEARCH, given.Searched, look.search, plain, True),
            Tool("usage", told.USAGE, given.Costs, look.usage, plain, True),
            Tool("context_usage", told.CONTEXT, given.OneRoom, look.context, plain, True),
            Tool("memory_search", told.MEMORY, given.ListedMemory, look.memory, plain, True),
            Tool(
                "identity_search", told.IDENTITY, given.ListedIdentity, look.identity, plain, True
            ),
            Tool("setup_read", told.SETUP, given.Nothing, look.setup, plain, True),
            Tool("worker_collect", told.COLLECT, given.Collected, look.collect, (AskResult,), True),
        ]

    def _acts(self) -> list[Tool[Caller]]:
        do = _Deeds(self._cases)
        sent, plain = (MessageAccepted,), (Result,)
        return [
            Tool("send", told.SEND, given.RoomMessage, do.send, sent),
            Tool("worker_dispatch", told.DISPATCH, given.Task, do.dispatch, sent),
            Tool("worker_ask", told.ASK, given.WaitedTask, do.ask, (AskResult,)),
            Tool("dispatch_event", told.GIVE, given.GivenEvent, do.give, sent),
            Tool("turn_cancel", told.CANCEL, given.OneTurn, do.cancel_turn, plain),
            Tool("turns_cancel", told.CANCEL_ALL, given.SomeTurns, do.cancel_turns, plain),
            Tool("turn_again", told.AGAIN, given.TurnAgain, do.again, sent),
            Tool("root_cancel", told.ROOT_CANCEL, given.OneRoot, do.cancel_root, plain),
            Tool("root_continue", told.ROOT_GO, given.OneRoot, do.continue_root, plain),
            Tool("agent_restart", told.RESTART, given.OneAgent, do.restart, plain),
            Tool("room_create", told.ROOM_NEW, given.NewRoom, do.create_room, plain),
            Tool("room_change", told.ROOM_CHANGE, given.ChangedRoom, do.change_room, plain),
            Tool("context_compact", told.COMPACT, given.CompactedRoom, do.compact, plain),
            Tool("context_reset", told.RESET, given.ResetRoom, do.reset, plain),
            Tool("memory_remember", told.REMEMBER, given.Remembered, do.remember, plain),
            Tool("agent_core_remember", told.CORE, given.AgentRemembered, do.core, plain),
            Tool("memory_supersede", told.CORRECT, given.CorrectedMemory, do.correct, plain),
            Tool("memory_retract", told.RETRACT, given.OneMemory, do.retract, plain),
            Tool("memory_pin", told.PIN, given.PinnedMemory, do.pin, plain),
            Tool("identity_remember_for", told.DESCRIBE, given.Described, do.describe, plain),
            Tool(
                "identity_supersede", told.REDESCRIBE, given.CorrectedIdentity, do.redescribe, plain
            ),
            Tool("identity_retract", told.UNSAY, given.OneIdentity, do.unsay, plain),
            Tool("agent_save", told.SAVE, given.SavedAgent, do.save, plain),
            Tool("agent_remove", told.REMOVE, given.OneAgent, do.remove, plain),
        ]


class _Lookups:
    """Arguments to lookups."""

    def __init__(self, cases: Cases) -> None:
        self._look = cases.looking
        self._cases = cases

    async def roster(self, _: Caller, __: given.Nothing) -> WireModel:
        return await self._look.roster()

    async def read(self, _: Caller, a: given.ReadRoom) -> WireModel:
        if a.event_id is not None:
            return await self._look.text(a.event_id, a.offset)
        return await self._look.events(a.room_id, a.correlation_id, a.before_seq, a.limit)

    async def turn(self, _: Caller, a: given.LookedUpTurn) -> WireModel:
        return await self._look.turn(a.turn_id)

    async def roots(self, _: Caller, a: given.LookedUpRoots) -> WireModel:
        return await self._look.root(a.correlation_id, a.room_id)

    async def pairs(self, _: Caller, a: given.LookedUpPairs) -> WireModel:
        return await self._look.pairs(a.pair_id, a.correlation_id)

    async def search(self, _: Caller, a: given.Searched) -> WireModel:
        return await self._look.search(a.query, a.room_id, a.cursor)

    async def usage(self, _: Caller, a: given.Costs) -> WireModel:
        return await self._look.usage(a.room_id, a.correlation_id, a.agent)

    async def context(self, _: Caller, a: given.OneRoom) -> WireModel:
        return await self._look.context(a.room_id)

    async def memory(self, _: Caller, a: given.ListedMemory) -> WireModel:
        scope = a.room_id or (None if a.agent is None else agent_actor(a.agent))
        filters = {"scope_id": scope, "include_history": a.include_history or None}
        return await self._look.memory(filters, a.cursor, a.limit)

    async def identity(self, _: Caller, a: given.ListedIdentity) -> WireModel:
        return await self._look.identity(a.agent, a.cursor, a.limit)

    async def setup(self, _: Caller, __: given.Nothing) -> WireModel:
        return _plain(await self._cases.configuring.read())

    async def collect(self, _: Caller, a: given.Collected) -> WireModel:
        return await self._cases.messages.collect(a.message_event_id, _seconds(a.timeout_ms))


class _Deeds:
    """Arguments to acts."""

    def __init__(self, cases: Cases) -> None:
        self._say = cases.messages
        self._rule = cases.ruling
        self._keep = cases.remembering
        self._set = cases.configuring

    async def send(self, _: Caller, a: given.RoomMessage) -> WireModel:
        return await self._say.send(_words(a))

    async def dispatch(self, _: Caller, a: given.Task) -> WireModel:
        return await self._say.dispatch(_words(a), "worker_dispatch")

    async def ask(self, _: Caller, a: given.WaitedTask) -> WireModel:
        return await self._say.ask(_words(a), _seconds(a.timeout_ms))

    async def give(self, _: Caller, a: given.GivenEvent) -> WireModel:
        return await self._say.dispatch_event(a.client_command_id, a.event_id, a.to)

    async def cancel_turn(self, _: Caller, a: given.OneTurn) -> WireModel:
        return _plain(await self._rule.cancel_turn(a.client_command_id, a.turn_id))

    async def cancel_turns(self, _: Caller, a: given.SomeTurns) -> WireModel:
        return _plain(await self._rule.cancel_turns(a.client_command_id, a.to))

    async def again(self, _: Caller, a: given.TurnAgain) -> WireModel:
        return await self._rule.take_up_again(a.client_command_id, a.turn_id, a.how)

    async def cancel_root(self, _: Caller, a: given.OneRoot) -> WireModel:
        return _plain(await self._rule.cancel_root(a.client_command_id, a.correlation_id))

    async def continue_root(self, _: Caller, a: given.OneRoot) -> WireModel:
        return _plain(await self._rule.continue_root(a.client_command_id, a.correlation_id))

    async def restart(self, _: Caller, a: given.OneAgent) -> WireModel:
        return _plain(await self._rule.restart_agent(a.client_command_id, a.agent))

    async def create_room(self, _: Caller, a: given.NewRoom) -> WireModel:
        return _plain(await self._rule.create_room(a.client_command_id, a.title, a.room_id))

    async def change_room(self, _: Caller, a: given.ChangedRoom) -> WireModel:
        return _plain(
            await self._rule.change_room(a.client_command_id, a.room_id, a.title, a.archived)
        )

    async def compact(self, _: Caller, a: given.CompactedRoom) -> WireModel:
        return _plain(await self._rule.compact(a.client_command_id, a.room_id))

    async def reset(self, _: Caller, a: given.ResetRoom) -> WireModel:
        return _plain(
            await self._rule.reset_context(a.client_command_id, a.room_id, a.native_sessions)
        )

    async def remember(self, _: Caller, a: given.Remembered) -> WireModel:
        return _plain(
            await self._keep.remember(a.client_command_id, a.content, a.kind, room_id=a.room_id)
        )

    async def core(self, _: Caller, a: given.AgentRemembered) -> WireModel:
        return _plain(
            await self._keep.remember(a.client_command_id, a.content, a.kind, agent=a.agent)
        )

    async def correct(self, _: Caller, a: given.CorrectedMemory) -> WireModel:
        return _plain(await self._keep.correct(a.client_command_id, a.memory_id, a.content, a.kind))

    async def retract(self, _: Caller, a: given.OneMemory) -> WireModel:
        return _plain(await self._keep.take_back(a.client_command_id, a.memory_id))

    async def pin(self, _: Caller, a: given.PinnedMemory) -> WireModel:
        return _plain(await self._keep.pin(a.client_command_id, a.memory_id, a.pinned))

    async def describe(self, _: Caller, a: given.Described) -> WireModel:
        return _plain(await self._keep.describe(a.client_command_id, a.agent, a.content, a.kind))

    async def redescribe(self, _: Caller, a: given.CorrectedIdentity) -> WireModel:
        return _plain(
            await self._keep.describe_anew(a.client_command_id, a.identity_id, a.content, a.kind)
        )

    async def unsay(self, _: Caller, a: given.OneIdentity) -> WireModel:
        return _plain(await self._keep.unsay(a.client_command_id, a.identity_id))

    async def save(self, _: Caller, a: given.SavedAgent) -> WireModel:
        return _plain(await self._set.save_agent(a.client_command_id, a.agent, a.settings))

    async def remove(self, _: Caller, a: given.OneAgent) -> WireModel:
        return _plain(await self._set.remove_agent(a.client_command_id, a.agent))


def _words(a: given.RoomMessage | given.Task) -> Words:
    words = Words(a.client_command_id, a.content, a.to, a.room_id, a.reply_to_event_id)
    if isinstance(a, given.Task):
        return replace(words, observers=a.observers, brief=a.brief)
    return words


def _plain(result: Mapping[str, Any]) -> Result:
    return Result.model_validate(result)


def _seconds(timeout_ms: int | None) -> float | None:
    return None if timeout_ms is None else timeout_ms / 1000
