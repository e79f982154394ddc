"""The markdown parser: CommonMark with tables and strikethrough, made safe for any input.

Html stays text (there is none in a terminal), links are never guessed, and definitions of links
stay visible: a block is parsed alone, so what another block defines is not known here.
"""

from __future__ import annotations

from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

MAX_NESTING: Final = 60
"""Deeper containers are shown as plain text: the parser drops what is in them."""

MAX_BRACKETS: Final = 300
"""More opening brackets in a block than this and links are not looked for: each bracket that is
not closed is searched to the end of the block."""


def _build(*, has_links: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"]).disable(["reference"])
    return parser if has_links else parser.disable(["link", "image"])


_PARSER: Final = _build(has_links=True)
_PARSER_WITHOUT_LINKS: Final = _build(has_links=False)


def parse(source: str) -> list[Token] | None:
    """Return the tokens of a block, or None when it is nested too deep to be laid out."""
    parser = _PARSER if source.count("[") <= MAX_BRACKETS else _PARSER_WITHOUT_LINKS
    try:
        tokens = parser.parse(source)
    except RecursionError:
        return None
    return None if any(token.level >= MAX_NESTING - 1 for token in tokens) else tokens
