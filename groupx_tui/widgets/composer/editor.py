"""The text area of the composer: Textual's, with our keys, cleaned pastes and its own height.

Invariants: a key costs the same with a megabyte in it as with a line (the text is joined once for
each edit, and brackets are not searched for); the chip of a large paste, and an emoji of several
code points, is one thing, which the caret does not enter and an edit takes whole. The caret's place
on the screen is told to the app after each layout: an input method puts its candidates there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from rich.style import Style
from textual import events
from textual._text_area_theme import TextAreaTheme
from textual.actions import SkipAction
from textual.content import Content
from textual.document._document import Location
from textual.reactive import reactive

from groupx_shared.text import safe_text
from groupx_tui.keymap import KeyMap
from groupx_tui.widgets.binding import keys_of_place
from groupx_tui.widgets.composer.pastes import PasteShelf
from groupx_tui.widgets.wholearea import WholeArea

_CHIP_STYLE = "chip"
_THEME = replace(
    TextAreaTheme.get_builtin_theme("css") or TextAreaTheme(""),
    name="composer",
    syntax_styles={_CHIP_STYLE: Style(reverse=True)},
)
MAX_SHARE = 3
"""The editor grows to a third of the screen."""


class Editor(WholeArea, inherit_bindings=False):
    """Where the message is typed."""

    DEFAULT_CSS = """
    Editor {
        height: 1;
        width: 1fr;
        padding: 0;
        border: none;
        background: transparent;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        &:focus { border: none; }
        .text-area--placeholder { color: $muted; }
        &:focus .text-area--cursor, &:light:focus .text-area--cursor {
            color: $foreground;
            background: $surface;
            text-style: reverse;
        }
    }
    """

    rows: reactive[int] = reactive(1)
    """Height in lines."""

    def __init__(
        self,
        keymap: KeyMap,
        act: Callable[[str], Awaitable[None]],
        placeholder: str = "",
        pastes: PasteShelf | None = None,
    ) -> None:
        """`act` does the action of an id; it raises SkipAction when it is not meant now."""
        self._pastes = pastes or PasteShelf()
        self._joined: str | None = None
        self._act = act
        self._keys = keys_of_place("composer", keymap)
        super().__init__(
            id="editor",
            compact=True,
            soft_wrap=True,
            highlight_cursor_line=False,
            placeholder=Content(placeholder),
        )
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.register_theme(_THEME)
        self.theme = _THEME.name

    def use_keys(self, keymap: KeyMap) -> None:
        """Do what the keys of this map say from now on."""
        self._keys = keys_of_place("composer", keymap)

    @property
    def text(self) -> str:
        """What is written, joined once for each edit."""
        if self._joined is None:
            self._joined = self.document.text
        return self._joined

    @text.setter
    def text(self, value: str) -> None:
        self.load_text(value)

    def set_text(self, text: str) -> None:
        """Replace all by `text` as one undo step, caret at the end."""
        self.replace(text, (0, 0), self.document.end, maintain_selection_offset=False)
        self.move_cursor(self.document.end)

    def find_matching_bracket(self, bracket: str, search_from: Location) -> Location | None:
        """Never: a message is prose, and the search reads all of it."""
        return None

    def _recompute_cursor_offset(self) -> None:
        # Undoing a long paste hides the scrollbar, and the caret is asked for, before it is moved
        # back: it is beyond the text then, and the base class raises.
        location = self.clamp_visitable(self.cursor_location)
        self._cursor_offset = self.wrapped_document.location_to_offset(location)

    def _build_highlight_map(self) -> None:
        # Runs after every edit, undo and load: what was joined before is stale now.
        self._joined = None
        super()._build_highlight_map()
        self._mark_chips()
        self._fit()

    def _mark_chips(self) -> None:
        """Note where the chips are drawn, in the base class's terms: bytes of a line."""
        for start, end in () if self._pastes.is_empty else self._pastes.chips_in(self.text):
            line_start = self.text.rfind("\n", 0, start) + 1
            first = len(self.text[line_start:start].encode())
            row = self.text.count("\n", 0, start)
            self._highlights[row].append((first, first + end - start, _CHIP_STYLE))

    def whole_around(self, row: int, column: int, *, is_edit: bool) -> tuple[int, int] | None:
        """A chip too is not entered, and taken whole."""
        chip = self._pastes.chip_around(self.document[row], column)
        return chip or super().whole_around(row, column, is_edit=is_edit)

    def undo(self) -> None:
        """Undo the last step; what is done next is a step of its own."""
        super().undo()
        self.history.checkpoint()

    def open_chip(self) -> bool:
        """Put the pasted text in place of the chip at the caret, else of the first one; False
        when there is none."""
        row, column = self.cursor_location
        chip = self._pastes.chip_at(self.document[row], column)
        if chip is None:
            places = self._pastes.chips_in(self.text)
            if not places:
                return False
            start, end = places[0]
            row = self.text.count("\n", 0, start)
            line_start = self.text.rfind("\n", 0, start) + 1
            chip = start - line_start, end - line_start
        pasted = self._pastes.text_of(self.document[row][slice(*chip)])
        self.history.checkpoint()
        result = self.replace(
            pasted, (row, chip[0]), (row, chip[1]), maintain_selection_offset=False
        )
        self.history.checkpoint()
        self.move_cursor(result.end_location)
        return True

    def _rewrap_and_refresh_virtual_size(self) -> None:
        # Called for every change of size; wrapping all of a long text costs half a second, and
        # only another width asks for it (an edit has wrapped its own lines already).
        if self.wrapped_document._width == self.wrap_width:
            self._refresh_size()
        else:
            super()._rewrap_and_refresh_virtual_size()
        self._fit()

    def _fit(self) -> None:
        if self.is_mounted:
            limit = max(1, self.app.size.height // MAX_SHARE)
            self.rows = min(max(1, self.wrapped_document.height), limit)

    def watch_rows(self, rows: int) -> None:
        """Take the new height, and tell where the caret is once it is laid out."""
        self.styles.height = rows
        self.call_after_refresh(self._tell_caret)

    def _tell_caret(self) -> None:
        self.scroll_cursor_visible()
        if self.has_focus:
            self.app.cursor_position = self.cursor_screen_offset

    async def _on_key(self, event: events.Key) -> None:
        """Do our keys here, not by bindings: those run later, after what was typed behind them, so
        a line that comes in one burst (a slow link, a script) would be sent with the next one. A
        key behind one that left the composer goes where that one led."""
        focused = self.screen.focused
        if focused is not None and focused is not self:
            event.prevent_default()
            event.stop()
            focused._forward_event(events.Key(event.key, event.character))
            return
        action_id = self._keys.get(event.key)
        if action_id is None:
            return
        event.prevent_default()
        try:
            await self._act(action_id)
        except SkipAction:
            return  # means something else right now: on to the bindings of the screen
        event.stop()

    async def _on_paste(self, event: events.Paste) -> None:
        """Insert the pasted text, cleaned, as one undo step; a large one as a chip."""
        event.prevent_default()
        event.stop()
        text = safe_text(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        text = self._pastes.fold_paste(text)
        self.history.checkpoint()
        if result := self._replace_via_keyboard(text, *self.selection):
            self.move_cursor(result.end_location)
        self.history.checkpoint()
        self.focus()
