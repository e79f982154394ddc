"""`groupx redact`."""

from __future__ import annotations

import json
from typing import Any

from groupx_tui.client.history import HistoryStore
from support.cli_run import Groupx
from support.cli_server import CliServer

REPLY: dict[str, Any] = {
    "auditEventId": "evt_9",
    "eventIds": ["evt_1", "evt_2"],
    "recordIds": ["mem_1"],
    "quoteEventIds": ["evt_5"],
    "sideMessages": 2,
    "sessions": [{"actorId": "agent:codex", "roomId": "room:main"}],
    "summaries": 1,
    "days": 1,
    "elsewhere": ["evt_7"],
    "purged": False,
    "removedBackups": [],
    "leftIn": [],
    "beyond": ["Exports."],
}


def test_it_says_what_went_and_what_it_cannot_reach(groupx: Groupx, server: CliServer) -> None:
    server.replies["POST", "/api/events/evt_1/redact"] = (200, REPLY)
    result = groupx("redact", "evt_1")
    assert result.code == 0
    assert "removed: evt_2" in result.out
    assert "quotes of it cut out of: evt_5" in result.out
    assert "room assistant: 2 texts" in result.out
    assert "1 others have the text too (evt_7)" in result.err
    assert "--purge" in result.err
    assert "Exports." in result.err
    body = server.requests[-1][2]
    assert body is not None
    assert (body["purge"], body["copies"]) == (False, False)


def test_what_nobody_could_look_for_is_not_said_to_be_gone(
    groupx: Groupx, server: CliServer
) -> None:
    server.replies["POST", "/api/events/evt_1/redact"] = (200, {**REPLY, "purged": True})
    result = groupx("redact", "evt_1", "--purge", "--plain")
    assert "No byte of it is left" not in result.out
    assert "not known any more" in result.out


def test_a_message_to_the_assistant_is_removed_by_its_id(groupx: Groupx, server: CliServer) -> None:
    server.replies["POST", "/api/assistant/messages/side_1/redact"] = (200, REPLY)
    assert groupx("redact", "side_1").code == 0


def test_a_purge_proves_itself_or_fails(groupx: Groupx, server: CliServer) -> None:
    clean = {
        **REPLY,
        "purged": True,
        "checked": True,
        "elsewhere": [],
        "removedBackups": ["groupx-1.bak.db"],
    }
    server.replies["POST", "/api/memory/mem_1/redact"] = (200, clean)
    result = groupx("redact", "mem_1", "--purge", "--copies")
    assert result.code == 0
    assert "No byte of it is left" in result.out
    assert "backup removed: groupx-1.bak.db" in result.out
    server.replies["POST", "/api/identity/identity_1/redact"] = (
        200,
        {**clean, "leftIn": ["groupx.db"]},
    )
    result = groupx("redact", "identity_1", "--purge")
    assert (result.code, "still stands in the file groupx.db" in result.err) == (6, True)
    assert json.loads(groupx("redact", "mem_1", "--json").out)["purged"]


def test_the_window_does_not_offer_it_to_be_sent_again(groupx: Groupx, server: CliServer) -> None:
    history = HistoryStore(server.workspace)
    for text in ("the key is under the mat", "something else"):
        history.add("room:main", text)
    event = {"eventId": "evt_1", "body": {"content": "the key is under the mat"}}
    server.replies["GET", "/api/events/evt_1"] = (200, event)
    server.replies["POST", "/api/events/evt_1/redact"] = (200, REPLY)
    assert groupx("redact", "evt_1").code == 0
    assert history.load("room:main") == ["something else"]
