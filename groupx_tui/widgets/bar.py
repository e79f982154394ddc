"""One line with something at the left and something at the right; the left gives way.

Header, banner and key line are bars. A bar draws only when its content changed.
"""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget


class Bar(Widget, can_focus=False):
    """A line of the window."""

    DEFAULT_CSS = """
    Bar { height: 1; width: 1fr; padding: 0 1; }
    """

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(name=name)
        self._left = Content("")
        self._right = Content("")

    def put(self, left: Content, right: Content | None = None) -> None:
        """Show these; nothing is drawn when they are what is shown."""
        right = right if right is not None else Content("")
        if left.is_same(self._left) and right.is_same(self._right):
            return
        self._left, self._right = left, right
        self.refresh()

    @property
    def left_text(self) -> str:
        """What stands at the left, without style."""
        return self._left.plain

    @property
    def right_text(self) -> str:
        """What stands at the right, without style."""
        return self._right.plain

    def render(self) -> Content:
        width = self.content_size.width
        right = self._right.truncate(width, ellipsis=True)
        room = width - right.cell_length - (2 if right.cell_length else 0)
        if room <= 0:
            return right
        left = self._left.truncate(room, ellipsis=True, pad=True)
        return Content.assemble(left, "  " if right.cell_length else "", right)
