"""`groupx tail`: what happens, as it happens, until Ctrl+C. Waits out a restart of the server."""

from __future__ import annotations

from groupx_shared.errors import GroupXError
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.api import Api
from groupx_tui.cli.clock import Clock, Deadline
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.eventlines import SHOWN_TYPES, event_lines
from groupx_tui.cli.feed import EventFeed, FeedEvent, FeedRules
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect


def run(call: Invocation) -> int:
    """Print events until Ctrl+C, which is the normal end."""
    clock = Clock()
    api = connect(call)
    since = call.integer("since")
    rules = FeedRules(Deadline(clock, None), on_lost=_say_lost, on_found=_say_found)
    feed = EventFeed(api, _newest(api) if since is None else since, call.text("room"), rules, clock)
    try:
        for item in feed:
            if call.flag("all_types") or item.event.get("type") in SHOWN_TYPES:
                _show(item, as_json=call.flag("json"))
    except KeyboardInterrupt:
        return ExitCode.DONE
    return ExitCode.DONE


def _newest(api: Api) -> int:
    """Seq of the newest event of all rooms."""
    return max((int(room.get("lastSeq") or 0) for room in api.rooms()), default=0)


def _show(item: FeedEvent, *, as_json: bool) -> None:
    output.write(output.harmless_json(item.raw) + "\n" if as_json else event_lines(item.event))


def _say_lost(error: GroupXError) -> None:
    diagnostics.say(f"{error.message} Waiting for the server to come back …")


def _say_found() -> None:
    diagnostics.say("The server is back.")
