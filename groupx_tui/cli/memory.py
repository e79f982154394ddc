"""`groupx memory`: what is remembered, corrected, taken back."""

from __future__ import annotations

from typing import Any

from groupx_shared.ids import agent_actor
from groupx_tui.cli import records
from groupx_tui.cli.api import room_id
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.recordlines import print_page
from groupx_tui.cli.session import connect

KEY = "memory"


def run_list(call: Invocation) -> int:
    """Print records, newest first."""
    scope = {} if call.flag("all") else _scope(call)
    page = connect(call).memory(
        scopeType=scope.get("type"),
        scopeId=scope.get("id"),
        kind=call.text("kind"),
        authorActorId=records.actor_id(call.text("author")),
        subjectActorId=records.actor_id(call.text("about")),
        status=call.text("status"),
        pinned="true" if call.flag("pinned") else None,
        agentMemoryType="dated" if call.flag("dated") else None,
        includeHistory="true" if call.flag("history") else None,
        limit=call.text("limit"),
        cursor=call.text("cursor"),
    )
    print_page(call, page)
    return ExitCode.DONE


def run_show(call: Invocation) -> int:
    """Print one record with where it comes from."""
    return records.show(call, KEY)


def run_history(call: Invocation) -> int:
    """Print all versions of a record."""
    return records.history(call, KEY)


def run_add(call: Invocation) -> int:
    """Keep a record and print its id."""
    body: dict[str, Any] = {"scope": _scope(call), "pinned": call.flag("pin")}
    if (about := records.actor_id(call.text("about"))) is not None:
        body["subjectActorId"] = about
    return records.add(call, KEY, body)


def run_correct(call: Invocation) -> int:
    """Write a corrected record and print its id."""
    return records.correct(call, KEY)


def run_retract(call: Invocation) -> int:
    """Take a record back."""
    return records.change(call, KEY, "retract", {})


def run_pin(call: Invocation) -> int:
    """Pin a record."""
    return records.change(call, KEY, "pin", {"pinned": True})


def run_unpin(call: Invocation) -> int:
    """Unpin a record."""
    return records.change(call, KEY, "pin", {"pinned": False})


def _scope(call: Invocation) -> dict[str, str]:
    if (agent := call.text("agent")) is not None:
        return {"type": "agent", "id": agent_actor(agent.removeprefix("@"))}
    if (root := call.text("root")) is not None:
        return {"type": "correlation", "id": root}
    return {"type": "room", "id": room_id(call.required("room"))}
