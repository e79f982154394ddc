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
from groupx_tui.render.row import Layout, Piece, Stop
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


def write_code(writer: Writer, code: str, info: str = "", *, continues: str = "") -> None:
    """Write a code block: a line with its language, then the code behind a bar, cut at the edge.

    One that `continues` another has no language line.
    """
    writer.stop("code", code)
    _write_language(writer, "" if continues else info)
    base = writer.palette.style(Role.FENCE)
    _write_lines(writer, highlight(code, language_of(info), writer.palette, base))


def _write_language(writer: Writer, info: str) -> None:
    if info:
        base = writer.palette.style(Role.FENCE)
        bar = writer.palette.over(base, Role.FENCE_LABEL)
        writer.write([("╭─ ", bar), (info, bar)], fill=base)


def _write_lines(writer: Writer, pieces: list[Piece]) -> None:
    base = writer.palette.style(Role.FENCE)
    with writer.prefix(("│ ", writer.palette.over(base, Role.FENCE_LABEL))):
        writer.write(pieces, chop=True, fill=base)


class GrowingCode:
    """Lays out a code block that is still being written, at the cost of what is new.

    It is not highlighted: that would cost its whole length each time. Invariant: the rows are
    those that `write_code` would make without a language.
    """

    def __init__(self) -> None:
        self._done = ""
        self._writer = Writer(0, Palette())
        self._key: tuple[int, Palette] | None = None

    def layout(
        self, code: str, info: str, width: int, palette: Palette, *, has_gap: bool, continues: str
    ) -> Layout:
        """Return the rows of the block as it is now."""
        if (width, palette) != self._key or not code.startswith(self._done):
            self._key, self._done = (width, palette), ""
            self._writer = Writer(width, palette)
            if has_gap:
                self._writer.gap()
            _write_language(self._writer, "" if continues else info)
        base = palette.style(Role.FENCE)
        end = code.rfind("\n") + 1
        if end > len(self._done):
            _write_lines(self._writer, [(code[len(self._done) : end - 1], base)])
            self._done = code[:end]
        rest = self._writer.following()
        _write_lines(rest, [(code[end:], base)])
        rows = [*self._writer.layout().rows, *rest.layout().rows]
        return Layout(rows, (Stop(int(has_gap), "code", code),))
