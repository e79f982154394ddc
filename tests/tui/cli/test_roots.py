"""`groupx roots` and `groupx usage`: what is asked, and how it is shown."""

from __future__ import annotations

import json
from typing import Any

from groupx_tui.cli.roots import tree
from support.cli_run import Groupx
from support.cli_server import CliServer

AT = "2026-11-03T14:03:21.000Z"
ROOT = {
    "correlationId": "corr_1",
    "roomId": "room:main",
    "messageEventId": "evt_1",
    "actorId": "user:web",
    "actorName": "You",
    "excerpt": "Review\x1b[2J it",
    "occurredAt": AT,
    "status": "stopped",
    "agents": ["agent:codex", "agent:kimi"],
    "turns": 3,
    "openTurns": 1,
    "failedTurns": 0,
    "stops": ["ping_pong"],
}


def turn(turn_id: str, agent: str, parent: str | None = None) -> dict[str, object]:
    above = {} if parent is None else {"parentTurnId": parent}
    return {"turnId": turn_id, "targetActorId": f"agent:{agent}", "status": "completed", **above}


TURNS = [turn("turn_1", "codex"), turn("turn_2", "kimi", "turn_1"), turn("turn_3", "codex")]


def test_the_list_asks_and_shows(groupx: Groupx, server: CliServer) -> None:
    server.replies["GET", "/api/roots"] = (200, {"roots": [ROOT], "nextBefore": 7})
    result = groupx("roots", "list", "--room", "dev", "--status", "open", "--before", "9")
    assert "corr_1  stopped: ping_pong  1 of 3 open  main" in result.out
    assert "codex, kimi  You: Review" in result.out
    assert "\x1b" not in result.out
    assert "--before 7" in result.err
    assert server.requests[-1][1] == "/api/roots?roomId=room:dev&status=open&limit=20&before=9"


def test_one_root_is_shown_as_a_tree_with_its_cost(groupx: Groupx, server: CliServer) -> None:
    usage = {"turns": 3, "reportedTurns": 1, "totalTokens": 1200, "costs": {"USD": 0.0123}}
    reply = {"root": ROOT, "turns": TURNS, "usage": usage}
    server.replies["GET", "/api/roots/corr_1"] = (200, reply)
    result = groupx("roots", "show", "corr_1")
    assert (
        "└ codex: completed · turn_1\n  └ kimi: completed · turn_2\n└ codex: completed · turn_3\n"
        in result.out
    )
    assert "cost: 1,200 tokens 0.0123 USD" in result.out
    assert "groupx roots continue corr_1" in result.err
    assert json.loads(groupx("roots", "show", "corr_1", "--json").out) == reply


def test_a_root_is_named_by_any_turn_or_event_of_it(groupx: Groupx, server: CliServer) -> None:
    server.turns = {"turn_9": {**TURNS[0], "correlationId": "corr_1"}}
    server.replies["GET", "/api/events/evt_9"] = (200, {"correlationId": "corr_1"})
    cancelled = {"correlationId": "corr_1", "roomId": "room:main", "turns": []}
    server.replies["POST", "/api/roots/corr_1/cancel"] = (202, cancelled)
    for name in ("turn_9", "evt_9", "corr_1"):
        assert groupx("roots", "cancel", name).err == "No turn of it was open.\n"
        assert server.requests[-1][1] == "/api/roots/corr_1/cancel"


def test_a_root_goes_on_and_how_much_was_held_is_said(groupx: Groupx, server: CliServer) -> None:
    reply = {"correlationId": "corr_1", "roomId": "room:main", "continues": 1, "messages": [{}]}
    server.replies["POST", "/api/roots/corr_1/continue"] = (202, reply)
    assert groupx("roots", "continue", "corr_1").err == "It goes on; 1 held messages were sent.\n"


def test_a_tree_whose_parent_is_not_told_begins_at_the_left() -> None:
    lines = tree([turn("turn_2", "kimi", "turn_of_before"), turn("turn_3", "a", "turn_2")])
    assert [len(line) - len(line.lstrip()) for line in lines] == [0, 2]


def test_a_ring_of_parents_is_not_walked_for_ever() -> None:
    assert tree([turn("turn_1", "a", "turn_2"), turn("turn_2", "b", "turn_1")]) == []


def test_the_cost_is_shown_by_what_was_asked_for(groupx: Groupx, server: CliServer) -> None:
    totals = {"turns": 3, "reportedTurns": 2, "totalTokens": 15, "inputTokens": 10}
    group = {**totals, "key": "room:main", "costs": {"USD": 0.5}}
    reply: dict[str, Any] = {"totals": totals, "actors": [], "groups": [group]}
    server.replies["GET", "/api/usage"] = (200, reply)
    result = groupx("usage", "--by", "room", "--agent", "@kimi", "--root", "corr_1")
    assert server.requests[-1][1] == (
        "/api/usage?correlationId=corr_1&actorId=agent:kimi&by=room&limit=20"
    )
    lines = result.out.splitlines()
    assert lines[0].startswith("ROOM")
    assert lines[1].split() == ["room:main", "3", "2", "10", "0", "0", "0", "15", "0.5000", "USD"]
    assert lines[2].startswith("all")
    assert "1 of 3 turns did not tell what they cost." in result.err
    assert json.loads(groupx("usage", "--json").out) == reply
    reply["upkeep"] = [{**group, "key": "summary", "turns": 3}, {**totals, "key": "dated"}]
    reply["upkeep"][1] |= {"turns": 1, "reportedTurns": 1}
    assert groupx("usage").out.splitlines()[3:] == [
        "besides: 3 summaries, 15 tokens, 0.5000 USD, 2 of 3 told",
        "besides: 1 day, 15 tokens",
    ]


def test_a_message_is_passed_on_where_it_is_or_to_another_room(
    groupx: Groupx, server: CliServer
) -> None:
    server.replies["GET", "/api/events/evt_1"] = (200, {"roomId": "room:dev"})
    result = groupx("forward", "evt_1", "look", "--to", "@kimi")
    assert result.out == "message\tevt_message\nturn\tturn_kimi\tkimi\n"
    body = server.requests[-1][2]
    assert body is not None
    assert body["forwardedEventId"] == "evt_1"
    assert (body["roomId"], body["to"], body["content"]) == ("room:dev", ["kimi"], "look")
    groupx("forward", "evt_1", "--room", "main")
    body = server.requests[-1][2]
    assert body is not None
    assert (body["roomId"], body["to"], body["content"]) == ("room:main", [], "")


def test_observers_go_with_a_message_and_a_brief_belongs_to_them(
    groupx: Groupx, server: CliServer
) -> None:
    groupx("send", "--to", "codex", "--observer", "@kimi", "--brief", "no shortcuts", "build it")
    body = server.requests[-1][2]
    assert body is not None
    assert body["supervision"] == {"observers": ["kimi"], "brief": "no shortcuts"}
    assert groupx("send", "--brief", "x", "hello").code == 2


def test_at_all_as_a_target_wakes_everybody(groupx: Groupx, server: CliServer) -> None:
    groupx("send", "--to", "@all", "hello")
    body = server.requests[-1][2]
    assert body is not None
    assert body["to"] == ["agent:guide"]
