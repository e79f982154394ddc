"""`groupx turns`."""

from __future__ import annotations

import json

import pytest

from support.cli_run import Groupx
from support.cli_server import CliServer

TURN = {
    "turnId": "turn_1",
    "roomId": "room:main",
    "targetActorId": "agent:kimi",
    "status": "failed",
    "sourceEventId": "evt_1",
    "deliveryCertainty": "unknown",
    "errorCode": "AGENT_ERROR",
    "errorMessage": "no\x1b[2J credit",
    "partialText": "half\x1b[2J\n",
    "queuedAt": "2026-11-03T14:03:21.000Z",
}


def test_list_asks_and_shows(groupx: Groupx, server: CliServer) -> None:
    server.turns = {"turn_1": TURN}
    result = groupx("turns", "list", "--room", "dev", "--status", "ended", "--before", "9")
    assert result.out == (
        "TURN    AGENT  STATUS  ROOM  QUEUED               DETAIL\n"
        "turn_1  kimi   failed  main  2026-11-03 14:03:21  "
        "uncertain: kimi may have got it; see turns retry and continue\n"
    )
    [(_, path, _)] = server.requests
    assert path == "/api/turns?roomId=room:dev&status=ended&limit=20&before=9"


def test_list_says_how_to_go_on(groupx: Groupx, server: CliServer) -> None:
    server.replies["GET", "/api/turns"] = (200, {"turns": [TURN], "nextBefore": 7})
    result = groupx("turns", "list")
    assert "--before 7" in result.err
    assert "nextBefore" in groupx("turns", "list", "--json").out


def test_show_prints_facts_and_text(groupx: Groupx, server: CliServer) -> None:
    server.turns = {"turn_1": TURN}
    result = groupx("turns", "show", "turn_1")
    assert result.out == (
        "turn      turn_1\n"
        "room      room:main\n"
        "agent     agent:kimi\n"
        "status    failed\n"
        "delivery  unknown\n"
        "error     AGENT_ERROR\n"
        "because   no␛[2J credit\n"
        "message   evt_1\n"
        "queued    2026-11-03 14:03:21\n"
        "\n"
        "half␛[2J\n"
    )


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        ({"status": "queued", "queuePosition": 2, "behindTurnId": "turn_0"},
         "2 before it, works on turn_0"),
        ({"status": "queued", "queuePosition": 0}, "next"),
        ({"status": "cancelling"}, "waits for kimi to stop; if it does not, its program is ended"),
        ({"status": "interrupted", "deliveryCertainty": "unknown"},
         "uncertain: kimi may have got it; see turns retry and continue"),
        ({"status": "running"}, ""),
    ],
)  # fmt: skip
def test_each_state_says_what_it_waits_for(
    groupx: Groupx, server: CliServer, turn: dict[str, object], said: str
) -> None:
    known = {"turnId": "turn_1", "roomId": "room:main", "targetActorId": "agent:kimi", **turn}
    server.turns = {"turn_1": known}
    row = groupx("turns", "list").out.splitlines()[1]
    assert row.endswith(said)
    assert (f"          {said}\n" in groupx("turns", "show", "turn_1").out) == bool(said)


def test_a_failed_turn_says_why(groupx: Groupx, server: CliServer) -> None:
    server.turns = {"turn_1": {**TURN, "deliveryCertainty": "not_delivered"}}
    assert "AGENT_ERROR: no␛[2J credit\n" in groupx("turns", "list").out


def test_show_as_json_is_the_turn(groupx: Groupx, server: CliServer) -> None:
    server.turns = {"turn_1": TURN}
    assert json.loads(groupx("turns", "show", "turn_1", "--json").out) == TURN


def test_an_unknown_turn_is_refused(groupx: Groupx, server: CliServer) -> None:
    result = groupx("turns", "show", "turn_x")
    assert (result.code, "UNKNOWN_TURN" in result.err) == (6, True)


def test_cancel_says_what_became_of_it(groupx: Groupx, server: CliServer) -> None:
    server.turns = {"turn_1": TURN}
    result = groupx("turns", "cancel", "turn_1")
    assert (result.code, result.out) == (0, "")
    assert result.err.startswith("The turn is cancelling: it waits for the agent to stop.")
    reply = {"turnId": "turn_1", "accepted": False, "status": "completed"}
    server.replies["POST", "/api/turns/turn_1/cancel"] = (202, reply)
    assert groupx("turns", "cancel", "turn_1").err == "The turn had ended already: completed.\n"
    assert json.loads(groupx("turns", "cancel", "turn_1", "--json").out) == reply


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"delivery": "taken"}, "has it in that turn"),
        ({"delivery": "queued", "nextTurnId": "turn_2"}, "next one, turn_2"),
        ({"delivery": "unknown"}, "not sent again"),
    ],
)
def test_advice_says_what_became_of_it(
    groupx: Groupx, server: CliServer, reply: dict[str, str], said: str
) -> None:
    found = {"messageEventId": "evt_2", **reply}
    server.replies["POST", "/api/turns/turn_1/advise"] = (202, found)
    result = groupx("turns", "advise", "turn_1", "left")
    assert (result.code, result.out) == (0, "")
    assert said in result.err
    [(_, _, body)] = server.requests
    assert body is not None
    assert body["content"] == "left"
    assert json.loads(groupx("turns", "advise", "turn_1", "--json", stdin=b"left\n").out) == found


def test_advice_of_nothing_is_refused_before_anything_is_asked(
    groupx: Groupx, server: CliServer
) -> None:
    assert groupx("turns", "advise", "turn_1", " ").code == 2
    assert server.requests == []
