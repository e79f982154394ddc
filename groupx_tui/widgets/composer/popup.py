"""The list of completions, drawn over the timeline just above the composer.

Takes no focus: keys stay with the editor. Counterpart: `completion`, which finds what it shows.
"""

from __future__ import annotations

from typing import Final

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from groupx_tui.widgets.composer.completion import Candidate, Completion

MAX_ROWS: Final = 8
"""Half of the timeline stays visible on 24 lines."""
LABEL_WIDTH: Final = 26


class CompletionPopup(Widget, can_focus=False):
    """Shows the candidates; one is marked."""

    DEFAULT_CSS = """
    CompletionPopup {
        layer: popup;
        dock: bottom;
        height: auto;
        max-height: 8;
        width: 100%;
        background: $panel;
        color: $foreground;
        display: none;
        padding: 0 1;
    }
    """

    class Taken(Message):
        """A line was clicked."""

        def __init__(self, candidate: Candidate) -> None:
            super().__init__()
            self.candidate = candidate

    class Changed(Message):
        """It opened, closed, or another line is marked."""

    def __init__(self) -> None:
        super().__init__()
        self._completion: Completion | None = None
        self._marked = 0
        self._top = 0

    @property
    def is_open(self) -> bool:
        """True while candidates are shown."""
        return self._completion is not None

    @property
    def completion(self) -> Completion | None:
        """What is shown."""
        return self._completion

    @property
    def marked(self) -> Candidate | None:
        """The candidate that Tab takes."""
        if self._completion is None:
            return None
        return self._completion.candidates[self._marked]

    def show(self, completion: Completion | None) -> None:
        """Show these candidates, the first marked; None closes the list."""
        if completion is not None or self._completion is not None:
            self.post_message(self.Changed())
        self._completion = completion
        self._marked = self._top = 0
        self.display = completion is not None
        self.refresh(layout=True)

    def move(self, lines: int) -> None:
        """Mark another line, around the ends."""
        if self._completion is None:
            return
        self._marked = (self._marked + lines) % len(self._completion.candidates)
        self._top = min(max(self._top, self._marked - MAX_ROWS + 1), self._marked)
        self.refresh()
        self.post_message(self.Changed())

    def render(self) -> Content:
        if self._completion is None:
            return Content("")
        shown = self._completion.candidates[self._top : self._top + MAX_ROWS]
        width = max(1, self.size.width - 2)
        lines = [
            _line(candidate, width, is_marked=self._top + row == self._marked)
            for row, candidate in enumerate(shown)
        ]
        return Content("\n").join(lines)

    def on_click(self, event: events.Click) -> None:
        """Take the clicked line."""
        row = self._top + event.y
        if self._completion is not None and row < len(self._completion.candidates):
            self.post_message(self.Taken(self._completion.candidates[row]))


def _line(candidate: Candidate, width: int, *, is_marked: bool) -> Content:
    label = Content(candidate.label).truncate(LABEL_WIDTH, ellipsis=True, pad=True)
    mark = Content("› " if is_marked else "  ")
    detail = Content.styled(candidate.detail, "" if is_marked else "$muted")
    line = Content.assemble(mark, label, "  ", detail).truncate(width, ellipsis=True, pad=True)
    return line.stylize("reverse" if is_marked else "")
