"""Pictures that messages and tools name: looked at by a key, never by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from groupx_tui.background import in_daemon_thread
from groupx_tui.picture import Picture, load
from groupx_tui.screens.chooser import Choice, Chooser
from groupx_tui.screens.picture import PictureScreen, Terminal
from groupx_tui.state.pictures import pictures_in

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp


class PictureHandlers:
    """`picture.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    def show(self, argument: str) -> None:
        """Show the picture of this path, else that of the marked part, else the newest one."""
        if argument.strip():
            self._open(argument.strip())
            return
        found = self._named()
        if not found:
            self._app.tell("Nothing here names the file of a picture.")
        elif len(found) == 1:
            self._open(found[0])
        else:
            self._choose(found)

    def _has_colours(self) -> bool:
        console = self._app.console
        return not console.no_color and console.color_system in ("256", "truecolor")

    def _named(self) -> list[str]:
        marked = self._app.handlers.marked_block()
        if self._app.room.place == "timeline" and marked is not None:
            return pictures_in(marked)
        for block in reversed(self._app.view.timeline.blocks):
            if found := pictures_in(block):
                return found
        return []

    def _choose(self, found: list[str]) -> None:
        choices = [Choice(path, Path(path).name, path) for path in reversed(found)]

        def chosen(path: str | None) -> None:
            if path is not None:
                self._open(path)

        self._app.push_screen(Chooser(self._app.keymap, "Which picture?", choices), chosen)

    def _open(self, name: str) -> None:
        path = self._app.work_files.folder / Path(name).expanduser()

        def loaded(picture: Picture) -> None:
            terminal = Terminal(
                self._app.write_terminal,
                self._app.shows_pictures,
                self._app.cell_pixels,
                has_colours=self._has_colours(),
            )
            self._app.push_screen(PictureScreen(self._app.keymap, picture, terminal))

        self._app.attempt(in_daemon_thread(lambda: load(path), "groupx-picture"), loaded)
