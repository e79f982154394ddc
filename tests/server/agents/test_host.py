"""The life of one agent, with drivers that do what the test says and a clock that stands still."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from groupx_server.agents import host as host_module
from groupx_server.agents.base import AgentInfo, AgentSpec, Driver, Session, SessionRequest
from groupx_server.agents.host import AgentHost, HostStatus
from groupx_server.domain.native import NativeEvent, TurnStarted
from groupx_shared.errors import AgentError, ConfigError, ErrorCode
from server.agents.kit import LIMIT_S
from server.agents.manual_clock import ManualClock

SPEC = AgentSpec("agent:toy", "acp", ["toy"], Path("/"))
REQUEST = SessionRequest(Path("/"))


class ToySession(Session):
    def __init__(self, driver: ToyDriver, request: SessionRequest) -> None:
        self.driver = driver
        self.request = request
        self.native_session_id = request.resume_native_id or f"native-{id(self)}"
        self.continuity = "resumed" if request.resume_native_id else "new"
        self.is_lost = False

    @property
    def lost(self) -> bool:
        return self.is_lost

    async def prompt(self, turn_id: str, text: str) -> AsyncGenerator[NativeEvent, None]:
        yield TurnStarted()

    async def cancel(self) -> None: ...

    async def close(self) -> None: ...


class ToyDriver(Driver):
    """Starts at once, or fails, or waits until `may_start`."""

    def __init__(self, spec: AgentSpec, plan: Plan) -> None:
        self.spec = spec
        self.plan = plan
        self.exited = asyncio.Event()
        self.reason = ""
        self.closed = 0
        self._pid: int | None = None

    async def start(self) -> AgentInfo:
        self.plan.drivers.append(self)
        await self.plan.may_start.wait()
        if self.exited.is_set():
            raise AgentError("it was closed while it started")
        if self.plan.failures:
            raise self.plan.failures.pop(0)
        self._pid = 4_000 + len(self.plan.drivers)
        return AgentInfo("Toy", "1.0", "acp", "1")

    async def open_session(self, request: SessionRequest) -> Session:
        self.plan.opened.append(request)
        return ToySession(self, request)

    def die(self, reason: str = "Toy exited with status 1.") -> None:
        self._pid = None
        self.reason = reason
        self.exited.set()

    async def close(self) -> None:
        self.closed += 1
        self.die(self.reason or "Toy was stopped.")
        await asyncio.sleep(0)

    async def wait_exited(self) -> str:
        await self.exited.wait()
        return self.reason

    @property
    def pid(self) -> int | None:
        return self._pid

    def stderr_tail(self) -> str:
        return "last words"


class Plan:
    """What the drivers of a test will do, and what they did."""

    def __init__(self) -> None:
        self.drivers: list[ToyDriver] = []
        self.opened: list[SessionRequest] = []
        self.failures: list[Exception] = []
        self.may_start = asyncio.Event()
        self.may_start.set()
        self.clock = ManualClock()
        self.statuses: list[HostStatus] = []
        self.told = asyncio.Event()
        self.host = AgentHost(
            SPEC,
            lambda spec: ToyDriver(spec, self),
            self._take,
            clock=self.clock,
            today=lambda: datetime(2030, 1, 1, tzinfo=UTC),
        )

    def _take(self, status: HostStatus) -> None:
        self.statuses.append(status)
        self.told.set()

    @property
    def states(self) -> list[str]:
        return [status.state for status in self.statuses]

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not condition():  # noqa: ASYNC110 - what is waited for has no event
                await asyncio.sleep(0)

    @property
    def state(self) -> str:
        return self.host.status.state

    async def until_state(self, state: str, starts: int = 0) -> None:
        await self.until(lambda: self.host.status.state == state and len(self.drivers) >= starts)


@pytest.fixture
async def plan() -> Plan:
    return Plan()


@asynccontextmanager
async def watched(plan: Plan) -> AsyncIterator[AgentHost]:
    """The host with its `run` going; both end with the test."""
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        group.create_task(plan.host.run())
        yield plan.host
        await plan.host.close()


async def test_nothing_starts_before_a_session_is_asked_for(plan: Plan) -> None:
    async with watched(plan) as host:
        await asyncio.sleep(0)
        assert plan.drivers == []
        assert plan.state == "stopped"
        assert host.instance_id is None


async def test_the_first_session_starts_the_process(plan: Plan) -> None:
    session = await plan.host.session("room:main", REQUEST)
    assert isinstance(session, ToySession)
    assert plan.states == ["starting", "ready"]
    ready = plan.host.status
    assert (ready.pid, ready.detail) == (4_001, "Toy 1.0 is running.")
    assert ready.info is plan.host.info
    assert ready.instance_id == plan.host.instance_id
    assert ready.changed_at == datetime(2030, 1, 1, tzinfo=UTC)


async def test_many_who_ask_at_once_get_one_process(plan: Plan) -> None:
    plan.may_start.clear()
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(plan.host.session(f"room:{n % 3}", REQUEST)) for n in range(9)]
        await plan.until(lambda: len(plan.drivers) == 1)
        plan.may_start.set()
    assert len(plan.drivers) == 1
    assert len(plan.opened) == 3
    assert len({id(task.result()) for task in asked}) == 3


async def test_a_room_keeps_its_session(plan: Plan) -> None:
    first = await plan.host.session("room:main", REQUEST)
    assert await plan.host.session("room:main", REQUEST) is first
    assert await plan.host.session("room:other", REQUEST) is not first


async def test_a_lost_session_is_replaced_in_the_same_process(plan: Plan) -> None:
    first = await plan.host.session("room:main", REQUEST)
    assert isinstance(first, ToySession)
    first.is_lost = True
    second = await plan.host.session("room:main", SessionRequest(Path("/"), "native-1"))
    assert second is not first
    assert second.continuity == "resumed"
    assert len(plan.drivers) == 1


async def test_a_discarded_process_is_closed_and_the_next_session_resumes_in_another(
    plan: Plan,
) -> None:
    async with watched(plan) as host:
        await host.session("room:main", REQUEST)
        first_instance = host.instance_id
        await host.discard()
        assert plan.state == "stopped"
        assert host.status.pid is None
        await asyncio.sleep(0)
        assert len(plan.drivers) == 1
        session = await host.session("room:main", SessionRequest(Path("/"), "native-1"))
        assert session.native_session_id == "native-1"
        assert host.instance_id not in (None, first_instance)
    assert [driver.closed > 0 for driver in plan.drivers] == [True, True]


async def test_a_failed_start_is_told_and_tried_again_by_the_next_session(plan: Plan) -> None:
    plan.failures = [AgentError("toy is not installed")]
    with pytest.raises(AgentError, match="not installed"):
        await plan.host.session("room:main", REQUEST)
    assert plan.state == "failed"
    assert plan.host.status.detail == "toy is not installed"
    await plan.host.session("room:main", REQUEST)
    assert plan.states == ["starting", "failed", "starting", "ready"]


async def test_wrong_options_are_an_agents_error(plan: Plan) -> None:
    def refuse(_: AgentSpec) -> Driver:
        raise ConfigError("The option x is not known.")

    host = AgentHost(SPEC, refuse)
    with pytest.raises(AgentError, match="option x") as failed:
        await host.session("room:main", REQUEST)
    assert failed.value.code is ErrorCode.ADAPTER_START_FAILED


async def test_an_idle_death_with_sessions_is_followed_by_a_restart(plan: Plan) -> None:
    async with watched(plan) as host:
        await host.session("room:main", REQUEST)
        plan.drivers[0].die("Toy exited with status 3.")
        await plan.until_state("retrying")
        assert host.status.detail == "Toy exited with status 3. It is started again in 1 s."
        assert host.status.retry_at == host.status.changed_at + timedelta(seconds=1)
        assert host.instance_id is None
        await plan.until(lambda: plan.clock.waits != [])
        plan.clock.advance(1)
        await plan.until_state("ready", starts=2)


async def test_an_idle_death_without_sessions_stays_stopped(plan: Plan) -> None:
    async with watched(plan) as host:
        plan.failures = []
        await host.session("room:main", REQUEST)
        await host.restart()
        await plan.until_state("ready", starts=2)
        plan.drivers[1].die()
        await plan.until_state("stopped")
        assert plan.clock.waits == []


async def test_the_pause_doubles_to_a_minute_and_a_healthy_hour_resets_it(plan: Plan) -> None:
    async with watched(plan) as host:
        await host.session("room:main", REQUEST)
        plan.failures = [AgentError("no")] * 9
        plan.drivers[0].die()
        for number in range(10):
            await plan.until(lambda number=number: len(plan.clock.waits) == number + 1)  # type: ignore[misc]
            plan.clock.advance(plan.clock.waits[-1] or 0)
        assert plan.clock.waits == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
        await plan.until_state("ready")
        await host.session("room:main", REQUEST)
        plan.clock.advance(3_600)
        plan.drivers[-1].die()
        await plan.until(lambda: len(plan.clock.waits) == 11)
        assert plan.clock.waits[-1] == 1


async def test_a_prompt_does_not_wait_for_the_back_off(plan: Plan) -> None:
    async with watched(plan) as host:
        await host.session("room:main", REQUEST)
        plan.drivers[0].die()
        await plan.until_state("retrying")
        await host.session("room:main", REQUEST)
        assert plan.state == "ready"
        plan.clock.advance(100)
        await asyncio.sleep(0)
        assert len(plan.drivers) == 2


async def test_a_death_noticed_by_a_session_first_is_no_obstacle(plan: Plan) -> None:
    await plan.host.session("room:main", REQUEST)
    plan.drivers[0].die()
    session = await plan.host.session("room:main", REQUEST)
    assert isinstance(session, ToySession)
    assert session.driver is plan.drivers[1]
    assert plan.drivers[0].closed == 1


async def test_a_restart_ends_the_process_and_starts_another(plan: Plan) -> None:
    async with watched(plan) as host:
        await host.session("room:main", REQUEST)
        await host.restart()
        assert plan.drivers[0].closed
        await plan.until_state("ready", starts=2)
        assert "retrying" not in plan.states


async def test_a_restart_that_fails_is_a_status_not_an_exception(plan: Plan) -> None:
    async with watched(plan) as host:
        plan.failures = [AgentError("gone from disk")]
        await host.restart()
        await plan.until_state("retrying")
        assert "gone from disk" in host.status.detail


async def test_a_driver_with_a_bug_does_not_break_the_server(plan: Plan) -> None:
    async with watched(plan) as host:
        plan.failures = [ZeroDivisionError("bug")]
        await host.restart()
        await plan.until_state("retrying")
        assert "ZeroDivisionError" in host.status.detail


async def test_close_ends_a_start_that_is_under_way(plan: Plan) -> None:
    plan.may_start.clear()

    async def ask() -> None:
        with pytest.raises(AgentError):
            await plan.host.session("room:main", REQUEST)

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        group.create_task(ask())
        await plan.until(lambda: len(plan.drivers) == 1)
        closing = group.create_task(plan.host.close())
        await plan.until(lambda: plan.drivers[0].closed > 0)
        plan.may_start.set()
        await closing
    assert plan.state == "stopped"


async def test_a_closed_host_starts_nothing(plan: Plan) -> None:
    await plan.host.close()
    with pytest.raises(AgentError) as refused:
        await plan.host.session("room:main", REQUEST)
    assert refused.value.code is ErrorCode.SHUTTING_DOWN
    assert plan.drivers == []


async def test_a_given_up_start_leaves_the_host_usable(plan: Plan) -> None:
    plan.may_start.clear()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(plan.host.session("room:main", REQUEST))
        await plan.until(lambda: len(plan.drivers) == 1)
        task.cancel()
    assert plan.state == "stopped"
    plan.may_start.set()
    await plan.host.session("room:main", REQUEST)
    assert plan.state == "ready"


async def test_a_start_that_hangs_makes_room_for_the_next(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "START_SHARE_S", 0.01)
    gate = asyncio.Semaphore(1)
    plan.may_start.clear()
    hosts = [AgentHost(SPEC, lambda spec: ToyDriver(spec, plan), start_gate=gate) for _ in range(3)]
    async with asyncio.TaskGroup() as group:
        for host in hosts:
            group.create_task(host.session("room:main", REQUEST))
        await plan.until(lambda: len(plan.drivers) == 3)
        plan.may_start.set()
    async with asyncio.timeout(5):
        await gate.acquire()
    assert gate.locked()  # each place was left exactly once


async def test_few_agents_start_at_the_same_time(plan: Plan) -> None:
    gate = asyncio.Semaphore(1)
    plan.may_start.clear()
    hosts = [AgentHost(SPEC, lambda spec: ToyDriver(spec, plan), start_gate=gate) for _ in range(2)]
    async with asyncio.TaskGroup() as group:
        for host in hosts:
            group.create_task(host.session("room:main", REQUEST))
        await plan.until(lambda: len(plan.drivers) == 1)
        for _ in range(10):
            await asyncio.sleep(0)
        assert len(plan.drivers) == 1
        plan.may_start.set()
    assert len(plan.drivers) == 2
