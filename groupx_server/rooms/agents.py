"""All agents of the workspace: hosts, lanes and cards, and the tasks that keep them going."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from groupx_server.agents.base import DriverFactory
from groupx_server.agents.host import AgentHost, HostStatus
from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.cancel import Cancelled
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.turns import QueuedHead, head_of_lane, queued_counts
from groupx_server.logs import get_logger
from groupx_server.rooms.board import Board
from groupx_server.rooms.lane import Lane
from groupx_server.rooms.live import Speaker, live_event
from groupx_server.rooms.roster import Roster
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import ErrorCode
from groupx_shared.names import unknown_name
from groupx_shared.text import safe_line
from groupx_shared.wire.events import EventType

STARTS_AT_ONCE: Final = 4
"""A start costs an agent seconds of CPU; more at once only make all of them late."""
CLOSE_WITHIN_S: Final = 20.0
"""For all agents together to end at stop; each is bounded by its own ladder."""

log = get_logger(__name__)


class Agents:
    """Hosts and lanes by actor. `run` lives as long as the server."""

    def __init__(self, runtime: Runtime, roster: Roster, factory: DriverFactory) -> None:
        self.roster = roster
        self.board = Board(roster, runtime.outlet, runtime.clock)
        self._runtime = runtime
        self._hosts: dict[str, AgentHost] = {}
        self._lanes: dict[str, Lane] = {}
        self._restarts: asyncio.Queue[str] = asyncio.Queue(maxsize=64)
        gate = asyncio.Semaphore(STARTS_AT_ONCE)
        for entry in roster.entries.values():
            if not entry.enabled:
                continue
            host = AgentHost(
                entry.spec,
                factory,
                on_status=self._status_taker(entry.actor_id),
                start_gate=gate,
            )
            self._hosts[entry.actor_id] = host
            self._lanes[entry.actor_id] = Lane(runtime, entry, host, self.board)

    async def run(self) -> None:
        """Serve all lanes until cancelled; then turns under way end as `interrupted` and every
        agent process is ended, bounded."""
        await self._settle_absent()
        await self._count_waiting()
        try:
            async with asyncio.TaskGroup() as hosts:
                for host in self._hosts.values():
                    hosts.create_task(host.run())
                async with asyncio.TaskGroup() as lanes:
                    for lane in self._lanes.values():
                        lanes.create_task(lane.run())
                        lane.wake()
                    lanes.create_task(self._serve_restarts())
        finally:
            await self._close_hosts()

    def queued(self, actor_ids: Iterable[str]) -> None:
        """Turns of these agents were accepted: count them and wake their lanes."""
        for actor_id in actor_ids:
            self.board.count_queued(actor_id, 1)
            if (lane := self._lanes.get(actor_id)) is not None:
                lane.wake()

    def cancelled(self, cancelled: Cancelled) -> None:
        """A cancel is on disk: tell the agent, or take the turn off the queue's count."""
        lane = self._lanes.get(cancelled.actor_id)
        if cancelled.tell_agent and lane is not None:
            self._say_cancelling(cancelled)
            lane.cancel(cancelled.reply.turn_id)
        elif cancelled.reply.accepted and cancelled.reply.status == "cancelled":
            self.board.count_queued(cancelled.actor_id, -1)

    def _say_cancelling(self, cancelled: Cancelled) -> None:
        """Live: the end comes when the agent confirms, or when its time for that is over."""
        name = self.roster.entries[cancelled.actor_id].display_name
        speaker = Speaker(cancelled.actor_id, name, cancelled.room_id, cancelled.correlation_id)
        body = {"turnId": cancelled.reply.turn_id}
        now = self._runtime.clock.now()
        data = live_event(speaker, EventType.TURN_CANCELLING, body, now)
        self._runtime.outlet.publish_transient(data, cancelled.room_id)

    def request_restart(self, actor_id: str) -> None:
        """End the agent's process soon; a running turn ends as failed, never sent again."""
        if not self._restarts.full():
            self._restarts.put_nowait(actor_id)

    async def _serve_restarts(self) -> None:
        while True:
            actor_id = await self._restarts.get()
            await self._hosts[actor_id].restart()
            self._lanes[actor_id].wake()

    def _status_taker(self, actor_id: str) -> Callable[[HostStatus], None]:
        def take(status: HostStatus) -> None:
            info = status.info
            self.board.update(
                actor_id,
                host_state=status.state,
                detail=status.detail,
                agent_name=None if info is None else safe_line(info.name, 80),
                agent_version=None if info is None else safe_line(info.version, 40),
            )
            if status.state in ("retrying", "failed", "stopped") and actor_id in self._lanes:
                self._lanes[actor_id].wake()  # to close the rows of the process

        return take

    async def _count_waiting(self) -> None:
        for actor_id, count in (await self._runtime.ledger.read(queued_counts)).items():
            self.board.update(actor_id, queued_turns=count)

    async def _settle_absent(self) -> None:
        """Turns that wait for an agent which is off or gone would wait for ever: end them."""
        waiting = await self._runtime.ledger.read(queued_counts)
        for actor_id in waiting.keys() - self._lanes.keys():
            while (head := await self._head(actor_id)) is not None:
                await self._fail_absent(actor_id, head)

    async def _head(self, actor_id: str) -> QueuedHead | None:
        return await self._runtime.ledger.read(partial(head_of_lane, actor_id=actor_id))

    async def _fail_absent(self, actor_id: str, head: QueuedHead) -> None:
        is_known = actor_id in self.roster.entries
        handles = [entry.handle for entry in self.roster.entries.values()]
        sentence = (
            f"{actor_id} is switched off in the config."
            if is_known
            else unknown_name("agent", actor_id.removeprefix("agent:"), handles)
        )
        end = TurnEnd(
            head.turn_id,
            TurnStatus.FAILED,
            error_code=ErrorCode.AGENT_DISABLED if is_known else ErrorCode.ADAPTER_NOT_FOUND,
            error_message=f"{sentence} The message was not sent to anybody.",
        )
        runtime = self._runtime
        step = partial(end_turn, end=end, limits=runtime.limits, now=runtime.clock.now())
        await runtime.ledger.write(step)

    async def _close_hosts(self) -> None:
        try:
            async with asyncio.timeout(CLOSE_WITHIN_S), asyncio.TaskGroup() as tasks:
                for host in self._hosts.values():
                    tasks.create_task(host.close())
        except TimeoutError:
            log.error("agents.close_timeout", seconds=CLOSE_WITHIN_S)
