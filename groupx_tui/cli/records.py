"""What `groupx memory` and `groupx identity` do alike with one kind of record (`memory`,
`identity`: the key of a reply, and part of the address)."""

from __future__ import annotations

from typing import Any

from groupx_shared.ids import agent_actor
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.recordlines import print_page, print_whole, told
from groupx_tui.cli.session import connect


def show(call: Invocation, kind: str) -> int:
    """Print one record with where it comes from."""
    print_whole(call, connect(call).record(kind, call.required("record")), kind)
    return ExitCode.DONE


def history(call: Invocation, kind: str) -> int:
    """Print all versions of a record."""
    print_page(call, connect(call).record_history(kind, call.required("record")))
    return ExitCode.DONE


def add(call: Invocation, kind: str, body: dict[str, Any]) -> int:
    """Keep the text and print the record's id; `body` is what only this kind has."""
    said = {"kind": call.required("kind"), "content": call.required("text"), **_sourced(call)}
    told(call, connect(call).add_record(kind, {**said, **body}), kind)
    return ExitCode.DONE


def correct(call: Invocation, kind: str) -> int:
    """Write a corrected record and print its id."""
    return change(call, kind, "supersede", {"content": call.required("text"), **_sourced(call)})


def change(call: Invocation, kind: str, how: str, body: dict[str, Any]) -> int:
    """Do something else to a record and print its id."""
    told(call, connect(call).change_record(kind, call.required("record"), how, body), kind)
    return ExitCode.DONE


def actor_id(name: str | None) -> str | None:
    """`codex`, `@codex` -> `agent:codex`; an actor id is returned unchanged."""
    if name is None:
        return None
    return name if ":" in name else agent_actor(name.removeprefix("@"))


def _sourced(call: Invocation) -> dict[str, str]:
    """The event that says so, as a part of a body."""
    source = call.text("source")
    return {} if source is None else {"sourceEventId": source}
