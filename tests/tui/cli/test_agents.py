"""`groupx agents`."""

from __future__ import annotations

import json

from support.cli_run import Groupx
from support.cli_server import CliServer, agent


def test_list_shows_state_detail_and_the_default(groupx: Groupx, server: CliServer) -> None:
    server.agents = [
        agent("guide", isDefault=True),
        agent("kimi", status="failed", detail="not\x1b[2J found", queuedTurns=3),
    ]
    result = groupx("agents", "list")
    assert result.code == 0
    assert result.out == (
        "AGENT   NAME   STATUS  QUEUED  DETAIL\n"
        "guide*  Guide  ready\n"
        "kimi    Kimi   failed  3       not␛[2J found\n"
    )


def test_list_shows_the_state_in_words(groupx: Groupx, server: CliServer) -> None:
    server.agents = [
        agent("codex", status="needs_login", detail="Run “codex login”."),
        agent("kimi", status="rate_limited", untilIso="2001-02-03T04:05:00.000Z"),
    ]
    assert groupx("agents", "list").out.splitlines()[1:] == [
        "codex  Codex  needs login                                  Run “codex login”.",
        "kimi   Kimi   rate limited until 2001-02-03 04:05",
    ]


def test_list_as_json_has_whole_cards(groupx: Groupx, server: CliServer) -> None:
    assert json.loads(groupx("agents", "list", "--json").out) == {"agents": server.agents}


def test_restart_names_the_agent_however_it_is_written(groupx: Groupx, server: CliServer) -> None:
    for name in ("kimi", "@kimi", "agent:kimi"):
        result = groupx("agents", "restart", name)
        assert (result.code, result.out) == (0, "")
        assert result.err == "kimi is being restarted.\n"
    assert {path for _, path, _ in server.requests} == {"/api/agents/agent:kimi/restart"}


def test_restart_as_json_is_the_reply(groupx: Groupx, server: CliServer) -> None:
    reply = json.loads(groupx("agents", "restart", "kimi", "--json").out)
    assert reply == {"actorId": "agent:kimi", "accepted": True}
