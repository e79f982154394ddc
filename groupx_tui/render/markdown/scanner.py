"""Cuts a growing markdown text into top-level blocks, each small enough to lay out in a frame.

Invariants: the blocks depend on the text alone, never on how it was cut into pieces; a closed
block never changes; what is open is at most `MAX_BLOCK_CHARS + MAX_LINE_CHARS`; no text is lost.
A cut lies only where markdown has one (list items count as blocks), except that a block beyond
the size limit is cut between two lines, and a line beyond it within the line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final, Literal

from groupx_tui.render.markdown import syntax

MAX_BLOCK_CHARS: Final = 12_288
"""Longest open block: the layout of so much takes less than a frame."""

MAX_LINE_CHARS: Final = 8_192
"""A longer line is no prose: it is shown as it stands, in parts of this size."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One block of markdown, laid out by itself."""

    kind: Literal["markdown", "fence", "plain"]
    source: str
    """Its lines (of a fence: the code only)."""
    has_gap: bool = False
    """Whether the text has a blank line before it (always true between blocks that want one)."""
    ordinal: int | None = None
    """Number of the ordered list item that it is."""
    indent: int = 0
    """Columns it hangs in: it continues a list item that was too long."""
    info: str = ""
    """Of a fence: what follows the opening mark."""
    head: str = ""
    """Of the continuation of a table: its first two lines, with their line breaks."""
    continues: Literal["", "block", "line"] = ""
    """It is the rest of the chunk before it, from a line break on or from within a line."""
    is_closed: bool = True
    """False for the block at the end that may still grow."""


class _State(Enum):
    BETWEEN = auto()
    PARAGRAPH = auto()
    QUOTE = auto()
    LIST = auto()
    INDENTED = auto()
    FENCE = auto()


