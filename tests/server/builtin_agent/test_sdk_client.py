"""The official ACP client drives the real program: an independent reader of what we send."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any, cast

import acp
import acp.schema
import pytest

from support.acp_dialogue import NO_DISCOVERY, WAIT_S
from support.fake_openai import FakeOpenAI, delta, stream, text, tool_call
from support.fake_room_server import ROOM, FakeRoomServer

pytestmark = [pytest.mark.process, pytest.mark.slow]


class Client:
    """Takes updates as the SDK's own models."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.streamed = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)
        if isinstance(update, acp.schema.AgentMessageChunk):
            self.streamed.set()

    def of(self, kind: type) -> list[Any]:
        return [update for update in self.updates if isinstance(update, kind)]


async def test_the_official_client_understands_every_kind_of_update() -> None:
    schema, client = acp.schema, Client()
    async with FakeOpenAI() as fake, FakeRoomServer() as room:
        room.say("the port is 4310")
        env = {**os.environ, **NO_DISCOVERY, **room.env(), "GROUPX_MODEL_BASE_URL": fake.base_url}
        fake.models = [{"id": "m", "max_model_len": 1000}]
        fake.plan(
            tool_call("room_find", '{"query": "port"}'),
            stream(
                delta(reasoning_content="hm"),
                delta("stop", content="4310"),
                {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}},
            ),
            fake.hang_after(delta(content="slow")),
            text("after"),
        )
        argv = [sys.executable, "-m", "groupx_server.builtin_agent"]
        async with (
            asyncio.timeout(4 * WAIT_S),
            acp.spawn_agent_process(
                cast("acp.Client", client),
                *argv,
                env=env,
                transport_kwargs={"stderr": asyncio.subprocess.DEVNULL},
            ) as (connection, _),
        ):
            hello = await connection.initialize(1, schema.ClientCapabilities())
            assert hello.agent_info is not None
            assert hello.agent_info.name == "groupx-builtin"
            session = await connection.new_session(
                cwd="/tmp", mcp_servers=[], groupx={"roomId": ROOM}
            )
            answer = await connection.prompt(
                session_id=session.session_id, prompt=[acp.text_block("which port?")]
            )
            assert answer.stop_reason == "end_turn"
            assert answer.usage is not None
            assert answer.usage.total_tokens == 6
            await _cancelled(connection, client, session.session_id)
    assert len(client.of(schema.AvailableCommandsUpdate)) == 1
    assert "".join(u.content.text for u in client.of(schema.AgentThoughtChunk)).count("hm")
    assert [u.status for u in client.of(schema.ToolCallProgress)] == ["in_progress", "completed"]
    assert [u.title for u in client.of(schema.ToolCallStart)] == ["room_find"]
    assert [(u.used, u.size) for u in client.of(schema.UsageUpdate)] == [(6, 1000)]


async def _cancelled(connection: Any, client: Client, session_id: str) -> None:
    client.streamed.clear()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(
            connection.prompt(session_id=session_id, prompt=[acp.text_block("long")])
        )
        await client.streamed.wait()
        await connection.cancel(session_id=session_id)
    assert running.result().stop_reason == "cancelled"
    again = await connection.prompt(session_id=session_id, prompt=[acp.text_block("again")])
    assert again.stop_reason == "end_turn"
