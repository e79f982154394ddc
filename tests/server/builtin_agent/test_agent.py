"""The ACP surface, in one process: life cycle, errors, cancel, order."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from groupx_server.builtin_agent import agent
from groupx_server.builtin_agent.guide.guide import Guide
from groupx_shared.version import VERSION
from support.acp_dialogue import WAIT_S, agent_in_process
from support.fake_openai import FakeOpenAI, delta
from support.fake_room_server import ROOM, FakeRoomServer


async def test_initialize_says_honestly_what_the_agent_can() -> None:
    async with agent_in_process({}) as client:
        reply = await client.ask("initialize", {"protocolVersion": 1, "unknown": {}})
    result = reply["result"]
    assert reply["id"] == 0
    assert result["protocolVersion"] == 1
    assert result["agentInfo"]["name"] == "groupx-builtin"
    assert result["agentInfo"]["version"] == VERSION
    assert result["agentCapabilities"]["loadSession"] is False
    assert result["authMethods"] == []


async def test_a_new_session_announces_its_commands() -> None:
    async with agent_in_process({}) as client:
        session = await client.open_session()
    [update] = client.updates
    assert update["sessionId"] == session
    names = [command["name"] for command in update["update"]["availableCommands"]]
    assert "find" in names


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("session/load", {"sessionId": "x"}, -32601),
        ("nonsense/\x1b[31m", {}, -32601),
        ("session/new", {"cwd": "relative"}, -32602),
        ("session/new", {}, -32602),
        ("session/new", [1], -32602),
        ("session/prompt", {"sessionId": "no", "prompt": []}, -32002),
        ("session/prompt", {"prompt": []}, -32002),
        ("session/prompt", {"sessionId": ["x"]}, -32002),
        ("session/close", {"sessionId": "no"}, -32002),
    ],
)
async def test_a_wrong_request_gets_its_code_and_a_sentence(
    method: str, params: Any, code: int
) -> None:
    async with agent_in_process({}) as client:
        error = (await client.ask(method, params))["error"]
        assert error["code"] == code
        assert error["message"].endswith(".")
        assert "\x1b" not in error["message"]
        assert "result" in await client.ask("initialize", {})


@pytest.mark.parametrize("prompt", [None, [], "text", {"a": 1}])
async def test_a_prompt_without_blocks_is_refused_and_leaves_the_session_free(prompt: Any) -> None:
    async with agent_in_process({}) as client:
        session = await client.open_session()
        reply = await client.ask("session/prompt", {"sessionId": session, "prompt": prompt})
        assert reply["error"]["code"] == -32602
        assert (await client.prompt(session, "/help")).stop_reason == "end_turn"


async def test_garbage_between_messages_is_ignored() -> None:
    async with agent_in_process({}) as client:
        for line in (b"hello\n", b"[1,2,3]\n", b"\xff\xfe\n", b'{"id": 5}\n', b"\n", b"{\n"):
            await client.write(line)
        await client.notify("session/cancel", {"sessionId": "nobody"})
        await client.notify("session/cancel", "nonsense")
        await client.notify("$/unknown", {})
        assert "result" in await client.ask("initialize", {})


async def test_a_cancel_ends_the_turn_at_once_and_closes_the_models_connection() -> None:
    async with (
        FakeOpenAI() as fake,
        agent_in_process({"GROUPX_MODEL_BASE_URL": fake.base_url}) as client,
    ):
        session = await client.open_session()
        fake.plan(fake.hang_after(delta(content="I am ")))
        number = await client.begin(session, "q")
        await client.until_update("agent_message_chunk")
        await client.notify("session/cancel", {"sessionId": session})
        turn = await client.finish(session, number)
        assert turn.stop_reason == "cancelled"
        assert turn.text == "I am "
        async with asyncio.timeout(WAIT_S):
            await fake.client_went_away.wait()
        after = await client.prompt(session, "and now?")
    assert after.text == "Hello from the fake."
    contents = [message["content"] for message in fake.requests[1]["messages"][1:]]
    assert contents == ["q", "I am", "and now?"]


async def test_a_cancel_right_behind_the_prompt_is_not_lost() -> None:
    async with (
        FakeOpenAI() as fake,
        agent_in_process({"GROUPX_MODEL_BASE_URL": fake.base_url}) as client,
    ):
        session = await client.open_session()
        fake.plan(fake.hang_after())
        number = await client.begin(session, "q")
        await client.notify("session/cancel", {"sessionId": session})
        assert (await client.finish(session, number)).stop_reason == "cancelled"
        await client.notify("session/cancel", {"sessionId": session})
        assert (await client.prompt(session, "/help")).stop_reason == "end_turn"


async def test_a_second_prompt_of_one_session_is_busy_and_the_first_one_lives() -> None:
    async with (
        FakeOpenAI() as fake,
        agent_in_process({"GROUPX_MODEL_BASE_URL": fake.base_url}) as client,
    ):
        session = await client.open_session()
        fake.plan(fake.hang_after(delta(content="slow")))
        first = await client.begin(session, "q")
        await client.until_update("agent_message_chunk")
        second = await client.reply(await client.begin(session, "again"))
        assert second["error"]["code"] == -32600
        assert "busy" in second["error"]["message"]
        await client.notify("session/cancel", {"sessionId": session})
        assert (await client.finish(session, first)).stop_reason == "cancelled"


async def test_sessions_work_side_by_side() -> None:
    async with (
        FakeOpenAI() as fake,
        agent_in_process({"GROUPX_MODEL_BASE_URL": fake.base_url}) as client,
    ):
        slow, quick = await client.open_session(), await client.open_session()
        fake.plan(fake.hang_after(delta(content="slow")))
        number = await client.begin(slow, "q")
        await client.until_update("agent_message_chunk")
        assert (await client.prompt(quick, "q")).text == "Hello from the fake."
        await client.notify("session/cancel", {"sessionId": slow})
        assert (await client.finish(slow, number)).stop_reason == "cancelled"


async def test_closing_a_session_cancels_its_turn_and_forgets_it() -> None:
    async with (
        FakeOpenAI() as fake,
        agent_in_process({"GROUPX_MODEL_BASE_URL": fake.base_url}) as client,
    ):
        session = await client.open_session()
        fake.plan(fake.hang_after(delta(content="slow")))
        number = await client.begin(session, "q")
        await client.until_update("agent_message_chunk")
        assert (await client.ask("session/close", {"sessionId": session}))["result"] == {}
        assert (await client.finish(session, number)).stop_reason == "cancelled"
        assert (await client.prompt(session, "q")).error["code"] == -32002


async def test_the_end_of_input_cancels_what_runs() -> None:
    async with FakeOpenAI() as fake:
        async with agent_in_process({"GROUPX_MODEL_BASE_URL": fake.base_url}) as client:
            session = await client.open_session()
            fake.plan(fake.hang_after(delta(content="slow")))
            number = await client.begin(session, "q")
            await client.until_update("agent_message_chunk")
        assert (await client.finish(session, number)).stop_reason == "cancelled"


async def test_sessions_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "MAX_SESSIONS", 1)
    async with agent_in_process({}) as client:
        session = await client.open_session()
        reply = await client.ask("session/new", {"cwd": "/tmp", "mcpServers": []})
        assert "session/close" in reply["error"]["message"]
        await client.ask("session/close", {"sessionId": session})
        await client.open_session()


async def test_a_defect_ends_its_turn_with_an_error_and_the_agent_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError

    async with agent_in_process({}) as client:
        session = await client.open_session()
        with monkeypatch.context() as patch:
            patch.setattr(Guide, "answer", broken)
            error = (await client.prompt(session, "/help")).error
        assert error["code"] == -32603
        assert "ZeroDivisionError" in error["message"]
        assert "a turn ended with a defect" in caplog.text
        assert (await client.prompt(session, "/help")).stop_reason == "end_turn"


async def test_the_room_comes_with_the_session_or_with_the_prompt() -> None:
    async with FakeRoomServer() as room, agent_in_process(room.env()) as client:
        room.say("hello")
        told = await client.open_session(roomId=ROOM)
        untold = await client.open_session()
        assert "hello" in (await client.prompt(told, "/last")).text
        assert "outside of a room" in (await client.prompt(untold, "/last")).text
        packet = (
            f"[groupx_protocol fence=k]\nroom={ROOM}\n[/groupx_protocol fence=k]\n\n"
            "[current_message fence=k]\n[entry fence=k id=e]\n/last\n[/entry fence=k]\n"
            "[/current_message fence=k]"
        )
        assert "hello" in (await client.prompt(untold, packet)).text
