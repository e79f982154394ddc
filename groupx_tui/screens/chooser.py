"""A list to choose from by typing a few letters: palette, rooms, agents, turns and themes.

Returns the key of the choice. `on_mark` is told each line that gets marked (the theme picker shows
it at once). Counterpart: `matching`, which finds the lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from groupx_tui.keymap import KeyMap
from groupx_tui.matching import best_matches
from groupx_tui.screens.dialog import Dialog
from groupx_tui.state.model import ClientView

MAX_ROWS: Final = 14
"""With title, filter and keys it fits on 24 lines."""
MAX_LABEL: Final = 24
"""Cells for the labels, so that the details stand in a column."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of the list."""

    key: str
    label: str
    detail: str = ""
    """One line about it; searched too."""
    right: str = ""
    """At the right end: a key, a state."""


@dataclass(frozen=True, slots=True)
class Use:
    """What a list is for beside choosing one of its lines."""

    offers: Mapping[str, Callable[[str], object]] = field(default_factory=dict)
    """What can be done with the marked line ("" when there is none), by the verb of its `dialog`
    action; the list stays."""
    opens: Callable[[str], object] | None = None
    """What the accept key does with a line instead of returning it; the list stays."""
    is_wide: bool = False
    follows: Callable[[ClientView], Sequence[Choice]] | None = None
    """What the lines are in a newer view of the room."""
    sees: Callable[[ClientView], object] | None = None
    """Told each newer view, where the lines are not of the room alone."""
    words: Mapping[str, str] = field(default_factory=dict)
    """What the line of keys calls `accept` and the offers, where that is not their verb."""


class ChoiceList(Widget, can_focus=False):
    """The lines that are left; one is marked."""

    DEFAULT_CSS = """
    ChoiceList { height: auto; width: 1fr; }
    """

    class Clicked(Message):
        """A line was clicked."""

        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

    def __init__(self, empty: str) -> None:
        super().__init__()
        self.empty = empty
        self._choices: Sequence[Choice] = ()
        self._index = 0
        self._top = 0

    @property
    def marked(self) -> Choice | None:
        """The line that Enter takes; None when none is left."""
        return self._choices[self._index] if self._choices else None

    @property
    def left_below(self) -> int:
        """How many lines stand below the marked one."""
        return max(0, len(self._choices) - 1 - self._index)

    def show(self, choices: Sequence[Choice], marked: str = "") -> None:
        """Show these lines; mark the one called `marked`, else the first."""
        self._choices = choices
        keys = [choice.key for choice in choices]
        self._index = keys.index(marked) if marked in keys else 0
        self._top = max(0, self._index - MAX_ROWS + 1)
        self.refresh(layout=True)

    def move(self, lines: int, *, is_around: bool) -> None:
        """Mark another line; around the ends or stopping there."""
        if not self._choices:
            return
        index, last = self._index + lines, len(self._choices) - 1
        self._index = index % (last + 1) if is_around else min(max(0, index), last)
        self._top = min(max(self._top, self._index - MAX_ROWS + 1), self._index)
        self.refresh()

    def render(self) -> Content:
        if not self._choices:
            return Content.styled(self.empty, "$muted")
        width = max(1, self.content_size.width or 72)
        shown = self._choices[self._top : self._top + MAX_ROWS]
        label_width = min(MAX_LABEL, max(cell_len(choice.label) for choice in self._choices))
        lines = [
            choice_line(choice, width, label_width, is_marked=self._top + row == self._index)
            for row, choice in enumerate(shown)
        ]
        return Content("\n").join(lines)

    def on_click(self, event: events.Click) -> None:
        """Take the clicked line."""
        index = self._top + event.y
        if index < len(self._choices):
            self.post_message(self.Clicked(self._choices[index]))

    def on_mouse_scroll_down(self) -> None:
        """Mark the line after."""
        self.move(1, is_around=False)

    def on_mouse_scroll_up(self) -> None:
        """Mark the line before."""
        self.move(-1, is_around=False)


