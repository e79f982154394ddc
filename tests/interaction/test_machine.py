"""Random days of people, agents, disks, crashes and restarts, compared with a small model.

The real rooms and the real ledger run with fake agents. The model knows what was accepted, what
each agent was asked to do, what was cancelled and when the server went down; from that follows
what must be in the ledger, whatever the order of events was. A crash takes the files as they are
on disk at that moment and goes on with them; what the old server does after that reaches nobody.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from groupx_server.ledger import upkeep
from groupx_server.ledger.accept import Source
from groupx_server.ledger.verify import find_violations
from groupx_server.rooms import lane, patience, turnrunner
from groupx_shared.errors import LedgerDiskError
from groupx_shared.wire.replies import MessageAccepted, TurnInfo
from groupx_shared.wire.requests import CreateRoom, SendMessage
from support.faulty_disk import FaultyDisk
from support.marked_fleet import BEHAVIOURS, MarkedFleet
from support.rooms import House, house

T = TypeVar("T")
WITHIN_S = 20.0
ENDED = ("completed", "failed", "cancelled", "interrupted")
ROOMS = ("room:main", "room:side")
ERRORS = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_READONLY")


@dataclass
class Said:
    """What the model knows of one message."""

    tag: str
    behaviour: str
    request: SendMessage
    accepted: MessageAccepted | None = None
    """None: the disk refused it."""


@dataclass
class Asked:
    """What the model knows of one turn."""

    tag: str
    actor_id: str
    behaviour: str
    is_cancelled: bool = False
    was_down: bool = False
    """The server went down while it was open."""
    end: str | None = None
    """How it ended, once that was seen."""

    def may_end(self) -> set[str]:
        """The ends that are allowed."""
        usual = {"fail": "failed", "die": "failed"}.get(self.behaviour, "completed")
        return (
            {usual}
            | ({"cancelled"} if self.is_cancelled else set())
            | ({"interrupted"} if self.was_down else set())
        )


class Loop:
    """An event loop in a thread of its own, so that the server lives on between the rules."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(WITHIN_S)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(WITHIN_S)
        self.loop.close()


@dataclass
class Server:
    """One life of the server."""

    folder: Path
    fleet: MarkedFleet
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    rooms: House | None = None
    error: BaseException | None = None

    async def live(self) -> None:
        try:
            async with house(self.folder, fleet=self.fleet) as rooms:
                self.rooms = rooms
                self.ready.set()
                await self.stop.wait()
        except BaseException as error:  # noqa: BLE001 - told by whoever waits
            self.error = error
        finally:
            self.ready.set()
            self.ended.set()


