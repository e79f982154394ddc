"""How each kind of text is drawn: a `Role` for each kind, a `Palette` with a style for each role.

Counterpart: `widgets/timeline/theme.py` reads a palette from the component classes of the theme.
Styles of roles hold only what differs from the base style, so they can be laid over each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from rich.style import Style


class Role(StrEnum):
    """What a piece of text is. The value is the end of its CSS class: `timeline--<value>`."""

    DIM = "dim"
    STRONG = "strong"
    EMPHASIS = "emphasis"
    STRIKE = "strike"
    CODE = "code"
    LINK = "link"
    URL = "url"
    HEADING_1 = "heading-1"
    HEADING_2 = "heading-2"
    HEADING_3 = "heading-3"
    QUOTE = "quote"
    QUOTE_BAR = "quote-bar"
    RULE = "rule"
    BULLET = "bullet"
    TABLE_LINE = "table-line"
    TABLE_HEAD = "table-head"
    FENCE = "fence"
    FENCE_LABEL = "fence-label"
    SYNTAX_KEYWORD = "syntax-keyword"
    SYNTAX_NAME = "syntax-name"
    SYNTAX_TYPE = "syntax-type"
    SYNTAX_STRING = "syntax-string"
    SYNTAX_NUMBER = "syntax-number"
    SYNTAX_COMMENT = "syntax-comment"
    SYNTAX_OPERATOR = "syntax-operator"
    SYNTAX_ERROR = "syntax-error"
    DIFF_ADDED = "diff-added"
    DIFF_REMOVED = "diff-removed"
    DIFF_HUNK = "diff-hunk"
    USER = "user"
    AGENT = "agent"
    SYSTEM = "system"
    STATE_WAITING = "state-waiting"
    STATE_WORKING = "state-working"
    STATE_DONE = "state-done"
    STATE_FAILED = "state-failed"
    STATE_UNCERTAIN = "state-uncertain"
    HINT = "hint"
    FOLD = "fold"
    REASONING = "reasoning"
    WARNING = "warning"
    ERROR = "error"
    DAY = "day"
    UNREAD = "unread"
    BADGE = "badge"
    CURSOR = "cursor"
    SELECTION = "selection"
    HIT = "hit"
    SCROLL_THUMB = "scroll-thumb"


_PLAIN: Final[Mapping[Role, Style]] = {
    Role.STRONG: Style(bold=True),
    Role.EMPHASIS: Style(italic=True),
    Role.STRIKE: Style(strike=True),
    Role.CODE: Style(bold=True),
    Role.HEADING_1: Style(bold=True, underline=True),
    Role.HEADING_2: Style(bold=True),
    Role.HEADING_3: Style(bold=True, italic=True),
    Role.CURSOR: Style(reverse=True),
    Role.SELECTION: Style(reverse=True),
    Role.BADGE: Style(reverse=True),
}


@dataclass(frozen=True, slots=True, eq=False)
class Palette:
    """The styles of one theme. Compared by identity: a new object means a new theme."""

    base: Style = field(default_factory=Style)
    """Plain text and its background."""
    roles: Mapping[Role, Style] = field(default_factory=lambda: _PLAIN)

    def over(self, style: Style, role: Role) -> Style:
        """Return `style` with the role's style laid over it."""
        laid = self.roles.get(role)
        return style if laid is None else style + laid

    def is_like(self, other: Palette) -> bool:
        """Whether the other palette draws the same."""
        return self.base == other.base and self.roles == other.roles

    def style(self, role: Role) -> Style:
        """Return the role's whole style, on the base."""
        return self.over(self.base, role)


PLAIN: Final = Palette()
"""No colours: for tests and for measuring."""
