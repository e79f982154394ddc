"""The tools of a room's agents, over the use cases of rooms/."""

from __future__ import annotations

from groupx_server.ledger.callers import Caller
from groupx_server.mcp import teaching
from groupx_server.mcp.arguments import (
    AskArguments,
    CollectArguments,
    PublishArguments,
    ReadArguments,
    RosterArguments,
    SearchArguments,
    SendArguments,
    TurnStatusArguments,
)
from groupx_server.mcp.desk import Desk, Tool
from groupx_server.mcp.recordtools import RecordTools
from groupx_server.mcp.watchtools import WatchTools
from groupx_server.rooms.agentmemories import AgentMemories
from groupx_server.rooms.agentreads import AgentReads
from groupx_server.rooms.calls import AgentCalls, Say
from groupx_server.rooms.grants import SERVER_NAME
from groupx_server.rooms.toolresults import (
    AskResult,
    PublishResult,
    ReadResult,
    RosterResult,
    SearchResult,
    SendResult,
    TextResult,
    TurnStatusResult,
)
from groupx_server.rooms.watching import AgentWatches
from groupx_shared.wire.base import WireModel


class Toolbox(Desk[Caller]):
    """All tools of a room's agents over the use cases."""

    def __init__(
        self,
        calls: AgentCalls,
        reads: AgentReads,
        memories: AgentMemories,
        watches: AgentWatches,
    ) -> None:
        self.calls = calls
        self._reads = reads
        tools = [*self._tools(), *WatchTools(watches).tools(), *RecordTools(memories).tools()]
        super().__init__(SERVER_NAME, teaching.INSTRUCTIONS, tools)

    def _tools(self) -> list[Tool[Caller]]:
        return [
            Tool("send", teaching.SEND, SendArguments, self._send, (SendResult,)),
            Tool("publish", teaching.PUBLISH, PublishArguments, self._publish, (PublishResult,)),
            Tool("ask", teaching.ASK, AskArguments, self._ask, (AskResult,)),
            Tool("collect", teaching.COLLECT, CollectArguments, self._collect, (AskResult,), True),
            Tool("read", teaching.READ, ReadArguments, self._read, (ReadResult, TextResult), True),
            Tool(
                "turn_status",
                teaching.TURN_STATUS,
                TurnStatusArguments,
                self._turn_status,
                (TurnStatusResult,),
                True,
            ),
            Tool("roster", teaching.ROSTER, RosterArguments, self._roster, (RosterResult,), True),
            Tool("search", teaching.SEARCH, SearchArguments, self._search, (SearchResult,), True),
        ]

    async def _send(self, caller: Caller, given: SendArguments) -> WireModel:
        return await self.calls.send(caller, _say_to(given))

    async def _publish(self, caller: Caller, given: PublishArguments) -> WireModel:
        return await self.calls.publish(caller, _say(given))

    async def _ask(self, caller: Caller, given: AskArguments) -> WireModel:
        return await self.calls.ask(
            caller,
            _say_to(given),
            _seconds(given.timeout_ms),
            cancel_on_timeout=given.cancel_on_timeout,
        )

    async def _collect(self, caller: Caller, given: CollectArguments) -> WireModel:
        return await self.calls.collect(caller, given.message_event_id, _seconds(given.timeout_ms))

    async def _read(self, caller: Caller, given: ReadArguments) -> WireModel:
        if given.event_id is not None:
            return await self._reads.text(caller, given.event_id, given.offset)
        return await self._reads.read(caller, given.correlation_id, given.after_seq, given.limit)

    async def _turn_status(self, caller: Caller, given: TurnStatusArguments) -> WireModel:
        return await self._reads.turn_status(caller, given.turn_id)

    async def _roster(self, caller: Caller, _: RosterArguments) -> WireModel:
        return await self._reads.roster(caller)

    async def _search(self, caller: Caller, given: SearchArguments) -> WireModel:
        return await self._reads.search(caller, given.query, given.cursor, given.limit)


def _say(given: PublishArguments) -> Say:
    return Say(given.client_command_id, given.content, (), given.reply_to_event_id)


def _say_to(given: SendArguments) -> Say:
    return Say(
        given.client_command_id,
        given.content,
        given.to,
        given.reply_to_event_id,
        given.observers or (),
        given.brief or "",
    )


def _seconds(timeout_ms: int | None) -> float | None:
    return None if timeout_ms is None else timeout_ms / 1000