class Days(RuleBasedStateMachine):
    """Rules are what people, agents, disks and machines do."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(patience, "FIRST_PAUSE_S", 0.001)
        self.patch.setattr(patience, "MAX_PAUSE_S", 0.01)
        self.patch.setattr(turnrunner, "PARTIAL_EVERY_S", 0.005)
        self.patch.setattr(turnrunner, "END_WITHIN_S", 0.5)
        self.patch.setattr(lane, "CLOSE_WITHIN_S", 0.5)
        self.patch.setattr(upkeep, "PROBE_S", 0.01)
        self.disk = FaultyDisk(self.patch)
        self.loop = Loop()
        self.home = Path(tempfile.mkdtemp(prefix="groupx-machine-"))
        self.taken: list[tuple[str, str]] = []
        self.said: list[Said] = []
        self.asked: dict[str, Asked] = {}
        self.lives = 0
        self.server: Server | None = None

    # ── What happens ──────────────────────────────────────────────────────────────────────────

    @initialize()
    def begins(self) -> None:
        self.loop.run(self._start(self._new_home()))
        self.loop.run(
            self._rooms().service.create_room(
                CreateRoom(client_command_id="side", title="Side", room_id="room:side")
            )
        )

    @rule(
        behaviour=st.sampled_from(BEHAVIOURS),
        to=st.sets(st.sampled_from(["a", "b"]), max_size=2),
        room=st.sampled_from(ROOMS),
    )
    def somebody_says(self, behaviour: str, to: set[str], room: str) -> None:
        tag = f"t{len(self.said)}t"
        request = SendMessage(
            client_command_id=f"c-{tag}",
            room_id=room,
            content=f"{behaviour} {tag}",
            to=sorted(to),
        )
        self.said.append(Said(tag, behaviour, request))
        self.loop.run(self._say(self.said[-1]))

    @precondition(lambda self: self.said)
    @rule(data=st.data())
    def somebody_says_it_again(self, data: st.DataObject) -> None:
        said = data.draw(st.sampled_from(self.said))
        before = said.accepted
        self.loop.run(self._say(said))
        assert before in (None, said.accepted)

    @precondition(lambda self: self.asked)
    @rule(data=st.data())
    def somebody_cancels(self, data: st.DataObject) -> None:
        turn_id = data.draw(st.sampled_from(sorted(self.asked)))
        self.loop.run(self._cancel(turn_id))

    @rule()
    def waiting_agents_go_on(self) -> None:
        self.loop.run(self._let_go())

    @rule()
    def time_passes(self) -> None:
        self.loop.run(_turns_of_the_loop(200))

    @rule(
        first=st.integers(0, 4),
        count=st.integers(1, 4),
        error=st.sampled_from(ERRORS),
    )
    def the_disk_fails_for_a_while(self, first: int, count: int, error: str) -> None:
        self.loop.run(self._plan_trouble(first, count, error))

    @rule()
    def the_server_is_restarted(self) -> None:
        assert self.server is not None
        folder = self.server.folder
        self._went_down()
        self.loop.run(self._stop(self.server))
        self.loop.run(self._start(folder))

    @rule()
    def the_server_crashes(self) -> None:
        assert self.server is not None
        left = self._new_home()
        self._went_down()
        self.loop.run(self._take_files(left))
        self.loop.run(self._stop(self.server))
        self.loop.run(self._start(left))

    # ── What must hold ────────────────────────────────────────────────────────────────────────

    @invariant()
    def what_was_accepted_is_there_once_in_order_and_nothing_else(self) -> None:
        if self.server is None:
            return
        accepted = [said.accepted for said in self.said if said.accepted is not None]
        wanted = sorted((reply.seq, reply.message_event_id) for reply in accepted)
        assert self.loop.run(self._messages()) == wanted

    @invariant()
    def no_prompt_was_sent_twice(self) -> None:
        assert [sent for sent, count in Counter(self.taken).items() if count > 1] == []

    @invariant()
    def an_end_never_changes(self) -> None:
        if self.server is None:
            return
        for turn_id, turn in self.loop.run(self._turns()).items():
            asked = self.asked[turn_id]
            if turn.status in ENDED:
                assert asked.end in (None, turn.status)
                assert turn.status in asked.may_end(), (turn, asked)
                asked.end = turn.status
            else:
                assert asked.end is None

    @invariant()
    def the_ledger_breaks_no_rule(self) -> None:
        if self.server is not None:
            assert self.loop.run(self._rooms().ledger.read(find_violations)) == []

    def teardown(self) -> None:
        try:
            if self.server is not None:
                self.loop.run(self._plan_trouble(0, 0, ERRORS[0]))
                self.loop.run(self._all_end())
                self.an_end_never_changes()
                self._every_completed_turn_was_sent()
                self.the_ledger_breaks_no_rule()
                self.loop.run(self._stop(self.server))
        finally:
            self.loop.close()
            self.patch.undo()
            shutil.rmtree(self.home, ignore_errors=True)

    def _every_completed_turn_was_sent(self) -> None:
        for asked in self.asked.values():
            assert asked.end is not None
            if asked.end == "completed":
                assert (asked.actor_id, asked.tag) in self.taken

    def _new_home(self) -> Path:
        home = self.home / f"life-{self.lives}"
        home.mkdir()
        self.lives += 1
        return home

    # ── In the loop ───────────────────────────────────────────────────────────────────────────

    def _rooms(self) -> House:
        assert self.server is not None
        assert self.server.rooms is not None
        return self.server.rooms

    async def _start(self, folder: Path) -> None:
        self.disk.plan(0, 0, ERRORS[0])
        self.server = server = Server(folder, MarkedFleet(self.taken))
        asyncio.run_coroutine_threadsafe(server.live(), asyncio.get_running_loop())
        await server.ready.wait()
        if server.error is not None:
            raise server.error

    async def _stop(self, server: Server) -> None:
        server.stop.set()
        await server.ended.wait()
        if server.error is not None:
            raise server.error

    async def _take_files(self, target: Path) -> None:
        """What is on disk now. Nothing that the server does from here on reaches an agent."""
        assert self.server is not None
        self.server.fleet.is_dead = True
        source = self.server.folder
        self.disk.plan(0, 0, ERRORS[0])

        def copy(_: object) -> None:
            for name in ("groupx.db", "groupx.db-wal"):
                with suppress(FileNotFoundError):
                    shutil.copyfile(source / name, target / name)

        await self._rooms().ledger.write(copy)

    def _went_down(self) -> None:
        for asked in self.asked.values():
            if asked.end is None:
                asked.was_down = True

    async def _say(self, said: Said) -> None:
        try:
            accepted = await self._rooms().service.send(said.request, Source())
        except LedgerDiskError:
            return
        said.accepted = accepted
        for turn in accepted.turns:
            self.asked.setdefault(turn.turn_id, Asked(said.tag, turn.target, said.behaviour))

    async def _cancel(self, turn_id: str) -> None:
        # Said before it is known whether the disk takes it: a refused cancel is none, but the
        # model may be told too much by one; what must not happen is a cancel that nobody asked.
        self.asked[turn_id].is_cancelled = True
        with suppress(LedgerDiskError):
            await self._rooms().service.cancel_turn(turn_id, f"x-{turn_id}")

    async def _let_go(self) -> None:
        assert self.server is not None
        self.server.fleet.let_go()
        await _turns_of_the_loop(50)

    async def _plan_trouble(self, first: int, count: int, error: str) -> None:
        self.disk.plan(first, count, error)

    async def _messages(self) -> list[tuple[int, str]]:
        def query(book: Any) -> list[tuple[int, str]]:
            rows = book.execute(
                "SELECT seq, event_id FROM events WHERE event_type = 'message.created'"
                " AND actor_id = 'user:web' ORDER BY seq"
            )
            return list(rows.fetchall())

        return await self._rooms().ledger.read(query)

    async def _turns(self) -> dict[str, TurnInfo]:
        service = self._rooms().service
        return {turn_id: await service.turn(turn_id) for turn_id in self.asked}

    async def _all_end(self) -> None:
        async with asyncio.timeout(WITHIN_S):
            while any(turn.status not in ENDED for turn in (await self._turns()).values()):
                await self._let_go()


async def _turns_of_the_loop(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


FEW = settings(
    max_examples=15,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_random_days_end_as_the_model_says() -> None:
    run_state_machine_as_test(Days, settings=FEW)
