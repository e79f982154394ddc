"""Lays out one block of markdown: walks the parser's tokens and writes rows.

Counterpart: `scanner.py`, which made the block. A blank line in the source is a blank row, between
list items too, so a block looks the same whatever comes after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from rich.style import Style

from groupx_tui.render.code import write_code
from groupx_tui.render.markdown.inline import inline_pieces
from groupx_tui.render.markdown.parser import parse
from groupx_tui.render.markdown.scanner import Chunk
from groupx_tui.render.markdown.table import Cell, Table, write_table
from groupx_tui.render.palette import Palette, Role
from groupx_tui.render.row import Layout, Piece
from groupx_tui.render.writer import Writer

if TYPE_CHECKING:
    from markdown_it.token import Token

_BLANK: Final = re.compile(r"[>\s]*$")
_BULLETS: Final = ("•", "◦", "▪")
_TASK: Final = re.compile(r"\[([ xX])\](?= |$)")
_HEADINGS: Final = {"h1": Role.HEADING_1, "h2": Role.HEADING_2}


def layout_chunk(chunk: Chunk, width: int, palette: Palette, *, has_gap: bool = False) -> Layout:
    """Return the rows of a block; with a gap, an empty row stands before it."""
    writer = Writer(width, palette)
    if has_gap:
        writer.gap()
    with ExitStack() as stack:
        if chunk.indent:
            stack.enter_context(writer.prefix((" " * chunk.indent, palette.base)))
        if chunk.kind == "fence":
            write_code(writer, chunk.source, chunk.info, continues=chunk.continues)
        else:
            tokens = parse(chunk.head + chunk.source) if chunk.kind == "markdown" else None
            if tokens is None:
                writer.write([(chunk.source, palette.base)])
            else:
                _Walker(writer, chunk, tokens).walk()
    return writer.layout()


class _Walker:
    """Walks the tokens of one block."""

    def __init__(self, writer: Writer, chunk: Chunk, tokens: list[Token]) -> None:
        self._writer = writer
        self._palette = writer.palette
        self._chunk = chunk
        self._tokens = tokens
        self._first_row = len(writer)
        self._source_lines = (chunk.head + chunk.source).split("\n")
        self._styles = [self._palette.base]
        self._contexts: list[ExitStack] = []
        self._numbers: list[int | None] = []
        self._gap_line = -1
        self._ordinal = chunk.ordinal
        self._table: Table | None = None
        self._cells: list[Cell] = []
        self._item_rows: list[int] = []

    def walk(self) -> None:
        for token in self._tokens:
            handler = _HANDLERS.get(token.type)
            if handler is not None:
                handler(self, token)
        if self._is_empty() and self._chunk.source.strip():
            self._writer.write([(self._chunk.source, self._palette.base)])

    def _is_empty(self) -> bool:
        return len(self._writer) == self._first_row

    def _style(self) -> Style:
        return self._styles[-1]

    def _gap(self, token: Token) -> None:
        """Write an empty row when the source has a blank line before the token."""
        line = token.map[0] if token.map else 0
        if self._is_empty() or line == self._gap_line or not line:
            return
        if _BLANK.match(self._source_lines[line - 1]):
            self._writer.gap()
            self._gap_line = line

    def inline(self, token: Token) -> None:
        pieces = inline_pieces(token.children or (), self._palette, self._style())
        if self._table is not None:
            self._cells.append(pieces)
            return
        if self._numbers:
            pieces = self._task(pieces)
        self._gap(token)
        self._writer.write(pieces)

    def _task(self, pieces: list[Piece]) -> list[Piece]:
        """Turn `[x] ` at the start of a list item into a box."""
        found = _TASK.match(pieces[0][0]) if pieces else None
        if found is None:
            return pieces
        text, style = pieces[0]
        box = "☐" if found[1] == " " else "☑"
        return [(box, self._palette.over(style, Role.BULLET)), (text[3:], style), *pieces[1:]]

    def heading_open(self, token: Token) -> None:
        self._gap(token)
        role = _HEADINGS.get(token.tag, Role.HEADING_3)
        self._styles.append(self._palette.over(self._style(), role))

    def style_close(self, _token: Token) -> None:
        self._styles.pop()

    def rule(self, token: Token) -> None:
        self._gap(token)
        rule = "─" * self._writer.available
        self._writer.line([(rule, self._palette.style(Role.RULE))], rule, length=1)

    def code(self, token: Token) -> None:
        self._gap(token)
        write_code(self._writer, token.content.removesuffix("\n"), token.info.strip())

    def quote_open(self, token: Token) -> None:
        self._gap(token)
        self._styles.append(self._palette.over(self._style(), Role.QUOTE))
        self._enter(("▎ ", self._palette.style(Role.QUOTE_BAR)), None, is_logical=False)

    def quote_close(self, _token: Token) -> None:
        self._styles.pop()
        self._contexts.pop().close()

    def list_open(self, token: Token) -> None:
        if token.type == "ordered_list_open":
            number = int(token.attrs.get("start", 1))
            if self._ordinal is not None:
                number, self._ordinal = self._ordinal, None
            self._numbers.append(number)
        else:
            self._numbers.append(None)

    def list_close(self, _token: Token) -> None:
        self._numbers.pop()

    def item_open(self, token: Token) -> None:
        self._gap(token)
        number = self._numbers[-1]
        if number is None:
            mark = _BULLETS[(len(self._numbers) - 1) % len(_BULLETS)] + " "
        else:
            mark = f"{number}. "
            self._numbers[-1] = number + 1
        style = self._palette.over(self._style(), Role.BULLET)
        self._enter((" " * len(mark), self._style()), (mark, style), is_logical=True)
        self._item_rows.append(len(self._writer))

    def item_close(self, _token: Token) -> None:
        if len(self._writer) == self._item_rows.pop():  # an empty item has its mark all the same
            self._writer.write([])
        self._contexts.pop().close()

    def _enter(self, rest: Piece, first: Piece | None, *, is_logical: bool) -> None:
        context = ExitStack()
        context.enter_context(self._writer.prefix(rest, first, is_logical=is_logical))
        self._contexts.append(context)

    def table_open(self, token: Token) -> None:
        self._gap(token)
        self._table = Table()

    def head_cell_open(self, token: Token) -> None:
        if self._table is not None:
            align = str(token.attrs.get("style", "")).removeprefix("text-align:")
            self._table.aligns.append(align or "left")
        self._styles.append(self._palette.over(self._style(), Role.TABLE_HEAD))

    def row_close(self, _token: Token) -> None:
        if self._table is None:
            return
        cells, self._cells = self._cells, []
        if self._table.head:
            self._table.rows.append(cells)
        else:
            self._table.head = cells

    def table_close(self, _token: Token) -> None:
        if self._table is not None:
            write_table(self._writer, self._table, has_head=not self._chunk.head)
        self._table = None


_HANDLERS: Final[dict[str, Callable[[_Walker, Token], None]]] = {
    "inline": _Walker.inline,
    "heading_open": _Walker.heading_open,
    "heading_close": _Walker.style_close,
    "hr": _Walker.rule,
    "fence": _Walker.code,
    "code_block": _Walker.code,
    "blockquote_open": _Walker.quote_open,
    "blockquote_close": _Walker.quote_close,
    "bullet_list_open": _Walker.list_open,
    "bullet_list_close": _Walker.list_close,
    "ordered_list_open": _Walker.list_open,
    "ordered_list_close": _Walker.list_close,
    "list_item_open": _Walker.item_open,
    "list_item_close": _Walker.item_close,
    "table_open": _Walker.table_open,
    "th_open": _Walker.head_cell_open,
    "th_close": _Walker.style_close,
    "tr_close": _Walker.row_close,
    "table_close": _Walker.table_close,
}
