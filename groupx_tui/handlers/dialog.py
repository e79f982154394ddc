"""Keys of the dialogs: each goes to the dialog that is on top."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.actions import SkipAction

from groupx_tui.screens.dialog import Dialog

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp


class DialogHandlers:
    """`dialog.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    @property
    def _top(self) -> Dialog[object]:
        screen = self._app.screen
        if not isinstance(screen, Dialog):
            raise SkipAction
        return screen

    def accept(self, argument: str) -> None:
        """Do it."""
        self._top.accept()

    def close(self, argument: str) -> None:
        """Leave it."""
        self._top.close()

    def delete_or_close(self, argument: str) -> None:
        """Delete the character after, or leave."""
        self._top.delete_or_close()

    def up(self, argument: str) -> None:
        """The line before."""
        self._top.move(-1)

    def down(self, argument: str) -> None:
        """The line after."""
        self._top.move(1)

    def page_up(self, argument: str) -> None:
        """The page before."""
        self._top.page(-1)

    def page_down(self, argument: str) -> None:
        """The page after."""
        self._top.page(1)

    def retry(self, argument: str) -> None:
        """Take up again what the dialog is about."""
        self._offered("retry")

    def continue_(self, argument: str) -> None:
        """Let go on what the dialog is about."""
        self._offered("continue")

    def add(self, argument: str) -> None:
        """Add something to the list."""
        self._offered("add")

    def details(self, argument: str) -> None:
        """Show all that is known of the marked line."""
        self._offered("details")

    def history(self, argument: str) -> None:
        """Show what was before."""
        self._offered("history")

    def source(self, argument: str) -> None:
        """Go to where it comes from."""
        self._offered("source")

    def pin(self, argument: str) -> None:
        """Pin it, or not any more."""
        self._offered("pin")

    def correct(self, argument: str) -> None:
        """Put another text in its place."""
        self._offered("correct")

    def retract(self, argument: str) -> None:
        """Take it back."""
        self._offered("retract")

    def redact(self, argument: str) -> None:
        """Remove it for good."""
        self._offered("redact")

    def summary(self, argument: str) -> None:
        """Show what sums up the older messages."""
        self._offered("summary")

    def restart(self, argument: str) -> None:
        """Start a program again."""
        self._offered("restart")

    def cancel(self, argument: str) -> None:
        """Ask an agent to stop what it works on."""
        self._offered("cancel")

    def nudge(self, argument: str) -> None:
        """Say something to an agent at work."""
        self._offered("nudge")

    def steer(self, argument: str) -> None:
        """Stop its turn, and give it something else to do."""
        self._offered("steer")

    def doctor(self, argument: str) -> None:
        """Say what is wrong."""
        self._offered("doctor")

    def next_part(self, argument: str) -> None:
        """The next part of a form; in memory, what is shown."""
        self._offered("next_part")

    def previous_part(self, argument: str) -> None:
        """The part of a form before."""
        self._offered("previous_part")

    def editor(self, argument: str) -> None:
        """Write in the person's own editor."""
        self._offered("editor")

    def _offered(self, name: str) -> None:
        if not self._top.offer(name):
            raise SkipAction

    def copy(self, argument: str) -> None:
        """Copy what the dialog has to copy."""
        copied = self._top.copy_text()
        if copied is None:
            raise SkipAction
        self._app.copy(*copied)
