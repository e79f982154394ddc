"""`groupx memory days`: which days agents wrote down, and what waits of them."""

from __future__ import annotations

from groupx_shared.english import counted
from groupx_shared.ids import agent_actor
from groupx_shared.text import safe_line
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.api import Json, room_id, short
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.eventlines import clock_time
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect


def run(call: Invocation) -> int:
    """Print one line for each day, the newest first."""
    room, agent = call.text("room"), call.text("agent")
    found = connect(call).days(
        roomId=None if room is None else room_id(room),
        actorId=None if agent is None else agent_actor(agent.removeprefix("@")),
        limit=call.text("limit"),
    )
    if call.flag("json"):
        output.json_line(found)
        return ExitCode.DONE
    rows = [
        (
            str(day["day"]),
            short(str(day["actorId"])),
            safe_line(str(day["roomId"]).removeprefix("room:"), 40),
            f"{day['turns']:,}",
            str(day.get("memoryId") or ""),
            state(day),
        )
        for day in found["days"]
    ]
    if not rows:
        diagnostics.say("No agent completed a turn yet.")
        return ExitCode.DONE
    output.table(("DAY", "AGENT", "ROOM", "TURNS", "RECORD", "STATE"), rows, last=80)
    return ExitCode.DONE


def state(day: Json) -> str:
    """What is written of a day, what waits, and why."""
    parts = []
    if day.get("memoryId"):
        at = clock_time(str(day["writtenAt"])) if day.get("writtenAt") else "?"
        parts.append(f"{day['characters']:,} characters, {at}")
    if waiting := day["waitingTurns"]:
        size = f"{day['waitingCharacters']:,} characters"
        parts.append(f"{counted(waiting, 'turn')} ({size}) to write down")
    elif not parts:
        parts.append("nothing worth keeping")
    if day["failures"]:
        again = str(day.get("nextAttemptAt") or "")[11:19]
        why = safe_line(str(day.get("errorCode") or ""), 60)
        times = counted(day["failures"], "time")
        parts.append(f"failed {times} ({why}), again from {again} UTC on")
    return "; ".join(parts)
