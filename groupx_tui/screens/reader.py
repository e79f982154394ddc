"""A text to read in a dialog: help and turn details. Scrolls with the list keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll

from groupx_tui.keymap import KeyMap
from groupx_tui.screens.dialog import Dialog
from groupx_tui.widgets.facts import Fact, FactList

NARROW, FRAME_CELLS = 76, 4
"""Cells of a dialog, and of its border and padding: a longer line of keys takes two rows."""
FRAME_ROWS = 7
"""Rows of a dialog around its body: border, title, keys and the gaps between."""


VERBS = {"retract": "take back", "cancel": "stop its turn", "redact": "remove for good"}
"""What the line of keys calls an offer, where that is not its verb."""


class Reader(Dialog[None]):
    """Shows lines; `copies` is what `dialog.copy` copies and how a toast calls it."""

    DEFAULT_CSS = """
    Reader {
        VerticalScroll { height: auto; scrollbar-size-vertical: 1; background: transparent; }
        &.-wide .dialog-box { width: 100%; margin: 0 2; }
    }
    """

    def __init__(
        self,
        keymap: KeyMap,
        title: str,
        facts: Sequence[Fact],
        label_width: int,
        copies: tuple[str, str] | None = None,
        offers: Mapping[str, Callable[[], object]] | None = None,
        *,
        is_wide: bool = False,
        starts_at_end: bool = False,
    ) -> None:
        """`offers`: what else can be done here, by the verb of its `dialog` action. `is_wide`: it
        takes the whole width; `starts_at_end`: its end is shown first."""
        self._is_wide, self._starts_at_end = is_wide, starts_at_end
        self._offers = offers or {}
        hints = [
            f"{keymap.shown(f'dialog.{name}')} {VERBS.get(name, name)}" for name in self._offers
        ]
        hints.append(f"{keymap.shown('dialog.copy')} copy {copies[1]}" if copies else "")
        hints.append(f"{keymap.shown('dialog.close')} close")
        super().__init__(keymap, title, "   ".join(hint for hint in hints if hint))
        self.facts = facts
        self._list = FactList(facts, label_width)
        self._copies = copies

    def body(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            yield self._list

    def on_mount(self) -> None:
        """Take the place that was asked for."""
        self.set_class(self._is_wide, "-wide")
        if self._starts_at_end:
            self.call_after_refresh(self.query_one(VerticalScroll).scroll_end, animate=False)

    def on_resize(self, event: events.Resize) -> None:
        """The text takes what title, keys and border leave of the screen."""
        frame = FRAME_ROWS + (len(self.hint) > min(event.size.width, NARROW) - FRAME_CELLS)
        self.query_one(VerticalScroll).styles.max_height = max(1, event.size.height - frame)

    def move(self, lines: int) -> None:
        """Scroll by lines."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def page(self, pages: int) -> None:
        """Scroll by pages."""
        view = self.query_one(VerticalScroll)
        view.scroll_relative(y=pages * max(1, view.size.height - 1), animate=False)

    def delete_or_close(self) -> None:
        """Half a page down, as in the timeline; at the end, close."""
        view = self.query_one(VerticalScroll)
        if view.scroll_offset.y >= view.max_scroll_y:
            self.close()
        else:
            view.scroll_relative(y=max(1, view.size.height // 2), animate=False)

    def offer(self, name: str) -> bool:
        """Close, and do what was offered."""
        if name not in self._offers:
            return False
        self.dismiss()
        self._offers[name]()
        return True

    def copy_text(self) -> tuple[str, str] | None:
        """What can be copied from here."""
        return self._copies
