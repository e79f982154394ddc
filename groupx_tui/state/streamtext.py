"""Text that grows at its end: appending costs the piece, never the whole.

A `StreamText` is an immutable view (a length) on a shared append-only list of pieces, so the
reducer stays pure while a 1 MB answer streams at the cost of its deltas. Appending to any but the
newest view copies (that never happens while streaming).
"""

from __future__ import annotations

from collections.abc import Iterable


class StreamText:
    """An immutable text made of pieces."""

    __slots__ = ("_count", "_length", "_pieces")

    def __init__(self, text: str = "") -> None:
        self._pieces: list[str] = [text] if text else []
        self._count = len(self._pieces)
        self._length = len(text)

    def append(self, piece: str) -> StreamText:
        """Return the text with `piece` at its end; costs O(len(piece)) on the newest view."""
        if not piece:
            return self
        grown = StreamText.__new__(StreamText)
        pieces = self._pieces
        if len(pieces) != self._count:
            pieces = pieces[: self._count]
        pieces.append(piece)
        grown._pieces, grown._count = pieces, self._count + 1
        grown._length = self._length + len(piece)
        return grown

    def pieces_from(self, index: int) -> Iterable[str]:
        """The pieces from number `index` on; remember `piece_count` to ask for what is new."""
        return self._pieces[index : self._count]

    def continues(self, older: StreamText) -> bool:
        """True when this is `older` with more at its end (or nothing), known without comparing
        text: what `pieces_from(older.piece_count)` yields is all that is new."""
        return self._pieces is older._pieces and self._count >= older._count

    @property
    def piece_count(self) -> int:
        return self._count

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        return "".join(self._pieces[: self._count])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StreamText):
            return NotImplemented
        return self._length == other._length and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"StreamText({str(self)[:40]!r}, {self._length} characters)"
