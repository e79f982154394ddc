"""One agent's place in the server: its program and its lane, for as long as it is wanted.

What is wanted may change at any time; what runs follows between two turns: a running turn ends as
it was begun, then the program is ended and, when the agent is still wanted, the next one serves
with the new settings what is queued. A new name or identity needs no new program. Level-triggered:
however often the wish changes meanwhile, only the last one counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from groupx_server.agents.base import DriverFactory
from groupx_server.agents.host import AgentHost, HostStatus
from groupx_server.ledger.turns import QueuedHead
from groupx_server.logs import get_logger
from groupx_server.rooms.board import Board
from groupx_server.rooms.lane import Lane
from groupx_server.rooms.reconcile import reconcile
from groupx_server.rooms.roster import RosterEntry
from groupx_server.rooms.turnrunner import Runtime

CLOSE_WITHIN_S: Final = 20.0
"""For an agent to end; its own ladder is shorter."""

log = get_logger(__name__)


class Seat:
    """Made for an enabled agent; `run` lives until the agent is not wanted any more."""

    def __init__(
        self,
        runtime: Runtime,
        factory: DriverFactory,
        start_gate: asyncio.Semaphore,
        board: Board,
        on_status: Callable[[str, HostStatus], None],
        entry: RosterEntry,
    ) -> None:
        self._runtime = runtime
        self._factory = factory
        self._gate = start_gate
        self._board = board
        self._on_status = on_status
        self._wanted: RosterEntry | None = entry
        self._serves = entry
        self.host: AgentHost | None = None
        self.lane: Lane | None = None

    @property
    def is_busy(self) -> bool:
        """True while a turn runs, which a change will wait for."""
        return self.lane is not None and self.lane.is_busy

    def want(self, entry: RosterEntry | None) -> None:
        """Take over other settings, soon; None, or one that is switched off: leave."""
        self._wanted = entry if entry is not None and entry.enabled else None
        if self.lane is None:
            return
        if self._wanted is None or self._wanted.spec != self._serves.spec:
            self.lane.retire()
        else:
            self._serves = self._wanted
            self.lane.adopt(self._wanted)

    def wake(self, head: QueuedHead | None = None) -> None:
        """Look at the queue again (see `Lane.wake`)."""
        if self.lane is not None:
            self.lane.wake(head)

    def hold(self) -> None:
        """Begin no turn until `restart` is done."""
        if self.lane is not None:
            self.lane.hold()

    async def restart(self) -> None:
        """End the program now; it is started again."""
        host, lane = self.host, self.lane
        try:
            if host is not None:
                await host.restart()
        finally:
            if lane is not None:
                lane.release()

    async def run(self) -> None:
        """Serve until not wanted (a running turn has ended then) or cancelled."""
        while self._wanted is not None:
            await self._serve(self._wanted)

    async def _serve(self, entry: RosterEntry) -> None:
        self._serves = entry
        actor_id = entry.actor_id
        self.host = host = AgentHost(
            entry.spec,
            self._factory,
            on_status=lambda status: self._on_status(actor_id, status),
            start_gate=self._gate,
        )
        self.lane = lane = Lane(self._runtime, entry, host, self._board)
        lane.wake()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(host.run())
                try:
                    await reconcile(self._runtime, entry, host)
                    await lane.run()
                finally:
                    await _close(host)
        finally:
            self.host = self.lane = None


async def _close(host: AgentHost) -> None:
    try:
        async with asyncio.timeout(CLOSE_WITHIN_S):
            await host.close()
    except TimeoutError:
        log.error("agent.close_timeout", agent=host.spec.actor_id, seconds=CLOSE_WITHIN_S)
