"""Real agents of two vendors that call each other over the room's tools, against the fake model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from live.programs import PROGRAMS
from live.rooms import live_room

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.process, pytest.mark.timeout(400)]

PAIRS = [("claude", "codex"), ("codex", "claude"), ("codex", "opencode"), ("gemini", "claude")]


TRIOS = [("claude", "codex", "gemini"), ("codex", "claude", "opencode")]


def call(tool: str, **arguments: object) -> str:
    """The mark that makes the fake model call a tool of the room; marks inside are escaped."""
    text = json.dumps(arguments).replace("[[", "\\u005b\\u005b").replace("]]", "\\u005d\\u005d")
    return f"[[room {tool} {text}]]"


def need(*names: str) -> None:
    """Skip where one of the programs is not installed."""
    for name in names:
        if not PROGRAMS[name].is_installed:
            pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize(("caller", "target"), PAIRS)
def test_one_asks_the_other_and_answers_with_what_it_said(
    tmp_path: Path, caller: str, target: str
) -> None:
    need(caller, target)
    with live_room(tmp_path, caller, target) as room:
        asked = call("ask", to=[target], content="[[say The moon is up.]]", clientCommandId="1")
        turn = room.ask(asked, caller)
        assert turn.status == "completed", turn.problem
        assert "The moon is up." in turn.content
        turns = room.client.get("/api/turns?status=all").json()["turns"]
        child = next(t for t in turns if t["targetActorId"] == f"agent:{target}")
        assert (child["parentTurnId"], child["status"]) == (turn.row["turnId"], "completed")
        (ready,) = [b for b in room.bodies("session.ready") if b["agentId"] == caller]
        assert ready["hasTools"] is True


@pytest.mark.parametrize(("caller", "one", "other"), TRIOS)
def test_one_asks_two_others_at_once_and_gets_both_answers(
    tmp_path: Path, caller: str, one: str, other: str
) -> None:
    need(caller, one, other)
    with live_room(tmp_path, caller, one, other) as room:
        content = "[[say The moon is up.]]"
        turn = room.ask(call("ask", to=[one, other], content=content, clientCommandId="1"), caller)
        assert turn.status == "completed", turn.problem
        assert turn.content.count("The moon is up.") == 2
        for name in (one, other):
            assert f"agent:{name}" in turn.content
