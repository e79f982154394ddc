"""The tools as data, and calling one: check the arguments, run the use case, say what came of it.

The one border between what a model asks for and the use cases: whatever goes wrong becomes an
answer that the model can act on, with the same codes as everywhere else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from groupx_server.ledger.callers import Caller
from groupx_server.logs import get_logger
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
    read_arguments,
)
from groupx_server.rooms.agentreads import AgentReads
from groupx_server.rooms.calls import AgentCalls, Say
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
from groupx_shared.errors import ErrorCode, GroupXError, RefusedError
from groupx_shared.ids import new_id
from groupx_shared.names import unknown_name
from groupx_shared.wire.base import RequestModel, WireModel

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool."""

    name: str
    description: str
    arguments: type[RequestModel]
    run: Callable[[Caller, Any], Awaitable[WireModel]]
    results: Sequence[type[WireModel]]
    """Shapes of its result; more than one when the arguments choose."""
    is_read_only: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gives back: the result, or `{code, message, details?}`."""

    payload: Mapping[str, Any]
    is_error: bool = False


class Toolbox:
    """All tools of a room's agents over the use cases."""

    def __init__(self, calls: AgentCalls, reads: AgentReads) -> None:
        self.calls = calls
        self._reads = reads
        self.tools = {tool.name: tool for tool in self._tools()}

    async def call(self, caller: Caller, name: str, arguments: Mapping[str, Any]) -> Answer:
        """Run a tool; whatever it refuses is the answer."""
        try:
            tool = self.tools.get(name)
            if tool is None:
                raise RefusedError(unknown_name("tool", name, self.tools))
            result = await tool.run(caller, read_arguments(tool.arguments, arguments))
        except GroupXError as error:
            if error.code is ErrorCode.INTERNAL_ERROR:
                return _fault(caller, name)
            return _refusal(error)
        except Exception:  # noqa: BLE001 - the border: logged, answered, not raised
            return _fault(caller, name)
        return Answer(result.model_dump(mode="json", by_alias=True, exclude_none=True))

    def _tools(self) -> list[Tool]:
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
        return await self.calls.send(caller, _say(given, given.to))

    async def _publish(self, caller: Caller, given: PublishArguments) -> WireModel:
        return await self.calls.publish(caller, _say(given))

    async def _ask(self, caller: Caller, given: AskArguments) -> WireModel:
        return await self.calls.ask(
            caller,
            _say(given, given.to),
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
        return await self._reads.search(caller, given.query, given.before_seq, given.limit)


def _say(given: PublishArguments, to: Sequence[str] = ()) -> Say:
    return Say(given.client_command_id, given.content, to, given.reply_to_event_id)


def _seconds(timeout_ms: int | None) -> float | None:
    return None if timeout_ms is None else timeout_ms / 1000


def _refusal(error: GroupXError) -> Answer:
    details = {"details": error.details} if error.details else {}
    return Answer({"code": error.code.value, "message": error.message, **details}, is_error=True)


def _fault(caller: Caller, name: str) -> Answer:
    error_id = new_id("err")
    log.exception("tool.fault", tool=name, actor=caller.actor_id, error_id=error_id)
    message = f"GroupX had an internal fault; its log has the cause under {error_id}."
    return Answer({"code": ErrorCode.INTERNAL_ERROR.value, "message": message}, is_error=True)
