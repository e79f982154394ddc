"""Rows of a label and a text that wraps beside it: help and details.

A heading is a row without a label. The text never runs under the labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget


@dataclass(frozen=True, slots=True)
class Fact:
    """One row."""

    label: Content
    text: Content


def heading(text: str) -> Fact:
    """A row that stands for itself."""
    return Fact(Content(""), Content.styled(text, "bold"))


def paragraph(text: str) -> Fact:
    """A quiet text over the whole width."""
    return Fact(Content(""), Content.styled(text, "$muted"))


BLANK = Fact(Content(""), Content(""))


class FactList(Widget, can_focus=False):
    """The rows, wrapped for the width there is."""

    DEFAULT_CSS = """
    FactList { height: auto; width: 1fr; }
    """

    def __init__(self, facts: Sequence[Fact], label_width: int) -> None:
        super().__init__()
        self._facts = facts
        self._label_width = label_width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Height of the wrapped rows."""
        return len(self.lines(width))

    def lines(self, width: int) -> list[Content]:
        """The rows as lines of at most `width` cells."""
        return [line for fact in self._facts for line in self._wrapped(fact, width)]

    def render(self) -> Content:
        return Content("\n").join(self.lines(self.content_size.width))

    def _wrapped(self, fact: Fact, width: int) -> list[Content]:
        indent = self._label_width if fact.label.plain else 0
        texts = fact.text.wrap(max(8, width - indent)) if fact.text.plain else [Content("")]
        label = fact.label.truncate(indent - 1, ellipsis=True) if indent else Content("")
        first = Content.assemble(label, " " * max(0, indent - label.cell_length), texts[0])
        return [first, *(Content.assemble(" " * indent, text) for text in texts[1:])]
