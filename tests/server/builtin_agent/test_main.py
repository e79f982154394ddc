"""The real program on real pipes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import suppress

import pytest

from support.acp_dialogue import WAIT_S, agent_process
from support.fake_openai import FakeOpenAI, delta, text, tool_call
from support.fake_room_server import ROOM, FakeRoomServer

pytestmark = [pytest.mark.process, pytest.mark.slow]


def test_the_start_loads_nothing_heavy() -> None:
    code = (
        "import sys, groupx_server.builtin_agent.__main__;"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, timeout=30, text=True
    )
    loaded = set(done.stdout.split())
    assert not loaded & {"httpx", "pydantic", "anyio", "httpcore", "starlette", "structlog"}


async def test_a_conversation_with_model_room_and_commands() -> None:
    async with FakeOpenAI() as fake, FakeRoomServer() as room:
        room.say("the port is 4310")
        fake.plan(tool_call("room_find", '{"query": "port"}'), text("4310"))
        async with agent_process({"GROUPX_MODEL_BASE_URL": fake.base_url, **room.env()}) as agent:
            client = agent.dialogue
            await client.write(b"garbage\n[1,2]\n")
            assert (await client.ask("initialize", {"protocolVersion": 1}))["id"] == 0
            session = await client.open_session(roomId=ROOM)
            turn = await client.prompt(session, "which port?")
            assert turn.text == "4310"
            assert turn.tools[0]["status"] == "completed"
            assert "> the port is 4310" in (await client.prompt(session, "/find port")).text
            assert await agent.end_input() == 0


async def test_the_end_of_input_ends_the_program_although_a_turn_runs() -> None:
    async with FakeOpenAI() as fake:
        async with agent_process({"GROUPX_MODEL_BASE_URL": fake.base_url}) as agent:
            client = agent.dialogue
            session = await client.open_session()
            fake.plan(fake.hang_after(delta(content="slow")))
            number = await client.begin(session, "q")
            await client.until_update("agent_message_chunk")
            assert await agent.end_input() == 0
            assert (await client.finish(session, number)).stop_reason == "cancelled"
        async with asyncio.timeout(WAIT_S):
            await fake.client_went_away.wait()


async def test_a_client_that_stops_reading_ends_the_program() -> None:
    async with agent_process({}) as agent:
        assert agent.process.stdout is not None
        await agent.dialogue.ask("initialize", {})
        agent.process.stdout._transport.close()  # type: ignore[attr-defined]
        async with asyncio.timeout(WAIT_S):
            while agent.process.returncode is None:
                # Answers that were written before our end was closed are no failure for it.
                await agent.dialogue.request("initialize", {})
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.1):
                        await agent.process.wait()
        assert agent.process.returncode == 0


async def test_a_prompt_of_ten_megabytes_arrives() -> None:
    async with agent_process({}) as agent:
        client = agent.dialogue
        session = await client.open_session()
        turn = await client.prompt(session, "x" * 10_000_000, current="/help")
        assert "/find" in turn.text
        assert await agent.end_input() == 0


async def test_a_wrong_setting_does_not_stop_the_start() -> None:
    async with agent_process({"GROUPX_MODEL_PORTS": "x", "GROUPX_MODEL_TIMEOUT_S": "y"}) as agent:
        assert "result" in await agent.dialogue.ask("initialize", {})
        assert await agent.end_input() == 0
