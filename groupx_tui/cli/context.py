"""`groupx context`: what agents are told of a room, how full that is, summing it up."""

from __future__ import annotations

from typing import Any, Final

from groupx_shared.errors import RefusedError
from groupx_shared.text import safe_line, safe_text
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.api import Api, Json, short
from groupx_tui.cli.clock import Clock
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect

POLL_S: Final = 0.3
"""Between two looks at a compaction, which takes an agent's whole answer."""
BAR: Final = 24
"""Columns of a full bar."""


def run_usage(call: Invocation) -> int:
    """Print how full a packet of the room would be."""
    usage = connect(call).context_usage(call.required("room"))
    if call.flag("json"):
        output.json_line(usage)
        return ExitCode.DONE
    for line in usage_lines(usage):
        output.line(line)
    return ExitCode.DONE


def usage_lines(usage: Json) -> list[str]:
    """Honest words: characters, not tokens; what happens when it is full."""
    lines = [
        (
            f"{usage['estimatedCharacters']:,} of {usage['maxCharacters']:,} characters"
            f" ({usage['utilizationPercent']:g} %), about, if all of it was told"
        ),
        (
            f"{usage['uncompactedMessageCount']:,} messages are told as they are; above"
            f" {usage['compactionTriggerCharacters']:,} characters the older ones are summed up"
        ),
    ]
    if usage.get("summaryThroughSeq"):
        size = usage.get("summaryCharacters") or 0
        lines.append(
            f"A summary of {size:,} characters tells what is up to #{usage['summaryThroughSeq']}"
        )
    if usage.get("resetThroughSeq"):
        lines.append(f"Nothing up to #{usage['resetThroughSeq']} is told any more")
    if compaction := usage.get("compaction"):
        lines.append(compaction_line(compaction))
    return lines


def compaction_line(compaction: Json) -> str:
    """How a compaction stands, in a sentence."""
    phase = str(compaction["phase"])
    count = compaction.get("messageCount", 0)
    if phase == "completed":
        who = short(str(compaction.get("generatorActorId", "")))
        size = compaction.get("summaryCharacters") or 0
        return f"Summed up: {count} messages in {size:,} characters, by {who}"
    if phase == "failed":
        return safe_line(f"Not summed up: {compaction.get('errorMessage', '')}", 1_000)
    if phase == "retrying":
        return f"Summing up {count} messages, try {compaction['attempt']}"
    return f"Summing up {count} messages"


def run_preview(call: Invocation) -> int:
    """Print what an agent would be sent: its sections, or the whole text."""
    api = connect(call)
    preview = api.context_preview(
        call.required("room"),
        agent=call.text("to") or _default_agent(api),
        session=call.text("session"),
        text=call.text("text"),
    )
    if call.flag("json"):
        output.json_line(preview)
    elif call.flag("whole"):
        output.write(safe_text(str(preview["text"])) + "\n")
    else:
        _print_sections(preview)
    if preview["needsCompaction"] and not call.flag("json"):
        diagnostics.say("Messages do not fit; before a turn they would be summed up.")
    return ExitCode.DONE


def _default_agent(api: Api) -> str:
    for agent in api.agents():
        if agent.get("isDefault"):
            return str(agent["actorId"])
    raise RefusedError("There is no default agent. Name one: --to AGENT")


def _print_sections(preview: Json) -> None:
    whole, limit = preview["characters"], preview["maxCharacters"]
    output.line(
        f"{short(str(preview['actorId']))}, {preview['session']} session: {whole:,} of {limit:,} "
        f"characters; optional parts stay below {preview['softCharacters']:,}"
    )
    rows = [
        (
            str(section["name"]),
            f"{section['characters']:,}",
            _bar(section["characters"], max(1, whole)),
            str(section["included"]),
            str(section["omitted"] or ""),
            "always" if section["mandatory"] else "",
        )
        for section in preview["sections"]
    ]
    output.table(("section", "characters", "", "in", "left out", ""), rows)
    for section in preview["sections"]:
        for left in section.get("leftOut", ()):
            name = safe_line(str(section["name"]), 60)
            output.line(
                f"left out of {name}: {safe_line(str(left['id']), 80)}, "
                f"{left['characters']:,} characters"
            )


def _bar(part: int, whole: int) -> str:
    return "█" * max(1, round(BAR * part / whole))


def run_compact(call: Invocation) -> int:
    """Have a room summed up and wait for it."""
    api, room = connect(call), call.required("room")
    reply = api.compact(room, call.required("keep"))
    if not reply["accepted"]:
        diagnostics.say("There is nothing to sum up.")
        return ExitCode.DONE
    found = outcome(api, room, str(reply["operationId"]), Clock())
    if call.flag("json"):
        output.json_line(found)
    else:
        output.line(compaction_line(found))
    return ExitCode.DONE if found["phase"] == "completed" else ExitCode.REFUSED


def outcome(api: Api, room: str, operation_id: str, clock: Clock) -> dict[str, Any]:
    """Look until the operation has ended, which the server bounds, and return how."""
    while True:
        compaction = api.context_usage(room).get("compaction")
        if not isinstance(compaction, dict) or compaction["operationId"] != operation_id:
            raise RefusedError("The server was restarted meanwhile; nothing was summed up.")
        if compaction["phase"] in ("completed", "failed"):
            return compaction
        clock.pause(POLL_S)


def run_reset(call: Invocation) -> int:
    """Put the floor below which nothing is told."""
    api = connect(call)
    reply = api.reset_context(call.required("room"), native=not call.flag("keep_sessions"))
    if call.flag("json"):
        output.json_line(reply)
    elif reply["reset"]:
        output.line(f"Agents are told nothing any more of what is up to #{reply['throughSeq']}.")
    else:
        diagnostics.say("Nothing was said since the last time.")
    return ExitCode.DONE
