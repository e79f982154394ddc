"""`groupx search`."""

from __future__ import annotations

import json

from support.cli_run import Groupx
from support.cli_server import CliServer

HIT = {
    "kind": "message",
    "id": "evt_1",
    "roomId": "room:main",
    "seq": 12,
    "actorId": "agent:kimi",
    "type": "message.created",
    "occurredAt": "2026-11-03T14:03:21.000Z",
    "snippet": "the port\x1b[2J is 4310",
    "marks": [[4, 8]],
    "score": 1.5,
}
FACT = {**HIT, "kind": "memory", "id": "mem_1", "seq": None, "roomId": None}


def test_hits_are_printed_cleaned(groupx: Groupx, server: CliServer) -> None:
    server.replies["GET", "/api/search"] = (200, {"hits": [HIT, FACT]})
    result = groupx("search", "which port?", "--room", "main", "--kind", "message", "-n", "5")
    assert result.out == (
        "2026-11-03 14:03:21  kimi  main  #12  evt_1\n"
        "  the port␛[2J is 4310\n"
        "2026-11-03 14:03:21  kimi  memory  mem_1\n"
        "  the port␛[2J is 4310\n"
    )
    [(_, path, _)] = server.requests
    assert path == "/api/search?q=which%20port%3F&roomId=room:main&kind=message&limit=5"


def test_actor_and_times_are_passed_on(groupx: Groupx, server: CliServer) -> None:
    server.replies["GET", "/api/search"] = (200, {"hits": []})
    result = groupx("search", "x", "--actor", "@kimi", "--since", "2026-01-01", "--until", "2027")
    assert (result.out, result.code) == ("", 0)
    assert "Nothing found" in result.err
    [(_, path, _)] = server.requests
    assert path == ("/api/search?q=x&actorId=agent:kimi&since=2026-01-01&until=2027&limit=20")


def test_every_filter_and_the_place_of_a_page_are_passed_on(
    groupx: Groupx, server: CliServer
) -> None:
    server.replies["GET", "/api/search"] = (200, {"hits": [HIT], "nextCursor": "WzFd"})
    result = groupx("search", "x", "--type", "fact", "--root", "corr_1", "--cursor", "a=b")
    [(_, path, _)] = server.requests
    assert path == "/api/search?q=x&type=fact&root=corr_1&cursor=a%3Db&limit=20"
    assert "--cursor WzFd" in result.err


def test_that_words_decide_alone_is_said(groupx: Groupx, server: CliServer) -> None:
    reply = {"hits": [HIT], "meaning": "failing", "meaningProblem": "it answers 500:\x1b[2J"}
    server.replies["GET", "/api/search"] = (200, reply)
    assert "By words alone: it answers 500:␛[2J." in groupx("search", "x").err
    server.replies["GET", "/api/search"] = (200, {"hits": [HIT], "meaning": "incomplete"})
    assert "By words alone: few texts" in groupx("search", "x").err


def test_json_is_the_reply(groupx: Groupx, server: CliServer) -> None:
    server.replies["GET", "/api/search"] = (200, {"hits": [FACT], "nextCursor": "c"})
    assert json.loads(groupx("search", "port", "--json").out)["nextCursor"] == "c"


def test_what_was_left_out_is_said(groupx: Groupx, server: CliServer) -> None:
    reply = {"hits": [HIT], "capped": True, "behind": 7}
    server.replies["GET", "/api/search"] = (200, reply)
    result = groupx("search", "port")
    assert "too wide" in result.err
    assert "7 events" in result.err


def test_a_rebuild_is_asked_for(groupx: Groupx, server: CliServer) -> None:
    server.replies["POST", "/api/search/rebuild"] = (202, {"behind": 9})
    result = groupx("search", "--rebuild")
    assert result.code == 0
    assert "9 events" in result.err


def test_nothing_to_look_for_is_said(groupx: Groupx, server: CliServer) -> None:
    assert groupx("search").code == 6
