"""Code: highlighting by pygments, with colours from the palette, and code blocks as rows.

Invariant: highlighting changes styles only, never the text; an unknown language or a lexer that
changes the text gives the plain code.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Token, _TokenType
from pygments.util import ClassNotFound
from rich.style import Style

from groupx_tui.render.palette import Palette, Role
from groupx_tui.render.row import Piece
from groupx_tui.render.writer import Writer

_LANGUAGE: Final = re.compile(r"\w[\w+#.-]*")

_ROLES: Final = {
    Token.Keyword: Role.SYNTAX_KEYWORD,
    Token.Keyword.Constant: Role.SYNTAX_NUMBER,
    Token.Keyword.Type: Role.SYNTAX_TYPE,
    Token.Operator.Word: Role.SYNTAX_KEYWORD,
    Token.Operator: Role.SYNTAX_OPERATOR,
    Token.Punctuation: Role.SYNTAX_OPERATOR,
    Token.Literal.String: Role.SYNTAX_STRING,
    Token.Literal.Number: Role.SYNTAX_NUMBER,
    Token.Comment: Role.SYNTAX_COMMENT,
    Token.Name.Function: Role.SYNTAX_NAME,
    Token.Name.Class: Role.SYNTAX_TYPE,
    Token.Name.Builtin: Role.SYNTAX_TYPE,
    Token.Name.Exception: Role.SYNTAX_TYPE,
    Token.Name.Decorator: Role.SYNTAX_NAME,
    Token.Name.Tag: Role.SYNTAX_KEYWORD,
    Token.Name.Attribute: Role.SYNTAX_NAME,
    Token.Generic.Inserted: Role.DIFF_ADDED,
    Token.Generic.Deleted: Role.DIFF_REMOVED,
    Token.Generic.Subheading: Role.DIFF_HUNK,
    Token.Generic.Heading: Role.SYNTAX_KEYWORD,
    Token.Error: Role.SYNTAX_ERROR,
}


def language_of(info: str) -> str:
    """Return the language named by the text after a fence's opening mark, or ""."""
    found = _LANGUAGE.search(info)
    return found[0] if found else ""


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _role(token: _TokenType) -> Role | None:
    kind: _TokenType | None = token
    while kind is not None:
        if kind in _ROLES:
            return _ROLES[kind]
        kind = kind.parent
    return None


def highlight(code: str, language: str, palette: Palette, base: Style) -> list[Piece]:
    """Return the code as styled pieces; joined, they are the code."""
    lexer = _lexer(language) if language else None
    if lexer is None:
        return [(code, base)]
    pieces: list[Piece] = []
    for token, text in lexer.get_tokens(code):
        role = _role(token)
        pieces.append((text, base if role is None else palette.over(base, role)))
    if "".join(text for text, _ in pieces) != code:
        return [(code, base)]
    return pieces


def write_code(
    writer: Writer, code: str, info: str = "", *, is_closed: bool = True, continues: str = ""
) -> None:
    """Write a code block: a line with its language, then the code behind a bar, cut at the edge.

    An open block (`is_closed` False) is not highlighted: that would cost its whole length each
    time it grows. One that `continues` another has no language line.
    """
    palette = writer.palette
    base = palette.style(Role.FENCE)
    bar = palette.over(base, Role.FENCE_LABEL)
    language = language_of(info)
    writer.stop("code", code)
    if info and not continues:
        writer.write([("╭─ ", bar), (info, bar)], fill=base)
    with writer.prefix(("│ ", bar)):
        pieces = highlight(code, language, palette, base) if is_closed else [(code, base)]
        writer.write(pieces, chop=True, fill=base)
