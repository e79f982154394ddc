"""`/agents`, `/rooms`, `/memory`, `/status`, `/setup`."""

from __future__ import annotations

import pytest

from support.acp_dialogue import agent_in_process
from support.fake_openai import FakeOpenAI
from support.fake_room_server import ROOM, FakeRoomServer


async def _run(room: FakeRoomServer, command: str, **env: str) -> str:
    async with agent_in_process({**room.env(), **env}) as client:
        session = await client.open_session(roomId=ROOM, actorId="agent:guide")
        return (await client.prompt(session, command)).text


async def test_agents_are_listed_with_state_reason_and_how_to_add_one() -> None:
    async with FakeRoomServer() as room:
        room.agents.append(
            {
                "actorId": "agent:codex",
                "displayName": "Codex",
                "status": "failed",
                "detail": "`codex` was not found on PATH.",
                "driver": "codex",
                "queuedTurns": 2,
            }
        )
        room.agents.append({"actorId": "agent:off", "enabled": False, "status": "stopped"})
        text = await _run(room, "/agents")
    assert "- **Guide** (`agent:guide`, me): working, driver builtin" in text
    assert "failed, driver codex, 2 waiting. `codex` was not found on PATH." in text
    assert "(`agent:off`): disabled" in text
    assert "groupx.json" in text


async def test_rooms_are_listed_and_this_one_is_marked() -> None:
    async with FakeRoomServer() as room:
        text = await _run(room, "/rooms")
    assert "- **Main** (`room:main`): 0 messages · this one" in text
    assert "- **Old** (`room:old`): 0 messages · archived" in text


async def test_memory_that_is_not_there_yet_is_said_to_be_so() -> None:
    async with FakeRoomServer() as room:
        assert "no memory yet" in await _run(room, "/memory")
        room.memory = []
        assert "Nothing is remembered" in await _run(room, "/memory")
        room.memory = [
            {"kind": "fact", "authorActorId": "user:web", "content": "port\n4310"},
            {"kind": "fact", "content": "by nobody"},
        ]
        text = await _run(room, "/memory")
    assert "- fact, by user:web:\n> port\n> 4310" in text
    assert "by nobody" not in text


async def test_status_names_server_room_model_and_history() -> None:
    async with FakeRoomServer() as room, FakeOpenAI() as fake:
        none = await _run(room, "/status")
        model = await _run(room, "/status", GROUPX_MODEL_BASE_URL=fake.base_url)
    assert "here as `agent:guide`" in none
    assert "Room: `room:main`" in none
    assert f"{room.url} answers, 2 rooms" in none
    assert "Model: none, and looking for one is switched off" in none
    assert f"Model: fake-model at {fake.base_url} (configured)" in model


async def test_status_tells_of_settings_that_cannot_be_used() -> None:
    async with FakeRoomServer() as room:
        text = await _run(room, "/status", GROUPX_MODEL_TIMEOUT_S="soon")
    assert "Setting: GROUPX_MODEL_TIMEOUT_S" in text


async def test_setup_shows_exact_lines_and_what_a_look_just_found() -> None:
    async with FakeRoomServer() as room, FakeOpenAI() as fake:
        text = await _run(
            room, "/setup", GROUPX_MODEL_DISCOVERY="1", GROUPX_MODEL_PORTS=f"1,{fake.port}"
        )
    assert f"Model now: fake-model at http://127.0.0.1:{fake.port}/v1" in text
    assert "127.0.0.1:1 (a model server): nothing listens there" in text
    assert '"baseUrl": "http://127.0.0.1:11434/v1"' in text
    assert "ollama pull" in text


async def test_a_server_that_fails_is_part_of_the_status() -> None:
    async with FakeRoomServer() as room:
        room.broken = 503
        text = await _run(room, "/status")
    assert "HTTP 503" in text
    assert "Model: none" in text


@pytest.mark.parametrize("count", [0, 60])
async def test_lists_are_bounded(count: int) -> None:
    async with FakeRoomServer() as room:
        room.agents = [{"actorId": f"agent:{n}", "status": "ready"} for n in range(count)]
        text = await _run(room, "/agents")
    assert ("There are no agents." in text) is (count == 0)
    assert ("and 10 more" in text) is (count == 60)
