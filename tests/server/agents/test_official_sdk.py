"""The official SDK as an independent peer: it reads what we write, and we read what it writes."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from acp import schema
from pydantic import BaseModel

from groupx_server.agents.acp import AcpClient
from groupx_server.agents.acp_driver import AcpDriver
from groupx_server.agents.acp_setup import Step
from groupx_server.agents.base import AgentSpec, McpEndpoint, SessionRequest
from groupx_server.domain.native import (
    ContentDelta,
    ReasoningDelta,
    ToolProgress,
    TurnCancelled,
    TurnCompleted,
)
from groupx_shared.errors import ErrorCode
from server.agents.kit import NoGuard, answer_of, collect, failure_of, terminal_of

AGENT = Path(__file__).with_name("sdk_agent.py")
MCP = McpEndpoint("groupx", "http://127.0.0.1:9/mcp", "secret")
START_S = 30.0  # importing the SDK costs over a second of processor time


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[AcpDriver]:
    spec = AgentSpec(
        "agent:sdk", "acp", [sys.executable, str(AGENT)], tmp_path, {}, {"mode_id": "yolo"}
    )
    driver = AcpDriver(spec, NoGuard())
    async with asyncio.timeout(START_S):
        await driver.start()
    yield driver
    await driver.close()


@pytest.mark.slow
@pytest.mark.process
async def test_a_whole_conversation_with_the_sdk(driver: AcpDriver, tmp_path: Path) -> None:
    session = await driver.open_session(SessionRequest(tmp_path, mcp=MCP))
    assert driver.capabilities.name == "sdk-agent"
    assert session.has_mcp

    events = await collect(session, "hello")
    assert answer_of(events) == "you said: hello (yolo, 1 servers)"
    assert isinstance(terminal_of(events), TurnCompleted)
    assert [e.text for e in events if isinstance(e, ReasoningDelta)] == ["thinking"]
    assert [e.phase for e in events if isinstance(e, ToolProgress)] == ["started", "ended"]

    failure = failure_of(await collect(session, "ask"))
    assert failure.code is ErrorCode.UNEXPECTED_NATIVE_INTERACTION
    assert failure.details == {"title": "delete everything", "kind": "delete"}

    events = []
    async for event in session.prompt("turn_1", "wait"):
        events.append(event)
        if isinstance(event, ContentDelta):
            await session.cancel()
    assert events[-1] == TurnCancelled()

    again = await driver.open_session(SessionRequest(tmp_path, resume_native_id="sdk-1"))
    assert again.continuity == "resumed"
    assert "you said: back" in answer_of(await collect(again, "back"))


def _sent(client: AcpClient) -> dict[str, Any]:
    [line] = client.data_to_send().splitlines()
    message: dict[str, Any] = json.loads(line)
    return message


def _assert_valid(model: type[BaseModel], value: dict[str, Any]) -> None:
    """The schema takes it and knows each of its keys."""
    parsed = model.model_validate(value)
    assert parsed.model_dump(mode="json", by_alias=True, exclude_unset=True) == value


def test_every_request_we_send_is_in_the_schema() -> None:
    client = AcpClient("Toy")
    server = {
        "type": "http",
        "name": "groupx",
        "url": "http://127.0.0.1:9/mcp",
        "headers": [{"name": "Authorization", "value": "Bearer secret"}],
    }
    cwd = Path("/workspace")
    client.initialize()
    _assert_valid(schema.InitializeRequest, _sent(client)["params"])
    client.open_session("session/new", cwd, [server])
    _assert_valid(schema.NewSessionRequest, _sent(client)["params"])
    client.open_session("session/load", cwd, [server], "s")
    _assert_valid(schema.LoadSessionRequest, _sent(client)["params"])
    client.open_session("session/resume", cwd, [server], "s")
    _assert_valid(schema.ResumeSessionRequest, _sent(client)["params"])
    client.apply("s", Step("session/set_mode", {"modeId": "yolo"}))
    _assert_valid(schema.SetSessionModeRequest, _sent(client)["params"])
    client.apply("s", Step("session/set_config_option", {"configId": "a", "value": "on"}))
    _assert_valid(schema.SetSessionConfigOptionSelectRequest, _sent(client)["params"])
    client.prompt("s", "hello")
    _assert_valid(schema.PromptRequest, _sent(client)["params"])
    client.cancel("s")
    _assert_valid(schema.CancelNotification, _sent(client)["params"])
    client.close_session("s")
    _assert_valid(schema.CloseSessionRequest, _sent(client)["params"])


def test_the_answer_to_a_permission_request_is_in_the_schema() -> None:
    client = AcpClient("Toy")
    client.receive(b'{"id":0,"method":"session/request_permission","params":{"sessionId":"s"}}')
    _assert_valid(schema.RequestPermissionResponse, _sent(client)["result"])
