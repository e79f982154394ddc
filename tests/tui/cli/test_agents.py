"""`groupx agents`."""

from __future__ import annotations

import json

import pytest

from support.cli_run import Groupx
from support.cli_server import CliServer, agent
from support.fake_trials import FakeTrials, report


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


def test_available_shows_what_is_here_and_the_exact_line_to_add_it(
    groupx: Groupx, trials: FakeTrials
) -> None:
    new = {"configured": False, "install": "npm install -g x"}
    trials.reports = [
        report("guide", "found"),
        report("codex", "found", version="1.0", install="npm i"),
        report("kimi", "found", version="2.1.0", **new),
        report("gem", "absent", **new),
        report("odd", "absent", configured=False, unverified=True),
        report("old", "failed", problem="The wrong program.", **new),
    ]
    result = groupx("agents", "list", "--available")
    assert result.code == 0
    assert result.out.splitlines() == [
        "AGENT  PROGRAM           VERSION  HERE  ADD OR INSTALL",
        "codex  Codex             1.0      yes   in the config",
        "kimi   Kimi              2.1.0    yes   groupx agents add kimi",
        "gem    Gem                        no    npm install -g x",
        "odd    Odd (unverified)           no    as its makers say",
        "old    Old                        yes   The wrong program.",
    ]
    assert trials.asked == [("survey", False)]
    as_json = groupx("agents", "list", "--available", "--json").out
    assert json.loads(as_json) == {"available": trials.reports}


@pytest.mark.parametrize(("state", "code"), [("ready", 0), ("needs_login", 3), ("absent", 3)])
def test_an_agent_is_tried(groupx: Groupx, trials: FakeTrials, state: str, code: int) -> None:
    trials.reports = [report("kimi", state, problem="So.", advice="Do this.")]
    result = groupx("agents", "test", "kimi")
    assert result.code == code
    assert "Do this." in result.out
    assert json.loads(groupx("agents", "test", "kimi", "--json").out) == {
        "report": trials.reports[0]
    }
    assert trials.asked == [("try", "kimi")] * 2
