"""A lane: one agent's turns, one after the other, in the order they were accepted.

Lanes of different agents run side by side. A lane sleeps until it is woken (a message was
accepted, a turn was cancelled, the server started) and asks the ledger for its head each time, so
a wake that is lost or doubled changes nothing. A lane that is retired ends behind its running
turn; a turn whose prompt was not sent yet stays queued for the next one.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from groupx_server.agents.host import AgentHost
from groupx_server.domain.condition import read_condition
from groupx_server.ledger.turns import QueuedHead, head_of_lane
from groupx_server.logs import get_logger
from groupx_server.rooms.board import Board
from groupx_server.rooms.patience import read_patiently
from groupx_server.rooms.roster import RosterEntry
from groupx_server.rooms.sessions import SessionBook
from groupx_server.rooms.turnrunner import Binding, Outcome, Performer, Runtime, TurnRunner
from groupx_shared.errors import AgentError, ConfigError, ErrorCode, GroupXError

AFTER_FAULT_S: Final = 1.0
"""Pause after an internal fault, so that a fault that repeats does not spin."""

CLOSE_WITHIN_S: Final = 2.0
"""For the rows of the process at stop, should the disk fail just then."""

log = get_logger(__name__)


class Lane:
    """Works off one agent's queue; `run` lives as long as the server."""

    def __init__(self, runtime: Runtime, entry: RosterEntry, host: AgentHost, board: Board) -> None:
        self._runtime = runtime
        self._entry = entry
        self._board = board
        self._host = host
        self._sessions = SessionBook(runtime, host, entry)
        self._wake = asyncio.Event()
        self._told: QueuedHead | None = None
        """The turn that was accepted while the lane was empty: its head, read or not."""
        self._newest_begun = ""
        """Id of the turn that was begun last."""
        self._retired = asyncio.Event()
        self._may_begin = asyncio.Event()
        self._may_begin.set()
        self._current: TurnRunner | None = None
        self._is_opening = False

    @property
    def is_busy(self) -> bool:
        """True while the agent works on a turn."""
        return self._current is not None and not self._is_opening

    def adopt(self, entry: RosterEntry) -> None:
        """Take over another name or identity, from the next turn on; the program stays."""
        self._entry = entry
        self._sessions.adopt(entry)

    def retire(self) -> None:
        """End behind the running turn; what is queued stays queued."""
        self._retired.set()
        self._may_begin.set()
        self._wake.set()

    def hold(self) -> None:
        """Begin no turn until `release`: the program is about to be restarted, and what was sent
        after that order must not be given to the program that ends."""
        self._may_begin.clear()

    def release(self) -> None:
        """Go on."""
        self._may_begin.set()
        self._wake.set()

    def wake(self, head: QueuedHead | None = None) -> None:
        """Look at the queue again. `head` is what will be found there, if that is known; should
        it be another's turn by now, its claim fails and the queue is read. News of a turn that the
        lane found by itself meanwhile says nothing: it would be begun a second time."""
        if head is not None and head.turn_id != self._newest_begun:
            self._told = head
        self._wake.set()

    def forget_session(self, room_id: str) -> None:
        """The room's context was reset: its next turn gets a new native session."""
        self._sessions.forget(room_id)

    def cancel(self, turn_id: str) -> None:
        """Tell the agent that its running turn is cancelled; harmless for another turn."""
        if self._current is not None and self._current.head.turn_id == turn_id:
            self._current.cancel()

    def can_steer(self, turn_id: str) -> bool:
        """The agent works on this turn right now, and its program takes further messages."""
        current = self._current
        is_current = current is not None and current.head.turn_id == turn_id
        return is_current and current is not None and current.is_speaking and self._takes_more

    @property
    def _takes_more(self) -> bool:
        info = self._host.info
        return info is not None and info.capabilities.get("steer") is True

    async def steer(self, turn_id: str, text: str) -> bool:
        """Give the running turn a further message; False when it did not take it.

        Raises: AgentError when it is not known whether it did.
        """
        current = self._current
        if current is None or current.head.turn_id != turn_id:
            return False
        return await current.steer(text)

    async def run(self) -> None:
        """Serve the queue until retired, or cancelled; a turn under way then ends as
        `interrupted`."""
        try:
            while not self._retired.is_set():
                await self._wake.wait()
                self._wake.clear()
                await self._sessions.close_ended()
                await self._drain()
        finally:
            await self._close_rows()

    async def _drain(self) -> None:
        runner: TurnRunner | None = None
        while (head := await self._next(runner)) is not None:
            runner = self._runner(head)
            try:
                await self._serve(runner)
            except Exception:  # task boundary: one turn's fault must not end the lane
                log.exception("lane.fault", actor=self._entry.actor_id, turn=head.turn_id)
                _stop_if_asked()
                await self._end_after_fault(runner)

    async def _next(self, last: TurnRunner | None = None) -> QueuedHead | None:
        """The turn to begin; None when nothing waits or the lane was retired. What the end of the
        last turn saw is enough: a message that came later wakes the lane, and a turn that was
        cancelled meanwhile is not claimed."""
        head = last.next_head if last is not None and last.has_looked else await self._head()
        if head is None or self._may_begin.is_set():
            return None if self._retired.is_set() else head
        await self._may_begin.wait()
        return await self._next()  # it may have been cancelled meanwhile

    async def _head(self) -> QueuedHead | None:
        told, self._told = self._told, None
        if told is not None:
            return told
        query = partial(head_of_lane, actor_id=self._entry.actor_id)
        return await read_patiently(self._runtime.ledger, query)

    def _runner(self, head: QueuedHead) -> TurnRunner:
        entry = self._entry
        return TurnRunner(
            self._runtime,
            Performer(entry.actor_id, entry.display_name, entry.identity),
            head,
            on_waiting=self._show_waiting,
            on_left_queue=lambda: self._board.count_queued(entry.actor_id, -1),
        )

    async def _serve(self, runner: TurnRunner) -> None:
        self._current = runner
        turn_id = runner.head.turn_id
        self._newest_begun, self._told = turn_id, None
        self._board.update(self._entry.actor_id, active_turn_id=turn_id, is_waiting=False)
        try:
            outcome = await self._perform(runner)
        finally:
            self._current = None
            self._board.update(self._entry.actor_id, active_turn_id=None, is_waiting=False)
        if outcome is not None:
            self._board.turn_ended(self._entry.actor_id, outcome.error, outcome.condition)
        await self._sessions.close_ended()

    async def _perform(self, runner: TurnRunner) -> Outcome | None:
        """Run a turn; None when the lane was retired before anything was sent."""
        if await runner.stop_if_spent():
            return Outcome()
        self._is_opening = True
        try:
            binding = await self._binding(runner.head.room_id)
        finally:
            self._is_opening = False
        if isinstance(binding, GroupXError):
            await runner.fail(binding)
            return Outcome(binding.message, read_condition(binding.details))
        if binding is None:
            return None
        self._tell_model(binding)
        try:
            return await runner.run(binding)
        finally:
            self._tell_model(binding)  # some tell it only when a turn begins

    def _tell_model(self, binding: Binding) -> None:
        if binding.session.model:
            self._board.update(self._entry.actor_id, model=binding.session.model)

    async def _binding(self, room_id: str) -> Binding | GroupXError | None:
        """The room's session, or why there is none; None when the lane was retired meanwhile. A
        program may take a minute to start; nothing was sent to it, so that can be given up."""
        if (known := self._sessions.open_one(room_id)) is not None:
            return known
        async with asyncio.TaskGroup() as tasks:
            opening = tasks.create_task(self._open(room_id))
            retired = tasks.create_task(self._retired.wait())
            await asyncio.wait([opening, retired], return_when=asyncio.FIRST_COMPLETED)
            retired.cancel()
            opening.cancel()
        return None if opening.cancelled() else opening.result()

    async def _open(self, room_id: str) -> Binding | GroupXError:
        try:
            return await self._sessions.acquire(room_id)
        except (AgentError, ConfigError) as error:
            return error

    def _show_waiting(self, is_waiting: bool) -> None:
        self._board.update(self._entry.actor_id, is_waiting=is_waiting)

    async def _end_after_fault(self, runner: TurnRunner) -> None:
        """End the turn: with what was answered, or without when that is the fault. If even that
        cannot be written, the next start settles it."""
        fault = GroupXError(
            "GroupX had an internal fault in this turn; “groupx logs” has the details.",
            code=ErrorCode.INTERNAL_ERROR,
        )
        for keep_answer in (True, False):
            try:
                await runner.fail(fault, keep_answer=keep_answer)
                break
            except Exception:  # task boundary: one turn's fault must not end the lane
                log.exception("lane.unsettled", turn=runner.head.turn_id)
        await asyncio.sleep(AFTER_FAULT_S)

    async def _close_rows(self) -> None:
        """The server stops. Rows that cannot be closed now are closed by the next start."""
        try:
            async with asyncio.timeout(CLOSE_WITHIN_S):
                await self._sessions.close("stopped")
        except (TimeoutError, GroupXError) as error:
            log.warning("lane.rows_left", actor=self._entry.actor_id, error=str(error))


def _stop_if_asked() -> None:
    """A fault in the moment of a stop must not hide the stop: it is asked for only once."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
