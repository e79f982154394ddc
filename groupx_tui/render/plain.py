"""Cuts a growing plain text into parts that are laid out apart from each other.

Same shape as the markdown scanner: what is closed never changes, and the parts depend on the text
alone. A part ends at a line break, or, in a line too long for that, at a blank.
"""

from __future__ import annotations

from typing import Final, Literal

from groupx_tui.render.markdown.scanner import Chunk

PART_CHARS: Final = 4_096
"""A part ends at the first line break after so much."""

MAX_PART_CHARS: Final = 8_192
"""A part without a line break there is cut at this length."""


class PlainScanner:
    """Feed it pieces of a text; it gives the parts that can no longer change."""

    def __init__(self) -> None:
        self._rest = ""
        self._continues: Literal["", "block", "line"] = ""

    def feed(self, text: str) -> list[Chunk]:
        """Take the next piece; returns the parts closed by it, in order."""
        buffer, start = self._rest + text, 0
        done: list[Chunk] = []
        while True:
            limit = start + MAX_PART_CHARS
            cut = buffer.find("\n", start + PART_CHARS, limit)
            if cut >= 0:
                done.append(Chunk("plain", buffer[start:cut], continues=self._continues))
                start, self._continues = cut + 1, "block"
            elif len(buffer) > limit:
                cut = buffer.rfind(" ", start + PART_CHARS, limit) + 1 or limit
                done.append(Chunk("plain", buffer[start:cut], continues=self._continues))
                start, self._continues = cut, "line"
            else:
                break
        self._rest = buffer[start:]
        return done

    def open_chunks(self) -> list[Chunk]:
        """Return the part that is open now."""
        if not self._rest:
            return []
        return [Chunk("plain", self._rest, continues=self._continues, is_closed=False)]

    def finish(self) -> list[Chunk]:
        """Close what is open (the text is whole); returns its part."""
        rest, self._rest = self._rest, ""
        return [Chunk("plain", rest, continues=self._continues)] if rest else []
