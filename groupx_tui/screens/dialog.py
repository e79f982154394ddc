"""What all dialogs share: a box in the middle, the dialog keys, a line that tells them.

Invariants: Escape always closes a dialog and changes nothing; what is typed behind the key that
opens it goes into it, also when all of it comes at once. The handlers of the `dialog` actions call
the methods here; a dialog overrides what it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from rich.cells import cell_len
from textual import events
from textual._time import get_time
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static, TextArea

from groupx_tui.keymap import KeyMap
from groupx_tui.state.model import ClientView
from groupx_tui.widgets.binding import bind_place

GAP: Final = "   "
MAX_AHEAD: Final = 256
"""Keys that wait for a dialog; more are no words that somebody typed."""
WAITING: Final = frozenset({"enter", "backspace"})
"""Keys that wait like characters do."""
Result = TypeVar("Result")


class KeyLine(Static):
    """Keys and words, on as many rows as they need; never broken inside one of them."""

    def __init__(self, hint: str) -> None:
        super().__init__(classes="dialog-hint", markup=False)
        self._items = hint.split(GAP)

    def on_resize(self, event: events.Resize) -> None:
        """Break the line anew."""
        self.update(Content("\n".join(broken(self._items, event.size.width))))


def broken(items: Sequence[str], width: int) -> list[str]:
    """Return rows of at most `width` cells, where one item fits at all."""
    rows = [""]
    for item in items:
        longer = f"{rows[-1]}{GAP}{item}" if rows[-1] else item
        if rows[-1] and cell_len(longer) > width:
            rows.append(item)
        else:
            rows[-1] = longer
    return rows


class Dialog(ModalScreen[Result | None], inherit_bindings=False):
    """A box with a title, a body and a line of keys. Closed without a choice it returns None."""

    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        background: $background 40%;
        &:ansi { background: transparent; }
        .dialog-box {
            width: 76;
            max-width: 100%;
            height: auto;
            max-height: 100%;
            background: $surface;
            border: round $primary;
            padding: 0 1;
        }
        .dialog-title { height: auto; text-style: bold; padding-bottom: 1; }
        .dialog-hint { height: auto; max-height: 2; color: $muted; margin-top: 1; }
        &.-wide .dialog-box { width: 120; }
        Input:ansi > .input--cursor {  /* seen in whatever colours, and without any */
            background: ansi_default; color: ansi_default; text-style: reverse;
        }
    }
    """

    def __init__(self, keymap: KeyMap, title: str, hint: str = "") -> None:
        super().__init__()
        self.keymap = keymap
        self.heading = title
        self._begun = get_time()
        self._ahead: list[events.Key] = []
        self._is_open = False
        close = keymap.shown("dialog.close")
        self.hint = hint or f"{close} close"
        bind_place(self, "dialog", keymap)

    def on_mount(self) -> None:
        """It takes keys once it is drawn."""
        self.call_after_refresh(self._open)

    def takes_ahead(self, event: events.Key) -> bool:
        """Whether this key was typed before the dialog could take it, and waits or was handed on.

        A line over a slow network brings several keys at once: those behind the one that opens the
        dialog went to what had the keyboard before, and came up from there.
        """
        if not (event.is_printable or event.key in WAITING):
            return False
        if not self._is_open:
            self._ahead.append(event)
            del self._ahead[MAX_AHEAD:]
            return True
        is_older = event.is_forwarded and event.time < self._begun
        if is_older:
            self._hand_on(event)
        return is_older

    def _open(self) -> None:
        self._is_open = True
        for event in sorted(self._ahead, key=lambda each: each.time):
            self._hand_on(event)

    def _hand_on(self, event: events.Key) -> None:
        target = self.focused or self
        # From the field itself: it would not come up to the app if it came from there.
        target._forward_event(events.Key(event.key, event.character).set_sender(target))

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box"):
            yield Static(Content(self.heading), classes="dialog-title")
            yield from self.body()
            yield KeyLine(self.hint)

    def body(self) -> ComposeResult:
        """What stands between title and keys."""
        yield from ()

    def close(self) -> None:
        """Close without a choice."""
        self.dismiss(None)

    def accept(self) -> None:
        """Enter: by default the same as close."""
        self.close()

    def delete_or_close(self) -> None:
        """Delete the character after the caret; close when nothing is written."""
        field = self.focused if isinstance(self.focused, Input | TextArea) else None
        written = field.value if isinstance(field, Input) else field.text if field else ""
        if field is not None and written:
            field.action_delete_right()
        else:
            self.close()

    def move(self, lines: int) -> None:
        """Up or down."""

    def page(self, pages: int) -> None:
        """A page up or down."""

    def take_view(self, view: ClientView) -> None:
        """Take a newer view; what a dialog shows mostly stays as it was when it opened."""

    def offer(self, name: str) -> bool:
        """Do what the dialog offers by this name; False when it does not."""
        return False

    def copy_text(self) -> tuple[str, str] | None:
        """What `dialog.copy` copies and how it is called; None when there is nothing."""
        return None
