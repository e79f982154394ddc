"""The panel of the room assistant: the side conversation, and a line to ask in.

Shows whatever view it is handed; asking, stopping and forgetting are its handlers' work. Keeps to
the end while the person is there, and moves nothing while they read above it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual import events
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from groupx_shared.text import safe_line
from groupx_tui.handlers.edit import SELECTING
from groupx_tui.keymap import KeyMap
from groupx_tui.screens.dialog import Dialog
from groupx_tui.state.model import ClientView
from groupx_tui.state.side import SideView
from groupx_tui.widgets.composer.editor import Editor
from groupx_tui.widgets.composer.pastes import PasteShelf
from groupx_tui.widgets.sidetalk import SideLines

ELSEWHERE = frozenset({"edit.redo"})
"""Keys of the composer that are the dialog's here: ctrl+y copies."""
STATES = {
    "disabled": "off",
    "stopped": "starts when asked",
    "starting": "starting",
    "ready": "ready",
    "busy": "working",
    "failed": "failed",
}


@dataclass(frozen=True, slots=True)
class Deeds:
    """What the panel does on keys; each returns at once."""

    ask: Callable[[str], object]
    cancel: Callable[[], object]
    clear: Callable[[], object]
    load_older: Callable[[], object]
    redact: Callable[[], object] = lambda: None
    sees: Callable[[ClientView], object] = lambda view: None
    """Told each newer view of the rooms."""


class AssistantScreen(Dialog[None]):
    """The panel."""

    DEFAULT_CSS = """
    AssistantScreen {
        .dialog-box { width: 100%; max-width: 110; height: 100%; }
        VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; background: transparent; }
        .assistant-line { height: auto; margin-top: 1; background: $panel; }
        .assistant-prompt { width: 2; color: $accent; }
    }
    """

    def __init__(self, keymap: KeyMap, view: SideView, deeds: Deeds) -> None:
        hints = [
            f"{keymap.shown('dialog.accept')} ask",
            f"{keymap.shown('dialog.close')} close",
            f"{keymap.shown('assistant.cancel')} stop",
            f"{keymap.shown('assistant.clear')} forget all",
            f"{keymap.shown('dialog.redact')} remove one for good",
            f"{keymap.shown('composer.newline')} new line",
        ]
        super().__init__(keymap, heading(view), "   ".join(hints))
        self.deeds = deeds
        self._view = view
        self._is_there = False
        self.lines = SideLines()
        self._pastes = PasteShelf()
        self._editor = Editor(keymap, self._act, "Ask the assistant", self._pastes)

    def body(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            yield self.lines
        with Horizontal(classes="assistant-line"):
            yield Static("❯", classes="assistant-prompt", markup=False)
            yield self._editor

    def on_mount(self) -> None:
        """Show what there is, at its end."""
        self._is_there = True
        self._editor.focus()
        self.show(self._view)
        self.call_after_refresh(self._to_end)

    def on_resize(self, event: events.Resize) -> None:
        """Stay at the end when the panel was there."""
        if self._is_at_end():
            self.call_after_refresh(self._to_end)

    def show(self, view: SideView) -> None:
        """Draw a newer view, once there is something to draw on."""
        if not self._is_there:
            self._view = view
            return
        was_at_end = self._is_at_end()
        self._view = view
        self.query_one(".dialog-title", Static).update(Content(heading(view)))
        self.lines.show(view)
        if was_at_end:
            self.call_after_refresh(self._to_end)

    def give_back(self, text: str) -> None:
        """What was not taken is written again, unless something else is."""
        if not self._editor.text:
            self._editor.set_text(self._pastes.fold_known(text))

    async def _act(self, action_id: str) -> None:
        """Do what a key of the composer means here; what means nothing here is left to the
        dialog's keys."""
        editor = self._editor
        noun, _, verb = action_id.partition(".")
        if action_id == "composer.send":
            self.accept()
        elif action_id == "composer.newline":
            editor.replace("\n", *editor.selection, maintain_selection_offset=False)
        elif action_id in ("composer.up", "composer.down") and _may_move(editor, verb):
            getattr(editor, f"action_cursor_{verb}")()
        elif action_id == "composer.open_paste":
            editor.open_chip()
        elif noun == "edit" and action_id not in ELSEWHERE and editor.text:
            movement = SELECTING.get(verb)
            if movement is None:
                getattr(editor, f"action_{verb}")()
            else:
                getattr(editor, f"action_{movement}")(True)
        else:
            raise SkipAction

    def accept(self) -> None:
        """Ask what is written."""
        text = self._pastes.expand(self._editor.text).strip()
        if text:
            self._editor.load_text("")
            self._to_end()
            self.deeds.ask(text)

    def move(self, lines: int) -> None:
        """Scroll by lines."""
        self._scroll(lines)

    def page(self, pages: int) -> None:
        """Scroll by pages; at the top, load what is older."""
        view = self.query_one(VerticalScroll)
        if pages < 0 and view.scroll_y <= 0 and self._view.older_before:
            self.deeds.load_older()
            return
        self._scroll(pages * max(1, view.size.height - 1))

    def offer(self, name: str) -> bool:
        """Stop the answer, forget the conversation, or remove one request for good."""
        if name == "cancel":
            self.deeds.cancel()
        elif name == "clear":
            self.deeds.clear()
        elif name == "redact":
            self.deeds.redact()
        return name in ("cancel", "clear", "redact")

    def take_view(self, view: ClientView) -> None:
        """Something happened in the rooms."""
        self.deeds.sees(view)

    def copy_text(self) -> tuple[str, str] | None:
        """The last answer."""
        answers = [m.content for m in self._view.messages if m.role == "assistant"]
        return (answers[-1], "the last answer") if answers else None

    def _scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def _is_at_end(self) -> bool:
        view = self.query_one(VerticalScroll)
        return view.scroll_y >= view.max_scroll_y - 1

    def _to_end(self) -> None:
        self.query_one(VerticalScroll).scroll_end(animate=False)


def _may_move(editor: Editor, verb: str) -> bool:
    """Whether there is a line above (below) in what is written; else the key scrolls."""
    navigator, location = editor.navigator, editor.cursor_location
    if verb == "up":
        return not navigator.is_first_wrapped_line(location)
    return not navigator.is_last_wrapped_line(location)


def heading(view: SideView) -> str:
    """Its name, and how it is."""
    status = view.status
    if status is None:
        return "Room assistant"
    parts = [safe_line(status.name, 64), STATES.get(status.status, status.status)]
    waiting = status.open_requests - (status.running_request_id is not None)
    if waiting > 0:
        parts.append(f"{waiting} waiting")
    if status.can_act is False:
        parts.append("without tools")
    return " · ".join(parts)
