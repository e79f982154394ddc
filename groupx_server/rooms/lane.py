"""A lane: one agent's turns, one after the other, in the order they were accepted.

Lanes of different agents run side by side. A lane sleeps until it is woken (a message was
accepted, a turn was cancelled, the server started) and asks the ledger for its head each time, so
a wake that is lost or doubled changes nothing.
"""

from __future__ import annotations

import asyncio
from typing import Final

from groupx_server.agents.host import AgentHost
from groupx_server.ledger.turns import QueuedHead, head_of_lane
from groupx_server.logs import get_logger
from groupx_server.rooms.board import Board
from groupx_server.rooms.roster import RosterEntry
from groupx_server.rooms.sessions import SessionBook
from groupx_server.rooms.turnrunner import Outcome, Performer, Runtime, TurnRunner
from groupx_shared.errors import AgentError, ConfigError, ErrorCode, GroupXError

AFTER_FAULT_S: Final = 1.0
"""Pause after an internal fault, so that a fault that repeats does not spin."""

log = get_logger(__name__)


class Lane:
    """Works off one agent's queue; `run` lives as long as the server."""

    def __init__(self, runtime: Runtime, entry: RosterEntry, host: AgentHost, board: Board) -> None:
        self._runtime = runtime
        self._entry = entry
        self._board = board
        self._sessions = SessionBook(runtime.ledger, host, entry, runtime.clock)
        self._wake = asyncio.Event()
        self._current: TurnRunner | None = None

    def wake(self) -> None:
        """Look at the queue again."""
        self._wake.set()

    def cancel(self, turn_id: str) -> None:
        """Tell the agent that its running turn is cancelled; harmless for another turn."""
        if self._current is not None and self._current.head.turn_id == turn_id:
            self._current.cancel()

    async def run(self) -> None:
        """Serve the queue until cancelled; a turn under way then ends as `interrupted`."""
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                await self._sessions.close_ended()
                await self._drain()
        finally:
            await self._sessions.close("stopped")

    async def _drain(self) -> None:
        while (head := await self._head()) is not None:
            try:
                await self._serve(head)
            except Exception:  # task boundary: one turn's fault must not end the lane
                log.exception("lane.fault", actor=self._entry.actor_id, turn=head.turn_id)
                await self._end_after_fault(head)

    async def _head(self) -> QueuedHead | None:
        actor_id = self._entry.actor_id
        return await self._runtime.ledger.read(
            lambda connection: head_of_lane(connection, actor_id)
        )

    async def _serve(self, head: QueuedHead) -> None:
        performer = Performer(self._entry.actor_id, self._entry.display_name, self._entry.identity)
        runner = TurnRunner(
            self._runtime,
            performer,
            head,
            on_waiting=self._show_waiting,
            on_left_queue=lambda: self._board.count_queued(self._entry.actor_id, -1),
        )
        self._current = runner
        self._board.update(self._entry.actor_id, active_turn_id=head.turn_id, is_waiting=False)
        try:
            outcome = await self._perform(runner, head)
        finally:
            self._current = None
            self._board.update(self._entry.actor_id, active_turn_id=None, is_waiting=False)
        self._board.update(self._entry.actor_id, last_error=outcome.error)
        await self._sessions.close_ended()

    async def _perform(self, runner: TurnRunner, head: QueuedHead) -> Outcome:
        try:
            binding = await self._sessions.acquire(head.room_id)
        except (AgentError, ConfigError) as error:
            await runner.fail(error)
            return Outcome(error=error.message)
        return await runner.run(binding)

    def _show_waiting(self, is_waiting: bool) -> None:
        self._board.update(self._entry.actor_id, is_waiting=is_waiting)

    async def _end_after_fault(self, head: QueuedHead) -> None:
        """End the turn if that can be written; else it is settled at the next start."""
        performer = Performer(self._entry.actor_id, self._entry.display_name, self._entry.identity)
        runner = TurnRunner(self._runtime, performer, head)
        fault = GroupXError(
            "GroupX had an internal fault in this turn; “groupx logs” has the details.",
            code=ErrorCode.INTERNAL_ERROR,
        )
        try:
            await runner.fail(fault)
        except GroupXError:
            log.exception("lane.unsettled", turn=head.turn_id)
        await asyncio.sleep(AFTER_FAULT_S)
