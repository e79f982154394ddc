"""`groupx context`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groupx_shared.errors import RefusedError
from groupx_shared.workspace import Workspace
from groupx_tui.cli.api import Api
from groupx_tui.cli.context import outcome
from groupx_tui.cli.contextlines import compaction_line, gauge
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
    assert "left out of room_delta_since_cursor: evt_1, 5,000\n" in result.out
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
    seen: list[str] = []
    found = outcome(api, "main", "op_1", clock.clock, lambda told: seen.append(told["phase"]))
    assert found["phase"] == "completed"
    assert (len(clock.pauses), seen) == (2, ["started", "retrying"])
    with pytest.raises(RefusedError, match="Another summing up"):
        outcome(api, "main", "op_2", clock.clock, lambda told: None)


def test_who_writes_and_which_part_is_said_while_it_runs() -> None:
    running = {**DONE, "phase": "started", "step": "days", "generatorActorId": None}
    assert compaction_line(running) == "Summing up 30 messages: agents write down their days first"
    running |= {"step": "summary", "generatorActorId": "agent:codex", "part": 2, "parts": 3}
    assert compaction_line(running) == "Summing up 30 messages, part 2 of 3: codex writes"
    broken = {**DONE, "phase": "interrupted", "errorMessage": "Nothing was kept."}
    assert compaction_line(broken) == "Summing up was interrupted. Nothing was kept."


def test_the_bar_of_the_budget_says_where_summing_up_begins() -> None:
    assert gauge(0, 0, 1_000, 750) == "░" * 38 + "│" + "░" * 12
    full = gauge(100, 5_000, 1_000, 750)
    assert full == "█" * 5 + "▓" * 33 + "│" + "▓" * 12
    assert gauge(1, 1, 1_000_000, 750_000).startswith("█▓░")


def test_the_summary_is_shown_with_its_range_author_date_and_sizes(
    groupx: Groupx, server: CliServer
) -> None:
    path = "/api/rooms/room:main/context/summary"
    server.replies["GET", path] = (200, {"roomId": "room:main", "exists": False})
    assert "Nothing is summed up" in groupx("context", "summary").out
    summary = {
        "roomId": "room:main",
        "exists": True,
        "summaryId": "summary_1",
        "fromSeq": 1,
        "throughSeq": 90,
        "messageCount": 40,
        "messageCharacters": 20_000,
        "authorActorId": "agent:codex",
        "createdAt": "2026-11-30T09:15:00.000Z",
        "characters": 1_000,
        "content": "- The port is 4310.\x1b[2J",
    }
    server.replies["GET", path] = (200, summary)
    head, author, _, text = groupx("context", "summary").out.splitlines()
    assert head == "#1 to #90: 40 messages, 20,000 characters, told in 1,000 (5.0%)"
    assert author.startswith("by codex · ")
    assert author.endswith(" · summary_1")
    assert text == "- The port is 4310.␛[2J"
    assert json.loads(groupx("context", "summary", "--json").out)["fromSeq"] == 1


def test_everything_fits_into_eighty_columns(groupx: Groupx, server: CliServer) -> None:
    section = {**PREVIEW["sections"][0], "name": "configured_agent_identity", "omitted": 1_234}
    wide = {**PREVIEW, "characters": 250_000, "sections": [{**section, "characters": 250_000}]}
    server.replies["GET", "/api/rooms/room:main/context"] = (200, wide)
    server.replies["GET", "/api/context"] = (200, USAGE)
    shown = groupx("context", "preview", "--to", "codex").out + groupx("context", "usage").out
    assert [line for line in shown.splitlines() if len(line) > 80] == []


def test_nothing_to_compact_and_a_reset(groupx: Groupx, server: CliServer) -> None:
    server.replies["POST", "/api/rooms/room:main/context/compact"] = (202, {"accepted": False})
    assert "nothing to sum up" in groupx("context", "compact").err
    path = "/api/rooms/room:main/context/reset"
    server.replies["POST", path] = (200, {"reset": True, "throughSeq": 7})
    assert "up to #7" in groupx("context", "reset", "--keep-sessions").out
    assert server.requests[-1][2]["nativeSessions"] is False  # type: ignore[index]
    server.replies["POST", path] = (200, {"reset": False, "throughSeq": 7})
    assert "Nothing was said" in groupx("context", "reset").err
