"""`groupx context`: what agents are told of a room, how full that is, summing it up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from groupx_shared.errors import RefusedError
from groupx_shared.text import safe_text
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.api import Api, Json
from groupx_tui.cli.clock import Clock
from groupx_tui.cli.contextlines import (
    compaction_line,
    left_out_lines,
    preview_head,
    preview_rows,
    summary_lines,
    usage_lines,
)
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect

POLL_S: Final = 0.3
"""Between two looks at a compaction, which takes an agent's whole answer."""


def run_usage(call: Invocation) -> int:
    """Print how full a packet of the room would be."""
    usage = connect(call).context_usage(call.required("room"))
    if call.flag("json"):
        output.json_line(usage)
        return ExitCode.DONE
    for line in usage_lines(usage):
        output.line(line)
    return ExitCode.DONE


def run_summary(call: Invocation) -> int:
    """Print the summary that stands for the room's older messages."""
    summary = connect(call).context_summary(call.required("room"))
    if call.flag("json"):
        output.json_line(summary)
        return ExitCode.DONE
    for line in summary_lines(summary):
        output.line(line)
    return ExitCode.DONE


def run_preview(call: Invocation) -> int:
    """Print what an agent would be sent: its sections, or the whole text."""
    api = connect(call)
    preview = api.context_preview(
        call.required("room"),
        agent=call.text("to") or _default_agent(api),
        session=call.text("session"),
        text=call.text("text"),
        replyTo=call.text("reply_to"),
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
    for line in (*preview_head(preview), *preview_rows(preview), *left_out_lines(preview)):
        output.line(line)


def run_compact(call: Invocation) -> int:
    """Have a room summed up and wait for it."""
    api, room = connect(call), call.required("room")
    reply = api.compact(room, call.required("keep"))
    if not reply["accepted"]:
        diagnostics.say("There is nothing to sum up.")
        return ExitCode.DONE
    found = outcome(api, room, str(reply["operationId"]), Clock(), _progress())
    if call.flag("json"):
        output.json_line(found)
    else:
        output.line(compaction_line(found))
    return ExitCode.DONE if found["phase"] == "completed" else ExitCode.REFUSED


def _progress() -> Callable[[Json], None]:
    """Says on stderr how it goes on, each time something is new."""
    last = ""

    def tell(compaction: Json) -> None:
        nonlocal last
        line = compaction_line(compaction)
        if line != last:
            diagnostics.say(line)
            last = line

    return tell


def outcome(
    api: Api, room: str, operation_id: str, clock: Clock, progress: Callable[[Json], object]
) -> dict[str, Any]:
    """Look until the operation has ended, which the server bounds, and return how."""
    while True:
        compaction = api.context_usage(room).get("compaction")
        if not isinstance(compaction, dict) or compaction["operationId"] != operation_id:
            raise RefusedError(
                "Another summing up began meanwhile. How it stands: groupx context usage"
            )
        if compaction["phase"] in ("completed", "failed", "interrupted"):
            return compaction
        progress(compaction)
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
