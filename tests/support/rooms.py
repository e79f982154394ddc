"""The whole use-case layer over a real ledger and fake agents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import ContentDelta, TurnCompleted
from groupx_server.ledger.accept import Source
from groupx_server.ledger.callers import Caller
from groupx_server.ledger.startup import RosterRow, settle_at_start
from groupx_server.ledger.store import Ledger
from groupx_server.rooms.agentmemories import AgentMemories
from groupx_server.rooms.agentreads import AgentReads
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.calls import AgentCalls, Say
from groupx_server.rooms.grants import Grants
from groupx_server.rooms.roster import Roster, RosterEntry
from groupx_server.rooms.service import RoomService
from groupx_server.rooms.turnrunner import Runtime
from groupx_server.rooms.watching import AgentWatches
from groupx_shared.wire.replies import MessageAccepted, TurnInfo
from groupx_shared.wire.requests import SendMessage
from support.fake_driver import FakeFleet, fake_spec

NOW = "2026-01-31T09:15:00.250Z"
WITHIN_S = 15.0


class Listener:
    """Takes live events, as the fan-out would."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.ended: list[str] = []
        self._changed = asyncio.Event()

    def publish_transient(
        self, data: bytes, room_id: str | None, merge_key: str | None = None
    ) -> None:
        self.events.append(orjson.loads(data))
        self._changed.set()

    def turn_ended(self, turn_id: str) -> None:
        self.ended.append(turn_id)

    async def status(self, actor_id: str, status: str, after: str = "") -> None:
        """Wait until the newest card of an agent says `status`, once one said `after`."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                self._changed.clear()
                cards = [b for b in self.bodies("agent.status") if b["actorId"] == actor_id]
                states = [card["status"] for card in cards]
                if states and states[-1] == status and (not after or after in states):
                    return
                await self._changed.wait()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for an event after which `condition` holds."""
        async with asyncio.timeout(WITHIN_S):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def bodies(self, kind: str) -> list[dict[str, Any]]:
        return [event["body"] for event in self.events if event["type"] == kind]


@dataclass
class House:
    """One running set of rooms and agents."""

    service: RoomService
    agents: Agents
    ledger: Ledger
    fleet: FakeFleet
    listener: Listener
    grants: Grants
    calls: AgentCalls
    reads: AgentReads
    commands: int = 0
    last: TurnInfo | None = None
    """A turn that a test keeps after the house is closed."""
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    """Set one to let an agent that is `at_work` answer."""
    running: asyncio.Task[None] | None = None
    person: Source = field(default_factory=Source)
    runtime: Runtime = field(init=False)
    memories: AgentMemories = field(init=False)
    watches: AgentWatches = field(init=False)

    async def send(
        self, content: str = "hello", to: list[str] | None = None, room_id: str = "room:main"
    ) -> MessageAccepted:
        self.commands += 1
        request = SendMessage(
            client_command_id=f"c{self.commands}",
            content=content,
            to=["a"] if to is None else to,
            room_id=room_id,
        )
        return await self.service.send(request, Source())

    async def ended(self, accepted: MessageAccepted, index: int = 0) -> TurnInfo:
        """Wait for the end of a turn."""
        return await self.turn_in(accepted.turns[index].turn_id)

    async def turn_in(self, turn_id: str, *statuses: str) -> TurnInfo:
        """Wait until a turn has one of these statuses (default: ended)."""
        wanted = statuses or ("completed", "failed", "cancelled", "interrupted")
        async with asyncio.timeout(WITHIN_S):
            while True:
                seen = self.ledger.last_seq
                turn = await self.service.turn(turn_id)
                if turn.status in wanted:
                    return turn
                await self.ledger.changed(seen)

    async def at_work(
        self, name: str = "a", content: str = "work", room_id: str = "room:main"
    ) -> Caller:
        """Give an agent a message on which it works until it is cancelled or released; return who
        it is to its tools."""
        gate = self.gates.setdefault(name, asyncio.Event())
        self.fleet.plan(name, [ContentDelta("…"), gate, TurnCompleted("done")])
        accepted = await self.send(content, [name], room_id)
        await self.turn_in(accepted.turns[0].turn_id, "running")
        return self.caller(name)

    def caller(self, name: str) -> Caller:
        """Whose the newest token of this agent is."""
        caller = self.grants.find(self.fleet.tokens[f"agent:{name}"].encode())
        assert caller is not None
        return caller

    def say(self, content: str = "please", to: str = "b", **more: Any) -> Say:
        """A message of an agent with an id of its own."""
        self.commands += 1
        return Say(f"k{self.commands}", content, to.split() if to else (), **more)

    async def all_ended(self) -> None:
        """Wait until no turn is open."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                seen = self.ledger.last_seq
                if not (await self.service.turns(None, "open", None, None, 1)).turns:
                    return
                await self.ledger.changed(seen)

    async def ended_in(self, name: str) -> None:
        """Wait until an agent has no open turn."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                seen = self.ledger.last_seq
                if not (await self.service.turns(None, "open", f"agent:{name}", None, 1)).turns:
                    return
                await self.ledger.changed(seen)

    async def events(self, kind: str, event_id: str | None = None) -> list[dict[str, Any]]:
        """The main room's events of a type."""
        page = await self.service.page("room:main", None, None, None, 500, (kind,))
        events = [orjson.loads(event) for event in page.events]
        return [e for e in events if event_id is None or e["eventId"] == event_id]

    async def events_once(self, kind: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait until there are so many of them."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                seen = self.ledger.last_seq
                if len(found := await self.events(kind)) >= count:
                    return found
                await self.ledger.changed(seen)

    async def agents_stopped(self) -> None:
        """Stop the agents as the server does."""
        assert self.running is not None
        self.running.cancel()
        await asyncio.wait([self.running])

    async def types(self) -> list[str]:
        page = await self.service.page("room:main", None, None, None, 500, ())
        return [orjson.loads(event)["type"] for event in page.events]


@asynccontextmanager
async def house(
    folder: Path, names: tuple[str, ...] = ("a", "b"), limits: Limits | None = None, **more: Any
) -> AsyncIterator[House]:
    """Run rooms with fake agents; at the end everything is stopped and the ledger closed."""
    fleet = more.get("fleet") or FakeFleet()
    entries = [
        RosterEntry(
            f"agent:{name}", name.upper(), "fake", more.get("identity"), True, fake_spec(name)
        )
        for name in names
    ]
    roster = Roster(entries, entries[0].actor_id)
    async with await Ledger.open(folder / "groupx.db") as ledger:
        rows = [RosterRow(entry.actor_id, entry.display_name, True) for entry in entries]
        bounds = limits or Limits()
        recallable = more.get("recallable", {})
        await ledger.write(lambda book: settle_at_start(book, rows, bounds, NOW, recallable))
        listener = Listener()
        grants = more.get("grants") or Grants("http://127.0.0.1:1/mcp")
        runtime = Runtime(ledger, listener, bounds, grants=grants, ask_s=more.get("ask_s", 5.0))
        agents = Agents(runtime, roster, fleet)
        service = RoomService(runtime, agents)
        calls = AgentCalls(runtime, agents)
        reads = AgentReads(runtime, agents, service.searching)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(agents.run())
            summing = tasks.create_task(service.contexts.compactor.run())
            try:
                made = House(service, agents, ledger, fleet, listener, grants, calls, reads)
                made.running = running
                made.runtime = runtime
                made.watches = AgentWatches(runtime, agents)
                made.memories = AgentMemories(runtime, service.searching)
                yield made
            finally:
                running.cancel()
                summing.cancel()
