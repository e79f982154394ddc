"""`groupx identity`: who agents are here, as they, people and other agents say."""

from __future__ import annotations

from groupx_shared.ids import agent_actor
from groupx_tui.cli import records
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.recordlines import print_page
from groupx_tui.cli.session import connect

KEY = "identity"


def run_list(call: Invocation) -> int:
    """Print records, newest first."""
    page = connect(call).identity(
        subjectActorId=records.actor_id(call.text("agent")),
        authorActorId=records.actor_id(call.text("author")),
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
    return records.show(call, KEY)


def run_history(call: Invocation) -> int:
    """Print all versions of a record."""
    return records.history(call, KEY)


def run_add(call: Invocation) -> int:
    """Say something about an agent and print the record's id."""
    subject = agent_actor(call.required("agent").removeprefix("@"))
    return records.add(call, KEY, {"subjectActorId": subject})


def run_correct(call: Invocation) -> int:
    """Write a corrected record and print its id."""
    return records.correct(call, KEY)


def run_retract(call: Invocation) -> int:
    """Take a record back."""
    return records.change(call, KEY, "retract", {})
