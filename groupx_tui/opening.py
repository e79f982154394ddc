"""`run_tui`: makes the window for a workspace and runs it in this terminal.

Owns what stands around the app: the terminal's own state, which is put right before and marked as
taken meanwhile, and the stores and the server that the app is given. Counterpart:
`groupx_tui.app`, which knows none of them.
"""

from __future__ import annotations

import termios
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual.driver import Driver

from groupx_shared.ids import MAIN_ROOM
from groupx_shared.runtime import RuntimeFile
from groupx_shared.workspace import Workspace
from groupx_tui.app import GroupXApp
from groupx_tui.commandline import CommandLine
from groupx_tui.setup import load_setup
from groupx_tui.state.model import ClientView
from groupx_tui.terminal import terminal_attributes
from groupx_tui.terminalreset import leave_mark, remove_mark, repair_if_left
from groupx_tui.theme import for_few_colours

if TYPE_CHECKING:
    from groupx_tui.client.session import ClientSession

REPAIRED: Final = "The last window in this terminal was killed; the terminal was put right."


def run_tui(
    workspace: Workspace,
    room: str | None = None,
    elsewhere: Callable[[], RuntimeFile] | None = None,
) -> int:
    """Open the window on `workspace` and return the exit code when it is closed. `elsewhere` finds
    a server that is not the workspace's own, and that is not started here."""
    return run_app(build_app(workspace, room, elsewhere))


def run_app(app: GroupXApp) -> int:
    """Run `app` in this terminal, which is put right before if need be, and marked as taken."""
    if _repair_terminal():
        app.add_note(REPAIRED)
    if app.console.no_color or app.console.color_system == "standard":
        app.draw_in_few_colours()
        chosen = None if app.console.no_color else app.preferences.chosen.theme
        app.theme, note = for_few_colours(app.shelf, app.theme, chosen)
        app.add_note(note)
    app.terminal_attributes = terminal_attributes()
    mark = leave_mark(app.terminal_attributes)
    try:
        app.run(mouse=app.preferences.chosen.mouse is not False)
    finally:
        remove_mark(mark)
    return app.return_code or 0


def _repair_terminal() -> bool:
    """Put the terminal right that a killed window left. One that cannot be set is used as it is."""
    try:
        return repair_if_left()
    except (OSError, termios.error):
        return False


def build_app(
    workspace: Workspace,
    room: str | None = None,
    elsewhere: Callable[[], RuntimeFile] | None = None,
    driver: type[Driver] | None = None,
) -> GroupXApp:
    """Put together the app for `workspace`, with the person's themes, keys and choices. `driver`
    draws it elsewhere than in this terminal."""
    from groupx_tui.client.drafts import DraftStore
    from groupx_tui.client.history import HistoryStore

    room_id = room or MAIN_ROOM

    def open_session() -> ClientSession:
        from groupx_tui.client.session import ClientSession

        return ClientSession(workspace, room_id=room_id, find_server=elsewhere)

    def start_server() -> None:
        from groupx_tui.cli.clock import Clock
        from groupx_tui.cli.launch import ensure_server

        if elsewhere is None:
            ensure_server(workspace, Clock())

    is_here = elsewhere is None and not workspace.is_default
    app = GroupXApp(
        open_session,
        DraftStore(workspace),
        replace(load_setup(), driver=driver),
        start_server=start_server,
        first_view=ClientView(room_id=room_id),
        history=HistoryStore(workspace),
        folder=workspace.root if is_here else Path.cwd(),
        command_line=CommandLine(workspace) if elsewhere is None else None,
    )
    app.room.banner.is_elsewhere = elsewhere is not None
    return app
