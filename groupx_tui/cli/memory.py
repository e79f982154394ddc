"""`groupx memory`: what is remembered, corrected, taken back."""

from __future__ import annotations

from typing import Any

from groupx_shared.ids import agent_actor
from groupx_tui.cli.api import room_id
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.recordlines import print_page, print_whole, told
from groupx_tui.cli.session import connect

KEY = "memory"


def run_list(call: Invocation) -> int:
    """Print records, newest first."""
    scope = {} if call.flag("all") else _scope(call)
    page = connect(call).memory(
        scopeType=scope.get("type"),
        scopeId=scope.get("id"),
        kind=call.text("kind"),
        authorActorId=actor_id(call.text("author")),
        subjectActorId=actor_id(call.text("about")),
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
    print_whole(call, connect(call).record(KEY, call.required("record")), KEY)
    return ExitCode.DONE


def run_history(call: Invocation) -> int:
    """Print all versions of a record."""
    print_page(call, connect(call).record_history(KEY, call.required("record")))
    return ExitCode.DONE


def run_add(call: Invocation) -> int:
    """Keep a record and print its id."""
    body: dict[str, Any] = {
        "scope": _scope(call),
        "kind": call.required("kind"),
        "content": call.required("text"),
        "pinned": call.flag("pin"),
        **sourced(call),
    }
    if (about := actor_id(call.text("about"))) is not None:
        body["subjectActorId"] = about
    told(call, connect(call).add_record(KEY, body), KEY)
    return ExitCode.DONE


def run_correct(call: Invocation) -> int:
    """Write a corrected record and print its id."""
    return _change(call, "supersede", {"content": call.required("text"), **sourced(call)})


def run_retract(call: Invocation) -> int:
    """Take a record back."""
    return _change(call, "retract", {})


def run_pin(call: Invocation) -> int:
    """Pin a record."""
    return _change(call, "pin", {"pinned": True})


def run_unpin(call: Invocation) -> int:
    """Unpin a record."""
    return _change(call, "pin", {"pinned": False})


def actor_id(name: str | None) -> str | None:
    """`codex`, `@codex` -> `agent:codex`; an actor id is returned unchanged."""
    if name is None:
        return None
    return name if ":" in name else agent_actor(name.removeprefix("@"))


def sourced(call: Invocation) -> dict[str, str]:
    """The event that says so, as a part of a body."""
    source = call.text("source")
    return {} if source is None else {"sourceEventId": source}


def _change(call: Invocation, how: str, body: dict[str, Any]) -> int:
    told(call, connect(call).change_record(KEY, call.required("record"), how, body), KEY)
    return ExitCode.DONE


def _scope(call: Invocation) -> dict[str, str]:
    if (agent := call.text("agent")) is not None:
        return {"type": "agent", "id": agent_actor(agent.removeprefix("@"))}
    if (root := call.text("root")) is not None:
        return {"type": "correlation", "id": root}
    return {"type": "room", "id": room_id(call.required("room"))}
