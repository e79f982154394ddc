"""`groupx rooms`: list, create, rename, archive, restore."""

from __future__ import annotations

from typing import Any

from groupx_shared.text import safe_line
from groupx_tui.cli import output
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect


def run_list(call: Invocation) -> int:
    """Print the rooms, archived ones only with --all."""
    rooms = connect(call).rooms()
    if not call.flag("all"):
        rooms = [room for room in rooms if not room.get("archivedAt")]
    if call.flag("json"):
        output.json_line({"rooms": rooms})
        return ExitCode.DONE
    output.table(("ROOM", "TITLE", "MESSAGES", "LAST", "STATE"), map(_row, rooms))
    return ExitCode.DONE


def run_create(call: Invocation) -> int:
    """Make a room and print its id."""
    title = _title(call)
    return _print(call, connect(call).create_room(title, call.text("id")))


def run_rename(call: Invocation) -> int:
    """Change a room's title."""
    title = _title(call)
    return _print(call, connect(call).change_room(call.required("room"), title=title))


def run_archive(call: Invocation) -> int:
    """Put a room away."""
    return _print(call, connect(call).change_room(call.required("room"), archived=True))


def run_restore(call: Invocation) -> int:
    """Bring a room back."""
    return _print(call, connect(call).change_room(call.required("room"), archived=False))


def _title(call: Invocation) -> str:
    title = call.required("title").strip()
    if not title:
        raise CommandError("The title is empty.", ExitCode.USAGE)
    return title


def _print(call: Invocation, room: dict[str, Any]) -> int:
    if call.flag("json"):
        output.json_line({"room": room})
    else:
        output.line(safe_line(str(room["roomId"])))
    return ExitCode.DONE


def _row(room: dict[str, Any]) -> tuple[str, ...]:
    return (
        str(room.get("roomId")),
        str(room.get("title")),
        str(room.get("messageCount", 0)),
        f"#{room.get('lastSeq', 0)}",
        "archived" if room.get("archivedAt") else "",
    )
