"""`groupx memory`: what is remembered, corrected, taken back."""

from __future__ import annotations

from typing import Any

from groupx_shared.ids import agent_actor
from groupx_shared.text import safe_line, safe_text
from groupx_tui.cli import output
from groupx_tui.cli.api import room_id, short
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.eventlines import clock_time
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect


def run_list(call: Invocation) -> int:
    """Print records, newest first."""
    api = connect(call)
    scope = _scope(call)
    page = api.memory(
        scopeType=scope["type"],
        scopeId=scope["id"],
        includeHistory="true" if call.flag("history") else "false",
    )
    if call.flag("json"):
        output.json_line(page)
        return ExitCode.DONE
    for record in page["items"]:
        _print(record)
    return ExitCode.DONE


def run_remember(call: Invocation) -> int:
    """Keep a record and print its id."""
    body: dict[str, Any] = {
        "scope": _scope(call),
        "kind": call.required("kind"),
        "content": call.required("text"),
        "pinned": call.flag("pin"),
    }
    if (source := call.text("source")) is not None:
        body["sourceEventId"] = source
    return _told(call, connect(call).remember(body))


def run_correct(call: Invocation) -> int:
    """Write a corrected record and print its id."""
    body = {"content": call.required("text")}
    return _told(call, connect(call).change_memory(call.required("record"), "supersede", body))


def run_retract(call: Invocation) -> int:
    """Take a record back."""
    return _told(call, connect(call).change_memory(call.required("record"), "retract"))


def run_pin(call: Invocation) -> int:
    """Pin a record."""
    return _pin(call, is_pinned=True)


def run_unpin(call: Invocation) -> int:
    """Unpin a record."""
    return _pin(call, is_pinned=False)


def _pin(call: Invocation, *, is_pinned: bool) -> int:
    body = {"pinned": is_pinned}
    return _told(call, connect(call).change_memory(call.required("record"), "pin", body))


def _scope(call: Invocation) -> dict[str, str]:
    if (agent := call.text("agent")) is not None:
        return {"type": "agent", "id": agent_actor(agent.removeprefix("@"))}
    return {"type": "room", "id": room_id(call.required("room"))}


def _told(call: Invocation, reply: dict[str, Any]) -> int:
    if call.flag("json"):
        output.json_line(reply)
    else:
        output.line(safe_line(str(reply["memory"]["memoryId"])))
    return ExitCode.DONE


def _print(record: dict[str, Any]) -> None:
    marks = [safe_line(str(record["kind"]), 40), short(str(record["authorActorId"]))]
    if record.get("pinnedAt"):
        marks.append("pinned")
    if record["status"] != "active":
        marks.append(safe_line(str(record["status"]), 40))
    if record.get("agentMemoryType"):
        marks.append(safe_line(str(record["agentMemoryType"]), 40))
    head = " · ".join([clock_time(record["createdAt"]), *marks])
    output.line(f"{head} · {output.styled(safe_line(str(record['memoryId']), 80), '2')}")
    for line in safe_text(str(record["content"])).rstrip("\n").split("\n"):
        output.line(f"  {line}".rstrip())
