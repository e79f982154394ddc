"""The tools of observers, over `rooms/watching`."""

from __future__ import annotations

from groupx_server.ledger.callers import Caller
from groupx_server.mcp import teaching
from groupx_server.mcp.arguments import SteerArguments, WatchArguments
from groupx_server.mcp.desk import Tool
from groupx_server.rooms.watching import Advise, AgentWatches, Look
from groupx_server.rooms.watchresults import SteerResult, WatchResult
from groupx_shared.wire.base import WireModel


class WatchTools:
    """What observers do."""

    def __init__(self, watches: AgentWatches) -> None:
        self._watches = watches

    def tools(self) -> list[Tool[Caller]]:
        """All of them."""
        return [
            Tool("watch", teaching.WATCH, WatchArguments, self._watch, (WatchResult,)),
            Tool("steer", teaching.STEER, SteerArguments, self._steer, (SteerResult,)),
        ]

    async def _watch(self, caller: Caller, given: WatchArguments) -> WireModel:
        look = Look(
            given.subject_turn_id,
            given.cursor,
            given.until,
            None if given.timeout_ms is None else given.timeout_ms / 1000,
        )
        return await self._watches.watch(caller, look)

    async def _steer(self, caller: Caller, given: SteerArguments) -> WireModel:
        advise = Advise(
            given.client_command_id,
            given.action,
            given.reason,
            given.content,
            given.subject_turn_id,
        )
        return await self._watches.steer(caller, advise)
