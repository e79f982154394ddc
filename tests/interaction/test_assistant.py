"""The room assistant as a real program on a real server: what it does, who is kept out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.server_process import READY_S, ServerProcess, client_of, send, server_in
from support.waiting import eventually

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(180)]


@contextmanager
def workspace(folder: Path, *options: str, **assistant: Any) -> Iterator[ServerProcess]:
    """A server with one agent, `bot`, and a scripted program as the assistant."""
    with server_in(folder) as server:
        program = server.agent_config("--http-mcp", *options)
        brain = {key: program[key] for key in ("driver", "command", "env")}
        config = {
            "agents": {"bot": server.agent_config("--http-mcp")},
            "assistant": {"enabled": True, "brain": brain, **assistant},
        }
        (folder / "groupx.json").write_text(json.dumps(config), encoding="utf-8")
        yield server


def ask(client: httpx.Client, content: str, command_id: str) -> str:
    body = {"clientCommandId": command_id, "content": content}
    reply = client.post("/api/assistant/messages", json=body)
    assert reply.status_code == 202, reply.text
    return str(reply.json()["request"]["messageId"])


def messages(client: httpx.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/api/assistant/messages").json()["messages"]
    return found


def request_of(client: httpx.Client, request_id: str) -> dict[str, Any]:
    return next(m for m in messages(client) if m["messageId"] == request_id)


def answered(client: httpx.Client, request_id: str) -> str:
    """The whole answer, read from the request's own stream."""
    query = {"requestId": request_id}
    with client.stream("GET", "/api/assistant/events", params=query, timeout=READY_S) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in reply.iter_lines() if line.startswith("data: ")]
    frames = [json.loads(line.removeprefix("data: ")) for line in lines]
    final = [f["message"] for f in frames if f["type"] == "message"]
    assert any(m["messageId"] == request_id and m["status"] == "completed" for m in final), final
    streamed = "".join(f["text"] for f in frames if f["type"] == "delta")
    content: str = next(m["content"] for m in reversed(final) if m["role"] == "assistant")
    assert content.startswith(streamed)
    return content


def events(client: httpx.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/api/rooms/room:main/events?limit=500").json()[
        "events"
    ]
    return found


def test_it_gives_an_agent_a_task_waits_and_says_what_came_of_it(tmp_path: Path) -> None:
    with workspace(tmp_path) as server, client_of(server.start()) as client:
        text = "[[mcp-call worker_ask to=bot;content=((say in line 7))]][[say  That is it.]]"
        answer = answered(client, ask(client, text, "1"))
        assert '"content": "in line 7"' in answer
        assert answer.endswith("That is it.")
        kinds = [event["type"] for event in events(client)]
        assert kinds[0] == "operator.dispatch"
        assert "turn.completed" in kinds
        assert events(client)[0]["actor"]["actorId"] == "user:assistant"
        assert not any("That is it." in json.dumps(event) for event in events(client))
        assert server.stop() == 0
        assert server.violations() == []


def test_what_it_said_is_there_after_a_restart_and_what_was_sent_is_not_sent_again(
    tmp_path: Path,
) -> None:
    with workspace(tmp_path) as server:
        with client_of(server.start()) as client:
            answered(client, ask(client, "[[say one]]", "1"))
            running = ask(client, "[[say begun]][[silent]]", "2")
            waiting = ask(client, "[[say after all]]", "3")
            eventually(lambda: len(server.prompts("begun")) == 1)
            server.kill()
        with client_of(server.start()) as client:
            assert answered(client, waiting) == "after all"
            lost = request_of(client, running)
            assert (lost["status"], lost["errorCode"]) == ("interrupted", "TURN_INTERRUPTED")
            assert [m["content"] for m in messages(client)][:2] == ["[[say one]]", "one"]
            assert len(server.prompts("begun")) == 1
            assert server.stop() == 0
            assert server.violations() == []


def test_stopping_the_server_in_the_middle_of_an_answer_is_quick_and_told(tmp_path: Path) -> None:
    with workspace(tmp_path) as server:
        with client_of(server.start()) as client:
            running = ask(client, "[[say begun]][[silent]]", "1")
            eventually(lambda: len(server.prompts("begun")) == 1)
            assert server.stop() == 0
        with client_of(server.start()) as client:
            assert request_of(client, running)["status"] == "interrupted"
            assert server.stop() == 0


def test_only_its_own_token_opens_its_tools(tmp_path: Path) -> None:
    with workspace(tmp_path) as server:
        runtime = server.start()
        with client_of(runtime) as client:
            given = json.loads(answered(client, ask(client, "[[mcp]]", "1")))
            (tools,) = given
            headers = {header["name"]: header["value"] for header in tools["headers"]}
            turn = send(client, "[[mcp]]", ["bot"], "2")["turns"][0]["turnId"]
            others = json.loads(server.wait_turn(client, turn)["content"])
            agents = {header["name"]: header["value"] for header in others[0]["headers"]}
        assert tools["url"] == f"{runtime.url}/mcp/operator"
        json_type = {"Content-Type": "application/json", "Accept": "application/json"}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

        def status(url: str, given: dict[str, str], **more: str) -> int:
            with httpx.Client(trust_env=False, timeout=10) as bare:
                return bare.post(url, json=body, headers=json_type | given | more).status_code

        operator, agent = f"{runtime.url}/mcp/operator", f"{runtime.url}/mcp"
        persons = {"Authorization": f"Bearer {runtime.token}"}
        assert status(operator, headers) == 200
        assert status(operator, {}) == 401
        assert status(operator, {"Authorization": "Bearer wrong"}) == 401
        assert status(operator, persons) == 401
        assert status(operator, agents) == 401
        assert status(agent, headers) == 401
        assert status(f"{runtime.url}/api/rooms", headers) in (401, 405)
        assert status(operator, headers, Host="evil.example") == 403
        assert status(operator, headers, Origin="http://evil.example") == 403
        assert server.stop() == 0


def test_without_one_it_is_said_how_to_get_one_and_the_guide_will_do(tmp_path: Path) -> None:
    with server_in(tmp_path) as server, client_of(server.start()) as client:
        body = {"clientCommandId": "1", "content": "hello"}
        refused = client.post("/api/assistant/messages", json=body)
        assert refused.status_code == 409
        assert "groupx assistant use" in refused.json()["error"]["message"]
        config = json.loads((tmp_path / "groupx.json").read_text("utf-8"))
        config["assistant"] = {"enabled": True}
        (tmp_path / "groupx.json").write_text(json.dumps(config), "utf-8")
        assert client.post("/api/runtime/reload", json={"clientCommandId": "r"}).is_success
        assert "/find" in answered(client, ask(client, "/help", "2"))
        status = client.get("/api/assistant").json()
        assert (status["driver"], status["canAct"]) == ("builtin", False)
        assert "takes no tools" in status["detail"]
        assert server.stop() == 0


def test_its_acts_on_agents_and_rooms_are_in_force_at_once(tmp_path: Path) -> None:
    with workspace(tmp_path) as server, client_of(server.start()) as client:
        text = "[[mcp-call agent_restart agent=bot;clientCommandId=r1]]"
        assert '"accepted": true' in answered(client, ask(client, text, "1"))
        text = "[[mcp-call room_create title=Design;clientCommandId=r2]]"
        assert "room:design" in answered(client, ask(client, text, "2"))
        rooms = client.get("/api/rooms").json()["rooms"]
        assert "room:design" in [room["roomId"] for room in rooms]
        assert server.stop() == 0
        assert server.violations() == []
