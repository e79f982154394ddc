"""The markdown parser: CommonMark with tables and strikethrough, made safe for any input.

Html stays text (there is none in a terminal), links are never guessed, and definitions of links
stay visible: a block is parsed alone, so what another block defines is not known here.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_NESTING: Final = 60
"""Deeper containers are shown as plain text: the parser drops what is in them."""

MAX_BRACKETS: Final = 300
"""More opening brackets in a block than this and links are not looked for: each bracket that is
not closed is searched to the end of the block."""


@cache
def _parser(*, has_links: bool) -> MarkdownIt:
    # Loaded with the first markdown: that is after the window's first frame.
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"]).disable(["reference"])
    return parser if has_links else parser.disable(["link", "image"])


def parse(source: str) -> list[Token] | None:
    """Return the tokens of a block, or None when it is nested too deep to be laid out."""
    parser = _parser(has_links=source.count("[") <= MAX_BRACKETS)
    try:
        tokens = parser.parse(source)
    except RecursionError:
        return None
    return None if any(token.level >= MAX_NESTING - 1 for token in tokens) else tokens
