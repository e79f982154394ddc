"""All agents of the workspace: their seats and cards, and the tasks that keep them going.

The roster may be replaced while turns run. Invariant: a turn that waits for an agent without a
seat (switched off, taken out of the config) is ended, so that nothing waits for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from groupx_server.agents.base import AgentInfo, DriverFactory
from groupx_server.agents.catalogue import known_agent
from groupx_server.agents.host import HostStatus
from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.cancel import Cancelled
from groupx_server.ledger.queueing import Target
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.turns import QueuedHead, head_of_lane, queued_counts
from groupx_server.rooms.board import Board
from groupx_server.rooms.live import Speaker, live_event
from groupx_server.rooms.patience import read_patiently, write_patiently
from groupx_server.rooms.roster import Roster, RosterEntry
from groupx_server.rooms.seat import Seat
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.names import unknown_name
from groupx_shared.text import safe_line
from groupx_shared.wire.events import EventType

STARTS_AT_ONCE: Final = 4
"""A start costs an agent seconds of CPU; more at once only make all of them late."""
_NONE: Final[Mapping[str, QueuedHead]] = MappingProxyType({})


class Agents:
    """Seats by actor. `run` lives as long as the server."""

    def __init__(self, runtime: Runtime, roster: Roster, factory: DriverFactory) -> None:
        self.roster = roster
        self.board = Board(roster, runtime.outlet, runtime.clock)
        self._runtime = runtime
        self.factory = factory
        """Builds drivers."""
        self._gate = asyncio.Semaphore(STARTS_AT_ONCE)
        self._tasks: asyncio.TaskGroup | None = None
        self._restarts: dict[str, None] = {}
        self._has_restarts = asyncio.Event()
        self._absent: set[str] = set()
        self._has_absent = asyncio.Event()
        self._known = set(roster.entries)
        self._seats = {
            entry.actor_id: self._seat(entry) for entry in roster.entries.values() if entry.enabled
        }

    async def run(self) -> None:
        """Serve all seats until cancelled; then turns under way end as `interrupted` and every
        agent process is ended, bounded."""
        await self._count_waiting()
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                for actor_id in self._seats:
                    tasks.create_task(self._occupy(actor_id))
                tasks.create_task(self._serve_restarts())
                tasks.create_task(self._serve_absent())
        finally:
            self._tasks = None

    def target(self, entry: RosterEntry) -> Target:
        """An agent to wake, with what stands in its way as far as it is known."""
        return Target(entry.actor_id, entry.driver, self.board.obstacle(entry.actor_id))

    def queued(self, actor_ids: Iterable[str], heads: Mapping[str, QueuedHead] = _NONE) -> None:
        """Turns of these agents were accepted: count them and wake their lanes. `heads` are those
        that are known to be the first of theirs."""
        for actor_id in actor_ids:
            self.board.count_queued(actor_id, 1)
            if (seat := self._seats.get(actor_id)) is not None:
                seat.wake(heads.get(actor_id))
            else:  # it left while the message was being accepted
                self._miss(actor_id)

    def cancelled(self, cancelled: Cancelled) -> None:
        """A cancel is on disk: tell the agent, or take the turn off the queue's count; so for the
        turns that were cancelled with it."""
        for asked in cancelled.asked:
            self.cancelled(asked)
        seat = self._seats.get(cancelled.actor_id)
        if cancelled.tell_agent and seat is not None and seat.lane is not None:
            self._say_cancelling(cancelled)
            seat.lane.cancel(cancelled.reply.turn_id)
        elif cancelled.reply.accepted and cancelled.reply.status == "cancelled":
            self.board.count_queued(cancelled.actor_id, -1)
            if seat is not None and seat.lane is not None:
                seat.lane.cancel(cancelled.reply.turn_id)  # it may be waiting for a summary

    def can_steer(self, actor_id: str, turn_id: str) -> bool:
        """The agent can be given a further message in this turn right now."""
        seat = self._seats.get(actor_id)
        return seat is not None and seat.lane is not None and seat.lane.can_steer(turn_id)

    async def steer(self, actor_id: str, turn_id: str, text: str) -> bool:
        """Give a running turn a further message; False when it did not take it.

        Raises: AgentError when it is not known whether it did.
        """
        seat = self._seats.get(actor_id)
        if seat is None or seat.lane is None:
            return False
        return await seat.lane.steer(turn_id, text)

    def spawn(self, work: Coroutine[None, None, None]) -> None:
        """Run something that must end even when whoever asked for it goes away.

        Raises: RefusedError (SHUTTING_DOWN).
        """
        if self._tasks is None:
            work.close()
            raise RefusedError("The server stops.", code=ErrorCode.SHUTTING_DOWN)
        self._tasks.create_task(work)

    def request_restart(self, actor_id: str) -> None:
        """End the agent's process soon; a running turn ends as failed, never sent again. A turn
        that is accepted from now on waits for the new process."""
        self._restarts[actor_id] = None
        self._has_restarts.set()
        if (seat := self._seats.get(actor_id)) is not None:
            seat.hold()

    def forget_sessions(self, room_id: str) -> None:
        """Every agent's next turn in the room gets a new native session."""
        for seat in self._seats.values():
            if seat.lane is not None:
                seat.lane.forget_session(room_id)

    # --- another roster ---------------------------------------------------------------------

    def busy(self, actor_ids: Iterable[str]) -> list[str]:
        """Those of these agents that have a running turn."""
        return [actor_id for actor_id in actor_ids if self._is_busy(actor_id)]

    def replace(self, roster: Roster) -> None:
        """Take over another roster. Agents whose settings are the same notice nothing; others
        follow as `Seat` says; what is queued for one that leaves is ended.

        Raises: RefusedError (SHUTTING_DOWN).
        """
        if self._tasks is None:
            raise RefusedError(
                "The server is not running (any more); the config is read at its next start.",
                code=ErrorCode.SHUTTING_DOWN,
            )
        self.roster = roster
        self._known |= roster.entries.keys()
        self.board.replace(roster, frozenset(self.busy(self._seats)))
        for actor_id, seat in self._seats.items():
            seat.want(roster.entries.get(actor_id))
        for entry in roster.entries.values():
            if entry.enabled and entry.actor_id not in self._seats:
                self._seats[entry.actor_id] = self._seat(entry)
                self._tasks.create_task(self._occupy(entry.actor_id))

    def _is_busy(self, actor_id: str) -> bool:
        seat = self._seats.get(actor_id)
        return seat is not None and seat.is_busy

    def _seat(self, entry: RosterEntry) -> Seat:
        return Seat(self._runtime, self.factory, self._gate, self.board, self._take_status, entry)

    async def _occupy(self, actor_id: str) -> None:
        """Serve one agent; when it is not wanted any more, leave nothing of it waiting."""
        await self._seats[actor_id].run()
        del self._seats[actor_id]
        self.board.vacate(actor_id)
        self._miss(actor_id)

    def _take_status(self, actor_id: str, status: HostStatus) -> None:
        info = status.info
        self.board.update(
            actor_id,
            host_state=status.state,
            detail=status.detail,
            retry_at_s=None if status.retry_at is None else status.retry_at.timestamp(),
            agent_name=None if info is None else safe_line(info.name, 80),
            agent_version=None if info is None else safe_line(info.version, 40),
            **({"model": ""} if status.state == "starting" else {}),
        )
        if status.state == "ready" and info is not None:
            self._take_sign_in(actor_id, info)
        seat = self._seats.get(actor_id)
        if status.state in ("retrying", "failed", "stopped") and seat is not None:
            seat.wake()  # to close the rows of the process

    def _take_sign_in(self, actor_id: str, info: AgentInfo) -> None:
        """Some programs tell at their start whether somebody is signed in."""
        entry = self.roster.entries.get(actor_id)
        needed = info.capabilities.get("authRequired")
        if entry is None or not isinstance(needed, bool):
            return
        known = known_agent(entry.driver)
        how = "Sign in with its own program." if known is None else known.login
        self.board.sign_in(actor_id, f"{info.name} is not signed in. {how}" if needed else None)

    async def _serve_restarts(self) -> None:
        while True:
            await self._has_restarts.wait()
            self._has_restarts.clear()
            while self._restarts:
                actor_id = next(iter(self._restarts))
                del self._restarts[actor_id]
                self.board.turn_ended(actor_id, None, None)
                if (seat := self._seats.get(actor_id)) is not None:
                    await seat.restart()

    def _say_cancelling(self, cancelled: Cancelled) -> None:
        """Live: the end comes when the agent confirms, or when its time for that is over."""
        name = self.board.name(cancelled.actor_id)
        speaker = Speaker(cancelled.actor_id, name, cancelled.room_id, cancelled.correlation_id)
        body = {"turnId": cancelled.reply.turn_id}
        now = self._runtime.clock.now()
        data = live_event(speaker, EventType.TURN_CANCELLING, body, now)
        self._runtime.outlet.publish_transient(data, cancelled.room_id)

    # --- turns that nobody will serve -------------------------------------------------------

    async def _count_waiting(self) -> None:
        waiting = await read_patiently(self._runtime.ledger, queued_counts)
        for actor_id, count in waiting.items():
            self.board.update(actor_id, queued_turns=count)
            if actor_id not in self._seats:
                self._miss(actor_id)

    def _miss(self, actor_id: str) -> None:
        self._absent.add(actor_id)
        self._has_absent.set()

    async def _serve_absent(self) -> None:
        while True:
            await self._has_absent.wait()
            self._has_absent.clear()
            while self._absent:
                await self._settle(self._absent.pop())

    async def _settle(self, actor_id: str) -> None:
        """End the turns that wait for an agent which is off or gone."""
        while (head := await self._head(actor_id)) is not None and actor_id not in self._seats:
            await self._fail_absent(actor_id, head)

    async def _head(self, actor_id: str) -> QueuedHead | None:
        query = partial(head_of_lane, actor_id=actor_id)
        return await read_patiently(self._runtime.ledger, query)

    async def _fail_absent(self, actor_id: str, head: QueuedHead) -> None:
        end = TurnEnd(
            head.turn_id,
            TurnStatus.FAILED,
            error_code=(
                ErrorCode.AGENT_DISABLED if actor_id in self._known else ErrorCode.ADAPTER_NOT_FOUND
            ),
            error_message=f"{self._why_absent(actor_id)} The message was not sent to anybody.",
        )
        runtime = self._runtime
        step = partial(end_turn, end=end, limits=runtime.limits, now=runtime.clock.now())
        if (await write_patiently(runtime.ledger, step)).is_new:
            self.board.count_queued(actor_id, -1)

    def _why_absent(self, actor_id: str) -> str:
        if actor_id in self.roster.entries:
            return f"{actor_id} is switched off in the config."
        if actor_id in self._known:
            return f"{actor_id} was taken out of the config."
        handles = [entry.handle for entry in self.roster.entries.values()]
        return unknown_name("agent", actor_id.removeprefix("agent:"), handles)
