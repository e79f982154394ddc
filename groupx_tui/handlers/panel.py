"""The side panel, and going from one part of the window to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp


class PanelHandlers:
    """`panel.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    def toggle(self, argument: str) -> None:
        """Fold or unfold it, and remember that."""
        self._app.remember(panel=self._app.room.toggle_panel())

    def open(self, argument: str) -> None:
        """Go to the marked room, or address the marked agent."""
        self._app.room.panel.open()

    def up(self, argument: str) -> None:
        """Mark the line before."""
        self._app.room.panel.move(-1)

    def down(self, argument: str) -> None:
        """Mark the line after."""
        self._app.room.panel.move(1)

    def leave(self, argument: str) -> None:
        """Back to writing."""
        self._app.room.composer.editor.focus()


class FocusHandlers:
    """`focus.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    def next(self, argument: str) -> None:
        """Writing, reading, rooms and agents, writing …"""
        self._app.room.focus_part(1)

    def previous(self, argument: str) -> None:
        """The other way round."""
        self._app.room.focus_part(-1)