class BlockScanner:
    """Feed it pieces of a text; it gives the blocks that can no longer change."""

    def __init__(self) -> None:
        self._partial: list[str] = []
        self._partial_chars = 0
        self._out: list[Chunk] = []
        self._state = _State.BETWEEN
        self._lines: list[str] = []
        self._chars = 0
        self._gap = False
        self._blank_inside = False
        self._is_lazy = False
        self._fence = syntax.Fence("", "", 0)
        self._marker = syntax.Marker("", None, 0, False)
        self._ordinal: int | None = None
        self._indent = 0
        self._head = ""
        self._continues: Literal["", "block", "line"] = ""
        self._is_long = False

    def feed(self, text: str) -> list[Chunk]:
        """Take the next piece; returns the blocks closed by it, in order."""
        *complete, rest = text.split("\n")
        for line in complete:
            self._partial.append(line)
            whole = "".join(self._partial)
            self._partial.clear()
            self._partial_chars = 0
            self._take(whole)
        if rest:
            self._partial.append(rest)
            self._partial_chars += len(rest)
            if self._partial_chars > MAX_LINE_CHARS:
                left = self._take_long("".join(self._partial))
                self._partial[:] = [left]
                self._partial_chars = len(left)
        done, self._out = self._out, []
        return done

    def open_chunks(self) -> list[Chunk]:
        """Return what is open now as it would be drawn: blocks that may still change."""
        twin = BlockScanner()
        twin.__dict__.update(self.__dict__)
        twin._lines, twin._partial, twin._out = list(self._lines), list(self._partial), []
        if self._state is _State.PARAGRAPH and syntax.is_underline("".join(self._partial)):
            twin._partial = []  # a list or a rule may begin here: do not flash as a heading
        chunks = twin.finish()
        if chunks:
            chunks[-1] = replace(chunks[-1], is_closed=False)
        return chunks

    def finish(self) -> list[Chunk]:
        """Close what is open (the text is whole); returns its blocks."""
        if self._partial:
            line = "".join(self._partial)
            self._partial.clear()
            self._partial_chars = 0
            self._take(line)
        self._close()
        done, self._out = self._out, []
        return done

    def _take(self, line: str) -> None:
        """Take one whole line."""
        if self._is_long or len(line) > MAX_LINE_CHARS:
            rest = self._take_long(line)
            self._end_long(rest)
            return
        if self._lines and self._chars + len(line) > MAX_BLOCK_CHARS:
            self._split()
        if not _TAKE[self._state](self, line):
            self._close()
            self._start(line)

    def _add(self, line: str) -> bool:
        self._lines.append(line)
        self._chars += len(line) + 1
        return True

    # What each state does with a line; False: it does not belong to the block.

    def _start(self, line: str) -> bool:
        if not line.strip():
            self._gap = True
            return True
        fence = syntax.fence_of(line)
        if fence is not None:
            self._state, self._fence = _State.FENCE, fence
            return True
        marker = None if syntax.is_rule(line) else syntax.marker_of(line)
        if syntax.indent_of(line) > syntax.MAX_BLANK_AFTER_MARKER - 1:
            self._state = _State.INDENTED
        elif marker is not None:
            self._begin_item(marker, marker.number)
        elif syntax.is_quote(line):
            self._state = _State.QUOTE
        else:
            self._state = _State.PARAGRAPH
        self._add(line)
        if syntax.is_heading(line) or syntax.is_rule(line):
            self._close()
        return True

    def _in_paragraph(self, line: str) -> bool:
        if not line.strip():
            self._close()
            self._gap = True
        elif syntax.is_underline(line):
            self._add(line)
            self._close()
        elif syntax.interrupts(line):
            return False
        else:
            self._add(line)
        return True

    def _in_quote(self, line: str) -> bool:
        if not line.strip():
            self._close()
            self._gap = True
            return True
        if syntax.is_quote(line):
            self._is_lazy = False
            return self._add(line)
        if self._ends_lazy(line):
            return True
        if syntax.interrupts(line):
            return False
        return self._add_lazy(line)

    def _add_lazy(self, line: str) -> bool:
        """Add a line that goes on without the container's mark. Whether it belongs inside or
        after the container, the parser decides: both are in one block."""
        self._is_lazy = True
        return self._add(line)

    def _ends_lazy(self, line: str) -> bool:
        """Take a line of dashes after such a line: a rule or a heading, the parser decides."""
        if not self._is_lazy or "-" not in line or not syntax.is_underline(line):
            return False
        self._add(line)
        self._close()
        return True

    def _in_list(self, line: str) -> bool:
        is_bare = self._marker.is_empty and len(self._lines) == 1
        if not line.strip():
            if is_bare:
                self._close()
                self._gap = True
                return True
            self._blank_inside = True
            return self._add("")
        if syntax.indent_of(line) >= self._marker.width:
            self._blank_inside = self._is_lazy = False
            return self._add(syntax.dedent(line, self._indent) if self._indent else line)
        if self._ends_lazy(line):
            return True
        marker = None if syntax.is_rule(line) else syntax.marker_of(line)
        if marker is not None:
            if marker.kind != self._marker.kind:
                return False
            ordinal = None if self._ordinal is None else self._ordinal + 1
            self._close()
            self._begin_item(marker, ordinal)
            return self._add(line)
        if self._blank_inside or is_bare or syntax.interrupts(line):
            return False
        return self._add_lazy(line)

    def _begin_item(self, marker: syntax.Marker, ordinal: int | None) -> None:
        self._state, self._marker, self._ordinal = _State.LIST, marker, ordinal

    def _in_indented(self, line: str) -> bool:
        if line.strip() and syntax.indent_of(line) < MAX_INDENT:
            return False
        return self._add(line)

    def _in_fence(self, line: str) -> bool:
        if syntax.closes_fence(line, self._fence.mark):
            self._emit_fence()
            self._reset()
            return True
        return self._add(syntax.dedent(line, self._fence.indent))

    def _emit_fence(self) -> None:
        if self._lines or not self._continues:
            self._emit(self._fence_chunk("\n".join(self._lines)))

    # Closing and cutting.

    def _close(self) -> None:
        """Emit the open block and go between blocks."""
        ended_blank = False
        if self._state is _State.FENCE:
            self._emit_fence()
        elif self._lines:
            while self._lines and not self._lines[-1].strip():
                self._lines.pop()
                ended_blank = True
            if self._lines:
                self._emit(self._markdown_chunk())
        self._reset()
        self._gap = ended_blank or self._gap

    def _reset(self) -> None:
        self._lines, self._chars = [], 0
        self._state = _State.BETWEEN
        self._blank_inside = self._is_lazy = False
        self._ordinal, self._indent, self._head, self._continues = None, 0, "", ""

    def _emit(self, chunk: Chunk) -> None:
        self._out.append(chunk)
        self._gap = False

    def _markdown_chunk(self) -> Chunk:
        return Chunk(
            "markdown",
            "\n".join(self._lines),
            self._gap,
            ordinal=None if self._continues else self._ordinal,
            indent=self._indent,
            head=self._head,
            continues=self._continues,
        )

    def _fence_chunk(self, code: str) -> Chunk:
        return Chunk("fence", code, self._gap, info=self._fence.info, continues=self._continues)

    def _split(self) -> None:
        """Close the block at a line, although it goes on: it is too long to lay out at once."""
        if self._state is _State.FENCE:
            self._emit(self._fence_chunk("\n".join(self._lines)))
        else:
            if self._state is _State.PARAGRAPH and not self._head and len(self._lines) > 1:
                is_table = "|" in self._lines[0] and syntax.is_table_rule(self._lines[1])
                head = "\n".join(self._lines[:2]) + "\n" if is_table else ""
            else:
                head = self._head
            self._emit(self._markdown_chunk())
            self._head = head
            if self._state is _State.LIST:
                self._indent = self._marker.width
        self._lines, self._chars = [], 0
        self._continues = "block"

    def _take_long(self, line: str) -> str:
        """Emit all whole parts of an over-long line; returns the rest."""
        if not self._is_long:
            self._is_long = True
            if self._state is _State.FENCE:
                if self._lines:
                    self._split()
            else:
                self._close()
        while len(line) > MAX_LINE_CHARS:
            cut = line.rfind(" ", MAX_LINE_CHARS // 2, MAX_LINE_CHARS) + 1 or MAX_LINE_CHARS
            self._emit_part(line[:cut])
            line = line[cut:]
        return line

    def _emit_part(self, text: str) -> None:
        if self._state is _State.FENCE:
            self._emit(self._fence_chunk(text))
        else:
            self._emit(Chunk("plain", text, self._gap, continues=self._continues))
        self._continues = "line"

    def _end_long(self, rest: str) -> None:
        """The over-long line has ended with `rest`."""
        self._emit_part(rest)
        self._is_long = False
        if self._state is _State.FENCE:
            self._continues = "block"
        else:
            self._reset()


MAX_INDENT: Final = syntax.MAX_BLANK_AFTER_MARKER
"""Columns of indentation from which on a line is code."""

_TAKE: Final = {
    _State.BETWEEN: BlockScanner._start,
    _State.PARAGRAPH: BlockScanner._in_paragraph,
    _State.QUOTE: BlockScanner._in_quote,
    _State.LIST: BlockScanner._in_list,
    _State.INDENTED: BlockScanner._in_indented,
    _State.FENCE: BlockScanner._in_fence,
}
