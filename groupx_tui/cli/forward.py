"""`groupx forward`: passes a message on, with its author."""

from __future__ import annotations

from typing import Any

from groupx_shared.ids import new_id
from groupx_tui.cli.accept import accept
from groupx_tui.cli.api import Api, room_id
from groupx_tui.cli.clock import Clock, Deadline
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.send import finish, refuse_timeout_without_wait, targets
from groupx_tui.cli.session import connect
from groupx_tui.cli.textinput import message_text


def run(call: Invocation) -> int:
    """Forward, and wait if asked to."""
    refuse_timeout_without_wait(call)
    if call.flag("all") and call.names("to"):
        raise CommandError("Give --all or --to, not both.", ExitCode.USAGE)
    note = call.text("text")
    clock = Clock()
    deadline = Deadline(clock, call.number("timeout"))
    api = connect(call)
    event_id = call.required("event")
    message: dict[str, Any] = {
        "clientCommandId": call.text("id") or new_id("cmd"),
        "roomId": _room(api, call, event_id),
        "to": targets(api, call) if call.flag("all") or call.names("to") else [],
        "content": "" if note is None else message_text(note),
        "forwardedEventId": event_id,
    }
    return finish(api, call, accept(api, message, clock), clock, deadline)


def _room(api: Api, call: Invocation, event_id: str) -> str:
    named = call.text("room")
    return room_id(named) if named is not None else str(api.event(event_id)["roomId"])
