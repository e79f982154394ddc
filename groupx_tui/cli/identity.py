"""`groupx identity`: who agents are here, as they, people and other agents say."""

from __future__ import annotations

from typing import Any

from groupx_shared.ids import agent_actor
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.memory import actor_id, sourced
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.recordlines import print_page, print_whole, told
from groupx_tui.cli.session import connect

KEY = "identity"


def run_list(call: Invocation) -> int:
    """Print records, newest first."""
    page = connect(call).identity(
        subjectActorId=actor_id(call.text("agent")),
        authorActorId=actor_id(call.text("author")),
        kind=call.text("kind"),
        status=call.text("status"),
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
    """Say something about an agent and print the record's id."""
    body: dict[str, Any] = {
        "subjectActorId": agent_actor(call.required("agent").removeprefix("@")),
        "kind": call.required("kind"),
        "content": call.required("text"),
        **sourced(call),
    }
    told(call, connect(call).add_record(KEY, body), KEY)
    return ExitCode.DONE


def run_correct(call: Invocation) -> int:
    """Write a corrected record and print its id."""
    return _change(call, "supersede", {"content": call.required("text"), **sourced(call)})


def run_retract(call: Invocation) -> int:
    """Take a record back."""
    return _change(call, "retract", {})


def _change(call: Invocation, how: str, body: dict[str, Any]) -> int:
    told(call, connect(call).change_record(KEY, call.required("record"), how, body), KEY)
    return ExitCode.DONE
