"""The window itself: palette, help, theme, closing; and starting the server again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from textual.app import SuspendNotSupported

from groupx_shared.errors import GroupXError, WorkspaceError
from groupx_tui.actions import ACTIONS
from groupx_tui.screens.chooser import Choice, Chooser
from groupx_tui.screens.help import help_screen
from groupx_tui.terminal import WindowDriver

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp

MOUSE_WORDS: Final = {
    True: "The mouse is used here: wheel, clicks, selecting.",
    False: "The mouse is left to the terminal; everything here can be done by key.",
}
CLEARED: Final = "Cleared; the up key brings it back."


class WindowHandlers:
    """`app.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    def palette(self, argument: str) -> None:
        """Choose anything that can be done here."""
        keymap = self._app.keymap
        choices = [
            Choice(
                action.id,
                action.label,
                action.help,
                keymap.shown(action.id) or (f"/{action.slash}" if action.slash else ""),
            )
            for action in sorted(ACTIONS.values(), key=lambda action: action.where != "anywhere")
            if action.in_palette and action.id != "app.palette"
        ]

        def done(action_id: str | None) -> None:
            if action_id is not None:
                self._app.run_worker(self._app.action_act(action_id), group="commands")

        self._app.push_screen(Chooser(keymap, "Commands", choices), done)

    def help(self, argument: str) -> None:
        """All keys, those of this place first."""
        self._app.push_screen(help_screen(self._app.keymap, self._app.room.place))

    def theme(self, argument: str) -> None:
        """Draw in the theme of this name, else choose one while seeing it."""
        self._app.handlers.themes.read()
        if argument:
            if self._app.show_theme(argument):
                self._app.remember(theme=argument)
            return
        before = self._app.theme
        choices = [
            Choice(theme.name, theme.title, right="dark" if theme.dark else "light")
            for theme in self._app.shelf.themes.values()
        ]

        def done(name: str | None) -> None:
            self._app.show_theme(name or before)
            if name is not None:
                self._app.remember(theme=name)

        self._app.push_screen(
            Chooser(
                self._app.keymap, "Theme", choices, marked=before, on_mark=self._app.show_theme
            ),
            done,
        )

    def attention(self, argument: str) -> None:
        """What happens when an answer comes while the person looks elsewhere."""
        self._app.handlers.attention.choose(argument.strip().lower())

    def mouse(self, argument: str) -> None:
        """`on` or `off`; else the other one."""
        was_on = self._app.preferences.chosen.mouse is not False
        is_on = {"on": True, "off": False}.get(argument.strip().lower(), not was_on)
        if isinstance(self._app._driver, WindowDriver):
            self._app._driver.set_mouse(is_on=is_on)
        try:
            self._app.preferences.choose(mouse=is_on)
        except WorkspaceError as error:
            self._app.tell(error.message, "warning")
        self._app.tell(MOUSE_WORDS[is_on])

    def export(self, argument: str) -> None:
        """Write the room, or all rooms, to a file."""
        self._app.handlers.tool.export(argument)

    def editor(self, argument: str) -> None:
        """Let the person write in an editor of his own; the draft is kept meanwhile."""
        self._app.run_worker(self._edit(), group="editor", exclusive=True)

    async def _edit(self) -> None:
        composer = self._app.room.composer
        self._app.handlers.room.keep_draft(composer.text)
        text = await self.edit_text(composer.text)
        composer.editor.focus()
        if text is not None and text != composer.text:
            composer.replace_all(text)

    async def edit_text(self, text: str) -> str | None:
        """Let the person change a text in an editor of his own; None when nothing came back, which
        was told then."""
        from groupx_tui.editing import edit, editor_command

        try:
            command = editor_command(os.environ)
            with self._app.suspend():
                edited = await edit(text, command)
        except SuspendNotSupported:
            self._app.tell("An editor needs a terminal of its own; here there is none.", "warning")
        except GroupXError as error:
            self._app.tell(error.message, "warning")
        else:
            if edited.text is None:
                self._app.tell(edited.problem, "warning")
            return edited.text
        return None

    def quit(self, argument: str) -> None:
        """Close the window."""
        self._app.leave()

    def interrupt(self, argument: str) -> None:
        """Copy the selection; else close the list; else clear; else, the second time, close."""
        room = self._app.room
        if selected := room.timeline.selected_text() or room.composer.editor.selected_text:
            self._app.copy(selected, "selection")
        elif room.popup.is_open:
            room.popup.show(None)
        elif room.composer.clear():
            room.keybar.say(CLEARED)
        elif room.keybar.notice and room.keybar.notice != CLEARED:
            self._app.leave()
        else:
            key = self._app.keymap.shown("app.interrupt")
            room.keybar.say(f"{key} again closes this window; the agents go on.")

    def suspend(self, argument: str) -> None:
        """Back to the shell until `fg`."""
        self._app.action_suspend_process()

    def redraw(self, argument: str) -> None:
        """Draw everything again."""
        self._app.refresh(layout=True)


class ServerHandlers:
    """`server.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    def start(self, argument: str) -> None:
        """Start the server if it is gone, and connect."""
        if self._app.view.connection == "live":
            self._app.tell("The server is running.")
            return
        self._app.start_server()

    def reconnect(self, argument: str) -> None:
        """Do not wait for the next try."""
        if self._app.view.connection == "live":
            self._app.tell("The server is there already.")
            return
        self._app.session.hurry()