class Chooser(Dialog[str]):
    """A dialog with a filter and a list."""

    DEFAULT_CSS = """
    Chooser {
        .dialog-title { padding-bottom: 0; }
        Input {
            height: 1;
            border: none;
            padding: 0;
            background: transparent;
            margin-bottom: 1;
        }
        Input:focus { border: none; background-tint: $foreground 0%; }
        .input--placeholder, .input--suggestion { color: $muted; }
    }
    """

    def __init__(
        self,
        keymap: KeyMap,
        title: str,
        choices: Sequence[Choice],
        *,
        marked: str = "",
        empty: str = "Nothing like that.",
        on_mark: Callable[[str], object] | None = None,
        use: Use | None = None,
    ) -> None:
        """`use`: what can be done with the lines beside choosing one."""
        use = use or Use()
        self._opens, self._offers, self._is_wide = use.opens, use.offers, use.is_wide
        self._follows, self._sees = use.follows, use.sees
        verb = use.words.get("accept", "choose" if self._opens is None else "open")
        hints = [f"{keymap.shown('dialog.accept')} {verb}"]
        hints += [
            f"{keymap.shown(f'dialog.{name}')} {use.words.get(name, name)}" for name in self._offers
        ]
        hints.append(f"{keymap.shown('dialog.close')} close")
        super().__init__(keymap, title, "   ".join(hints))
        self._all = choices
        self._first = marked
        self._on_mark = on_mark
        self._told = marked
        self.list = ChoiceList(empty)

    def body(self) -> ComposeResult:
        filter_line = Input(placeholder="Type to find", compact=True)
        filter_line.cursor_blink = False
        yield filter_line
        yield self.list

    def on_mount(self) -> None:
        """Show all."""
        self.set_class(self._is_wide, "-wide")
        self.list.show(self._all, self._first)

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self._show(event.value.strip())

    def _show(self, typed: str) -> None:
        found = best_matches(typed, self._all, lambda choice: (choice.label, choice.detail))
        self.list.show(found if typed else self._all, self._first)
        self._tell()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.accept()

    @on(ChoiceList.Clicked)
    def _clicked(self, event: ChoiceList.Clicked) -> None:
        event.stop()
        self._take(event.choice)

    def accept(self) -> None:
        """Return the marked line, or open it."""
        if self.list.marked is not None:
            self._take(self.list.marked)

    def _take(self, choice: Choice) -> None:
        if self._opens is None:
            self.dismiss(choice.key)
        else:
            self._opens(choice.key)

    def offer(self, name: str) -> bool:
        """Do what is offered with the marked line."""
        if name not in self._offers:
            return False
        marked = self.list.marked
        self._offers[name]("" if marked is None else marked.key)
        return True

    def replace_choices(self, title: str, choices: Sequence[Choice]) -> None:
        """Show other lines, as far as they fit what was typed; the marked one stays marked."""
        marked = self.list.marked
        self._all, self._first = choices, "" if marked is None else marked.key
        self.query_one(".dialog-title", Static).update(Content(title))
        self._show(self.query_one(Input).value.strip())

    def take_view(self, view: ClientView) -> None:
        """Show the lines of a newer view, where the list is one of what is there now."""
        if self._sees is not None:
            self._sees(view)
        if self._follows is None:
            return
        choices = self._follows(view)
        if list(choices) != list(self._all):
            self.replace_choices(self.heading, choices)

    def move(self, lines: int) -> None:
        """Mark another line."""
        self.list.move(lines, is_around=True)
        self._tell()

    def page(self, pages: int) -> None:
        """Mark a line a page away."""
        self.list.move(pages * MAX_ROWS, is_around=False)
        self._tell()

    def _tell(self) -> None:
        marked = self.list.marked
        if self._on_mark is not None and marked is not None and marked.key != self._told:
            self._told = marked.key
            self._on_mark(marked.key)


def choice_line(choice: Choice, width: int, label_width: int, *, is_marked: bool) -> Content:
    """One line: label, detail, and at the right end what belongs there."""
    right = Content.styled(f" {choice.right}" if choice.right else "", "$text-accent")
    detail = Content.styled(f"  {choice.detail}" if choice.detail else "", "$muted")
    room = max(1, width - right.cell_length)
    label = Content(choice.label)
    if choice.detail:
        label = label.truncate(label_width, ellipsis=True, pad=True)
    left = Content.assemble("› " if is_marked else "  ", label, detail)
    line = Content.assemble(left.truncate(room, ellipsis=True, pad=True), right)
    return line.without_spans.stylize("reverse") if is_marked else line
