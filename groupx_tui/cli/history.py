"""`groupx history`: the newest part of a room, oldest first."""

from __future__ import annotations

from typing import Any, Final

from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.api import Api
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.eventlines import SHOWN_TYPES, event_lines
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect

MAX_PAGE: Final = 500
"""As `wire.requests.MAX_PAGE`; that module is not loaded by the hot commands."""


def run(call: Invocation) -> int:
    """Print the last events of a room."""
    api = connect(call)
    limit = call.integer("limit") or 0
    types = None if call.flag("all_types") else SHOWN_TYPES
    events, has_more = _newest(api, call.required("room"), limit, call.integer("before"), types)
    for event in events:
        if call.flag("json"):
            output.json_line(event)
        else:
            output.write(event_lines(event))
    if has_more and events and diagnostics.is_terminal():
        diagnostics.say(f"Older ones: groupx history --before {events[0]['seq']}")
    return ExitCode.DONE


def _newest(
    api: Api, room: str, limit: int, before: int | None, types: tuple[str, ...] | None
) -> tuple[list[dict[str, Any]], bool]:
    """The last `limit` events before `before`, oldest first, and whether there are older ones."""
    pages: list[list[dict[str, Any]]] = []
    missing, has_more = limit, True
    while missing > 0 and has_more:
        page = api.page(room, before=before, limit=min(missing, MAX_PAGE), type=types)
        events = list(page["events"])
        has_more = bool(page.get("hasMoreBefore")) and bool(events)
        if events:
            before = int(events[0]["seq"])
        pages.append(events)
        missing -= len(events)
    return [event for page in reversed(pages) for event in page], has_more
