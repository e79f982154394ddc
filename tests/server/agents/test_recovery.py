"""A host over a real agent that crashes: the next turn works, and nothing is sent twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from groupx_server.agents.base import AgentSpec, SessionRequest
from groupx_server.agents.host import AgentHost, HostStatus
from groupx_server.agents.registry import DriverRegistry
from groupx_server.domain.native import ContentDelta, TurnCancelled
from groupx_shared.errors import ErrorCode
from server.agents.kit import (
    LIMIT_S,
    Script,
    answer_of,
    collect,
    failure_of,
    quicker,
    terminal_of,
    until,
)

pytestmark = pytest.mark.process


@asynccontextmanager
async def hosted(
    script: Script, spec: AgentSpec | None = None
) -> AsyncIterator[tuple[AgentHost, list[HostStatus]]]:
    statuses: list[HostStatus] = []
    host = AgentHost(spec or script.spec(), DriverRegistry(script.guard), statuses.append)
    async with asyncio.timeout(4 * LIMIT_S), asyncio.TaskGroup() as group:
        group.create_task(host.run())
        try:
            yield host, statuses
        finally:
            await host.close()
    assert script.guard.groups == set()


def _ask(script: Script, resume: str | None = None) -> SessionRequest:
    return SessionRequest(script.folder, resume_native_id=resume)


@pytest.mark.parametrize(
    "death", ["[[exit 1]]", "[[kill]]", "[[close]]", "[[garbage 20000]][[hang]]"]
)
@pytest.mark.slow
async def test_after_a_death_in_a_turn_the_session_goes_on_in_a_new_process(
    script: Script, death: str
) -> None:
    async with hosted(script, script.spec(timeouts=quicker(close_s=0.1))) as (host, _):
        first = await host.session("room:main", _ask(script))
        instance = host.instance_id
        assert failure_of(await collect(first, f"[[say a]]{death}")).session_lost
        again = await host.session("room:main", _ask(script, first.native_session_id))
        assert again.continuity == "resumed"
        assert host.instance_id != instance
        assert answer_of(await collect(again, "next")) == "echo: next"
    assert script.prompts() == [f"[[say a]]{death}", "next"]
    assert len(script.log("start")) == 2


async def test_after_a_cancel_that_hangs_the_session_goes_on_in_a_new_process(
    script: Script,
) -> None:
    async with hosted(script, script.spec(timeouts=quicker(cancel_s=0.1))) as (host, _):
        first = await host.session("room:main", _ask(script))
        events = []
        async for event in first.prompt("turn_1", "[[say a]][[hang]]"):
            events.append(event)
            if isinstance(event, ContentDelta):
                await first.cancel()
        assert failure_of(events).code is ErrorCode.TURN_CANCEL_TIMEOUT
        again = await host.session("room:main", _ask(script, first.native_session_id))
        assert (again.continuity, answer_of(await collect(again, "next"))) == (
            "resumed",
            "echo: next",
        )
    assert script.prompts() == ["[[say a]][[hang]]", "next"]


async def test_after_a_cancel_that_broke_the_session_a_new_process_is_used(script: Script) -> None:
    async with hosted(script) as (host, _):
        first = await host.session("room:main", _ask(script))
        events = []
        async for event in first.prompt("turn_1", "[[say a]][[break-on-cancel]]"):
            events.append(event)
            await first.cancel()
        assert terminal_of(events) == TurnCancelled()
        again = await host.session("room:main", _ask(script, first.native_session_id))
        assert answer_of(await collect(again, "next")) == "echo: next"
    assert len(script.log("start")) == 2


@pytest.mark.slow
async def test_an_idle_death_is_told_and_mended(script: Script) -> None:
    async with hosted(script) as (host, statuses):
        session = await host.session("room:main", _ask(script))
        await collect(session, "[[say bye]][[then-exit 7]]")
        await until(lambda: len(script.log("start")) == 2, "it was started again")
        await until(lambda: host.status.state == "ready", "it is ready")
    states = [status.state for status in statuses]
    assert states == ["starting", "ready", "retrying", "starting", "ready", "stopped"]
    assert "status 7" in statuses[2].detail
    assert len(script.prompts()) == 1


async def test_a_server_that_stops_in_a_turn_leaves_no_process(script: Script) -> None:
    async with hosted(script) as (host, _):
        session = await host.session("room:main", _ask(script))
        stream = session.prompt("turn_1", "[[say a]][[hang]]")
        await anext(stream)
        await host.close()
        rest = [event async for event in stream]
        assert failure_of(rest).code is ErrorCode.SESSION_NOT_AVAILABLE
        assert "stopped" in failure_of(rest).message
