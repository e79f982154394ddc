"""`groupx context`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groupx_shared.errors import RefusedError
from groupx_shared.workspace import Workspace
from groupx_tui.cli.api import Api
from groupx_tui.cli.context import outcome
from support.cli_clock import SteppedClock
from support.cli_run import Groupx
from support.cli_server import CliServer

USAGE: dict[str, Any] = {
    "roomId": "room:main",
    "throughSeq": 9,
    "estimatedCharacters": 150_000,
    "maxCharacters": 256_000,
    "compactionTriggerCharacters": 192_000,
    "utilizationPercent": 58.6,
    "uncompactedMessageCount": 40,
    "summaryThroughSeq": 4,
    "summaryCharacters": 2_000,
    "resetThroughSeq": 2,
}
DONE: dict[str, Any] = {
    "operationId": "op_1",
    "phase": "completed",
    "messageCount": 30,
    "attempt": 1,
    "generatorActorId": "agent:codex",
    "summaryCharacters": 900,
}
PREVIEW: dict[str, Any] = {
    "roomId": "room:main",
    "actorId": "agent:codex",
    "session": "new",
    "text": "[groupx_protocol]\x1b[2J",
    "characters": 1_000,
    "softCharacters": 192_000,
    "maxCharacters": 256_000,
    "throughSeq": 9,
    "sections": [
        {
            "name": "room_delta_since_cursor",
            "characters": 700,
            "mandatory": False,
            "included": 3,
            "omitted": 1,
            "leftOut": [{"id": "evt_1", "characters": 5_000}],
        }
    ],
    "needsCompaction": True,
}


def test_usage_says_what_is_told_how(groupx: Groupx, server: CliServer) -> None:
    server.replies["GET", "/api/context"] = (200, {**USAGE, "compaction": DONE})
    out = groupx("context", "usage").out
    assert "150,000 of 256,000 characters (58.6 %)" in out
    assert "A summary of 2,000 characters tells what is up to #4" in out
    assert "Nothing up to #2 is told any more" in out
    assert "Summed up: 30 messages in 900 characters, by codex" in out
    assert json.loads(groupx("context", "usage", "--json").out)["summaryThroughSeq"] == 4


def test_preview_shows_sections_and_what_is_left_out(groupx: Groupx, server: CliServer) -> None:
    server.replies["GET", "/api/rooms/room:main/context"] = (200, PREVIEW)
    result = groupx("context", "preview", "--to", "codex", "--session", "new", "--text", "port")
    assert "room_delta_since_cursor" in result.out
    assert "left out of room_delta_since_cursor: evt_1, 5,000 characters" in result.out
    assert "summed up" in result.err
    [(_, path, _)] = server.requests
    assert path == "/api/rooms/room:main/context?agent=codex&session=new&text=port"
    whole = groupx("context", "preview", "--to", "codex", "--whole").out
    assert whole == "[groupx_protocol]␛[2J\n"


def test_compact_waits_for_the_end(groupx: Groupx, server: CliServer) -> None:
    server.replies["POST", "/api/rooms/room:main/context/compact"] = (
        202,
        {"accepted": True, "operationId": "op_1"},
    )
    server.replies["GET", "/api/context"] = (200, {**USAGE, "compaction": DONE})
    result = groupx("context", "compact", "--keep", "3")
    assert (result.code, "by codex" in result.out) == (0, True)
    assert server.requests[0][2]["keep"] == 3  # type: ignore[index]
    failed = {**DONE, "phase": "failed", "errorMessage": "nobody could"}
    server.replies["GET", "/api/context"] = (200, {**USAGE, "compaction": failed})
    result = groupx("context", "compact")
    assert (result.code, "nobody could" in result.out) == (6, True)


def test_a_compaction_is_looked_at_until_it_ended(server: CliServer, workspace: Workspace) -> None:
    def show(phase: str) -> None:
        compaction = {**DONE, "phase": phase}
        server.replies["GET", "/api/context"] = (200, {**USAGE, "compaction": compaction})

    show("started")
    clock = SteppedClock(lambda pauses: show("completed" if pauses == 2 else "retrying"))
    api = Api(workspace, server.runtime())
    assert outcome(api, "main", "op_1", clock.clock)["phase"] == "completed"
    assert len(clock.pauses) == 2
    with pytest.raises(RefusedError, match="restarted"):
        outcome(api, "main", "op_2", clock.clock)


def test_nothing_to_compact_and_a_reset(groupx: Groupx, server: CliServer) -> None:
    server.replies["POST", "/api/rooms/room:main/context/compact"] = (202, {"accepted": False})
    assert "nothing to sum up" in groupx("context", "compact").err
    path = "/api/rooms/room:main/context/reset"
    server.replies["POST", path] = (200, {"reset": True, "throughSeq": 7})
    assert "up to #7" in groupx("context", "reset", "--keep-sessions").out
    assert server.requests[-1][2]["nativeSessions"] is False  # type: ignore[index]
    server.replies["POST", path] = (200, {"reset": False, "throughSeq": 7})
    assert "Nothing was said" in groupx("context", "reset").err
