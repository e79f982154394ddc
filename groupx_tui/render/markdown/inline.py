"""Inline markdown as styled pieces: emphasis, code spans, links, breaks.

A line break in the source is a line break on the screen: in a conversation people and models mean
their line breaks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from rich.style import Style

from groupx_tui.render.palette import Palette, Role
from groupx_tui.render.row import Piece

if TYPE_CHECKING:
    from markdown_it.token import Token

SCHEMES: Final = ("https://", "http://", "mailto:")
MAX_URL: Final = 2_000
"""Longer ones are cut by terminals."""

_OPENS = {
    "em_open": Role.EMPHASIS,
    "strong_open": Role.STRONG,
    "s_open": Role.STRIKE,
    "link_open": Role.LINK,
}
_CLOSES = {"em_close", "strong_close", "s_close", "link_close"}


def inline_pieces(tokens: Iterable[Token], palette: Palette, base: Style) -> list[Piece]:
    """Return the children of an `inline` token as pieces; a line break is a piece of its own."""
    pieces: list[Piece] = []
    styles = [base]
    links: list[tuple[str, int]] = []
    for token in tokens:
        style = styles[-1]
        if token.type in _OPENS:
            styles.append(palette.over(style, _OPENS[token.type]))
            if token.type == "link_open":
                url = str(token.attrs.get("href", ""))
                links.append((url, len(pieces)))
                styles[-1] += Style(link=opened_by_a_click(url))
        elif token.type in _CLOSES:
            styles.pop()
            if token.type == "link_close":
                pieces += _url(*links.pop(), pieces, palette.over(styles[-1], Role.URL))
        elif token.type in ("softbreak", "hardbreak"):
            pieces.append(("\n", style))
        elif token.type == "code_inline":
            pieces.append((token.content, palette.over(style, Role.CODE)))
        elif token.type == "image":
            pieces += _image(token, palette, style)
        else:
            pieces.append((token.content, style))
    return pieces


def opened_by_a_click(url: str) -> str | None:
    """Return the address as the terminal may open it (OSC 8); None for what is no page or mail
    address, or holds what a terminal might act on."""
    is_safe = url.isascii() and url.isprintable() and " " not in url and len(url) <= MAX_URL
    return url if is_safe and url.lower().startswith(SCHEMES) else None


def _url(url: str, since: int, pieces: list[Piece], style: Style) -> list[Piece]:
    """Return the address of a link, unless its text says it already."""
    text = "".join(piece for piece, _ in pieces[since:])
    if not url or text in (url, url.removeprefix("mailto:")):
        return []
    return [(f" ({url})", style)]


def _image(token: Token, palette: Palette, style: Style) -> list[Piece]:
    url = str(token.attrs.get("src", ""))
    return [
        (f"[image: {token.content}]" if token.content else "[image]", style),
        (f" ({url})", palette.over(style, Role.URL)),
    ]
