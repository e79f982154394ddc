"""`groupx identity`."""

from __future__ import annotations

import json

from support.cli_run import Groupx
from support.cli_server import CliServer

RECORD = {
    "identityId": "identity_1",
    "subjectActorId": "agent:kimi",
    "authorActorId": "user:web",
    "kind": "preference",
    "content": "brief\x1b[2J",
    "sourceKind": "web",
    "status": "active",
    "createdAt": "2026-11-03T14:03:21.000Z",
}


def test_list_says_who_said_it_about_whom(groupx: Groupx, server: CliServer) -> None:
    server.replies["GET", "/api/identity"] = (200, {"items": [RECORD]})
    result = groupx("identity", "list", "--agent", "@kimi", "--author", "codex", "--history")
    assert "about kimi" in result.out
    assert "brief␛[2J" in result.out
    [(_, path, _)] = server.requests
    assert path == (
        "/api/identity?subjectActorId=agent:kimi&authorActorId=agent:codex&includeHistory=true"
        "&limit=100"
    )


def test_a_record_is_added_corrected_shown_and_retracted(groupx: Groupx, server: CliServer) -> None:
    server.replies["POST", "/api/identity"] = (201, {"identity": RECORD})
    assert groupx("identity", "add", "kimi", "brief", "--source", "evt_1").out == "identity_1\n"
    body = server.requests[-1][2]
    assert body is not None
    assert (body["subjectActorId"], body["sourceEventId"]) == ("agent:kimi", "evt_1")
    for how in ("supersede", "retract"):
        server.replies["POST", f"/api/identity/identity_1/{how}"] = (200, {"identity": RECORD})
    assert groupx("identity", "correct", "identity_1", "very brief").code == 0
    assert groupx("identity", "retract", "identity_1").code == 0
    server.replies["GET", "/api/identity/identity_1"] = (200, {"identity": RECORD})
    assert "came by: web" in groupx("identity", "show", "identity_1").out
    server.replies["GET", "/api/identity/identity_1/history"] = (200, {"items": [RECORD]})
    assert json.loads(groupx("identity", "history", "identity_1", "--json").out)["items"]
