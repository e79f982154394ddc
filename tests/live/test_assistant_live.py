"""Real programs as the room assistant, against the fake model: they use its tools and remember."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from live.agents import AGENTS
from live.programs import PROGRAMS
from live.rooms import TURN_S, LiveRoom, live_room, until
from live.test_together_live import call

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.process, pytest.mark.timeout(400)]


def appoint(room: LiveRoom, name: str) -> None:
    """Make a real program the assistant of a running server."""
    home, work = room.folder / "home-assistant", room.folder / "work-assistant"
    for folder in (home / "tmp", work):
        folder.mkdir(parents=True)
    brain = {**AGENTS[name].settings(room.model.url, home, room.mark), "cwd": str(work)}
    path = room.server.folder / "groupx.json"
    config = json.loads(path.read_text("utf-8"))
    config["assistant"] = {"enabled": True, "brain": brain}
    path.write_text(json.dumps(config), "utf-8")
    done = room.client.post("/api/runtime/reload", json={"clientCommandId": uuid.uuid4().hex})
    assert done.is_success, done.text


def answered(room: LiveRoom, content: str) -> tuple[dict[str, Any], str]:
    """The request as it ended, and the answer."""
    body = {"clientCommandId": uuid.uuid4().hex, "content": content}
    request_id = room.client.post("/api/assistant/messages", json=body).json()["request"][
        "messageId"
    ]

    def messages() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = room.client.get("/api/assistant/messages").json()["messages"]
        return found

    def request() -> dict[str, Any]:
        return next(m for m in messages() if m["messageId"] == request_id)

    def has_ended() -> bool:
        return request()["status"] not in ("queued", "running")

    until(has_ended, TURN_S, lambda: f"still {request()}")
    answers = [m["content"] for m in messages() if m.get("requestId") == request_id]
    return request(), "".join(answers)


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "opencode"])
def test_it_gives_an_agent_a_task_and_answers_with_what_it_said(tmp_path: Path, name: str) -> None:
    worker = "codex" if name != "codex" else "claude"
    for each in (name, worker):
        if not PROGRAMS[each].is_installed:
            pytest.skip(f"{each} is not installed")
    with live_room(tmp_path, worker) as room:
        appoint(room, name)
        content = "[[say The moon is up.]]"
        asked = call("worker_ask", to=[worker], content=content, clientCommandId="1")
        request, answer = answered(room, asked)
        assert request["status"] == "completed", request
        assert "The moon is up." in answer
        assert [act["tool"] for act in request["acts"]] == ["worker_ask"]
        (dispatch,) = [e for e in room.events() if e["type"] == "operator.dispatch"]
        assert dispatch["actor"]["actorId"] == "user:assistant"
        assert room.client.get("/api/assistant").json()["canAct"] is True


def test_the_talk_goes_on_in_the_programs_own_session_after_a_restart(tmp_path: Path) -> None:
    if not PROGRAMS["claude"].is_installed:
        pytest.skip("claude is not installed")
    with live_room(tmp_path, "claude") as room:
        appoint(room, "claude")
        request, _ = answered(room, "[[say I am called Ada.]]")
        assert request["status"] == "completed", request
        room.stop()
        room.start()
        request, answer = answered(room, "[[say And still am.]]")
        assert (request["status"], "And still am." in answer) == ("completed", True)
