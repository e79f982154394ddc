"""`groupx memory days`."""

from __future__ import annotations

import json
from typing import Any, Final

from groupx_tui.cli.days import state
from support.cli_run import Groupx
from support.cli_server import CliServer

DAY: Final[dict[str, Any]] = {
    "roomId": "room:main",
    "actorId": "agent:codex",
    "day": "2026-11-30",
    "turns": 9,
    "waitingTurns": 0,
    "waitingCharacters": 0,
    "characters": 0,
    "failures": 0,
}


def test_a_day_is_shown_with_its_record_and_what_waits(groupx: Groupx, server: CliServer) -> None:
    written = {"memoryId": "mem_1", "characters": 1_200, "writtenAt": "2026-11-30T09:15:00.000Z"}
    reply = {"days": [{**DAY, **written, "waitingTurns": 2, "waitingCharacters": 300}]}
    server.replies["GET", "/api/days"] = (200, reply)
    result = groupx("memory", "days", "--agent", "@codex", "--room", "main")
    assert server.requests[-1][1] == "/api/days?roomId=room:main&actorId=agent:codex&limit=100"
    line = result.out.splitlines()[1]
    assert line.split()[:5] == ["2026-11-30", "codex", "main", "9", "mem_1"]
    assert "1,200 characters, " in line
    assert "2 turns (300 characters) to write down" in line
    assert json.loads(groupx("memory", "days", "--json").out) == reply
    server.replies["GET", "/api/days"] = (200, {"days": []})
    assert "No agent completed a turn yet." in groupx("memory", "days").err


def test_why_a_day_is_not_written_is_said() -> None:
    assert state(DAY) == "nothing worth keeping"
    failed = {
        **DAY,
        "waitingTurns": 9,
        "waitingCharacters": 4_000,
        "failures": 2,
        "errorCode": "AGENT_ERROR",
        "nextAttemptAt": "2026-12-01T00:04:00.000Z",
    }
    assert state(failed) == (
        "9 turns (4,000 characters) to write down; "
        "failed 2 times (AGENT_ERROR), again from 00:04:00 UTC on"
    )
