"""The built-in agent with a model server beside it: both start, both are gone, one key."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from groupx_server.agents import local_model
from groupx_server.agents.base import AgentSpec, Driver, SessionRequest
from groupx_server.agents.local_model import (
    LOCAL_VARIABLE,
    LocalModelDriver,
    SharedModel,
    missing_extra,
)
from groupx_server.agents.registry import DriverRegistry
from groupx_server.builtin_agent.local_model import KEY_VARIABLE
from groupx_shared.errors import AgentError, ErrorCode
from server.agents.kit import NoGuard
from support.fake_driver import FakeDriver, FakeFleet

pytestmark = [pytest.mark.process, pytest.mark.slow]

TELLS = """
import json, os, sys, time
sys.stderr.write(os.environ["GROUPX_LOCAL_MODEL_KEY"])
print(json.dumps({"baseUrl": "http://127.0.0.1:9/v1", "model": "tiny"}), flush=True)
time.sleep(60)
"""


class Pair:
    """A driver over a played model server and a fake agent."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
        monkeypatch.setattr(local_model, "missing_extra", lambda: None)
        monkeypatch.setattr(local_model, "SERVER_ARGV", (sys.executable, "-c", code))
        self.guard = NoGuard()
        self.fleet = FakeFleet()
        env = {LOCAL_VARIABLE: "1", "GROUPX_LEDGER": "ledger-1", "MINE": "1"}
        spec = AgentSpec("agent:local", "builtin", [], Path("/"), env)
        self.model = SharedModel(self.guard)
        self.driver = LocalModelDriver(spec, self.model, self.fleet)
        self.writer = LocalModelDriver(spec, self.model, self.fleet)
        """As one that writes a text for the server."""

    @property
    def agent(self) -> FakeDriver:
        return self.fleet.drivers[-1]


async def test_the_agent_is_led_to_the_model_by_environment_with_a_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = Pair(monkeypatch, TELLS)
    info = await pair.driver.start()
    assert info.name == "fake"
    env = pair.agent.spec.env
    assert env["GROUPX_MODEL_BASE_URL"] == "http://127.0.0.1:9/v1"
    assert (env["GROUPX_MODEL_NAME"], env["GROUPX_MODEL_PLAIN"]) == ("tiny", "1")
    assert env["MINE"] == "1"
    assert len(env["GROUPX_MODEL_API_KEY"]) >= 32
    (group,) = pair.guard.groups
    assert env["GROUPX_MODEL_API_KEY"] not in command_line_of(group)
    assert f"{KEY_VARIABLE}={env['GROUPX_MODEL_API_KEY']}" in environment_of(group)
    assert "GROUPX_LEDGER=ledger-1" in environment_of(group)
    assert pair.driver.is_usable
    await pair.driver.close()
    assert pair.guard.groups == set()
    assert not pair.driver.is_usable


async def test_each_start_has_a_key_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = []
    for _ in range(2):
        pair = Pair(monkeypatch, TELLS)
        await pair.driver.start()
        keys.append(pair.agent.spec.env["GROUPX_MODEL_API_KEY"])
        await pair.driver.close()
    assert keys[0] != keys[1]


@pytest.mark.parametrize("which", ["model", "agent"])
async def test_the_end_of_one_is_the_end_of_both(
    monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    pair = Pair(monkeypatch, TELLS)
    await pair.driver.start()
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(pair.driver.wait_exited())
        await asyncio.sleep(0)
        if which == "model":
            os.kill(next(iter(pair.guard.groups)), 9)
        else:
            pair.agent.die()
    ended = "The local model was ended by SIGKILL" if which == "model" else "The fake process ended"
    assert waiting.result().startswith(ended)
    assert not pair.driver.is_usable
    with pytest.raises(AgentError) as refused:
        await pair.driver.open_session(SessionRequest(cwd=Path("/")))
    assert refused.value.code is ErrorCode.SESSION_NOT_AVAILABLE
    await pair.driver.close()
    assert pair.guard.groups == set()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.exit('no such file: model.gguf')", "no such file: model.gguf"),
        ("pass", "exited with status 0"),
        ("print('hello', flush=True)", "The local model"),
        ("print('{}', flush=True)", "The local model"),
    ],
)
async def test_a_model_that_does_not_start_is_said_and_no_agent_started(
    monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    pair = Pair(monkeypatch, code)
    with pytest.raises(AgentError) as failed:
        await pair.driver.start()
    assert said in failed.value.message
    assert pair.fleet.drivers == []
    assert pair.guard.groups == set()
    await pair.driver.close()


async def test_a_model_that_never_gets_ready_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair(monkeypatch, "import time; time.sleep(60)")
    monkeypatch.setattr(local_model, "START_S", 0.2)
    with pytest.raises(AgentError) as failed:
        await pair.driver.start()
    assert failed.value.code is ErrorCode.PROTOCOL_HANDSHAKE_TIMEOUT
    assert pair.guard.groups == set()


async def test_an_agent_that_does_not_start_takes_its_model_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = Pair(monkeypatch, TELLS)
    pair.fleet.start_errors.append(AgentError("no"))
    with pytest.raises(AgentError, match="no"):
        await pair.driver.start()
    assert pair.guard.groups == set()


async def test_the_model_is_loaded_once_for_the_agent_and_those_that_write_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = Pair(monkeypatch, TELLS)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(pair.writer.start())
        tasks.create_task(pair.driver.start())
    first, second = (driver.spec.env["GROUPX_MODEL_API_KEY"] for driver in pair.fleet.drivers)
    assert first == second
    assert len(pair.guard.groups) == 1
    await pair.writer.close()
    assert len(pair.guard.groups) == 1
    assert pair.driver.is_usable
    await pair.driver.close()
    assert pair.guard.groups == set()


async def test_after_the_death_of_the_model_another_one_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = Pair(monkeypatch, TELLS)
    await pair.driver.start()
    (group,) = pair.guard.groups
    os.kill(group, 9)
    await asyncio.wait_for(pair.driver.wait_exited(), 5)
    await pair.writer.start()
    assert pair.writer.is_usable
    await pair.driver.close()  # of the dead one
    assert pair.writer.is_usable
    assert pair.guard.groups != set()
    await pair.writer.close()
    assert pair.guard.groups == set()


async def test_without_the_extra_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_model, "PACKAGES", ("json", "no_such_package"))
    problem = missing_extra()
    assert problem is not None
    assert "no_such_package missing" in problem
    assert f"{sys.executable} -m pip install" in problem
    spec = AgentSpec("agent:local", "builtin", [], Path("/"), {LOCAL_VARIABLE: "1"})
    driver: Driver = DriverRegistry(NoGuard())(spec)
    with pytest.raises(AgentError, match="pip install"):
        await driver.start()
    await driver.close()


def environment_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/environ").read_text().split("\0")


def command_line_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()
