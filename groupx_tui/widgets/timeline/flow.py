"""The parts of a text that grows: closed blocks are made once, the open end anew.

Invariant: the parts are those of the whole text, however it came. Counterpart: the scanners in
`groupx_tui.render`, which cut it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from groupx_tui.render.markdown.scanner import Chunk
from groupx_tui.state.streamtext import StreamText
from groupx_tui.widgets.timeline.parts import Part, Stack

MakePart = Callable[[int, Chunk, Chunk | None], Part]
"""Makes the part of chunk number n; the chunk before it is given too."""


class Scanner(Protocol):
    """What cuts a text into chunks (`BlockScanner`, `PlainScanner`)."""

    def feed(self, text: str) -> list[Chunk]: ...

    def open_chunks(self) -> list[Chunk]: ...

    def finish(self) -> list[Chunk]: ...


class Flow:
    """Follows one `StreamText`."""

    def __init__(self, new_scanner: Callable[[], Scanner], make_part: MakePart) -> None:
        self._new_scanner = new_scanner
        self._make_part = make_part
        self._text = StreamText()
        self._is_whole = False
        self._scanner = new_scanner()
        self.closed = Stack()
        """What cannot change any more."""
        self.open: list[Part] = []
        """What may still change, after that."""
        self._last: Chunk | None = None

    @property
    def parts(self) -> list[Part]:
        """All parts, in order."""
        return [*self.closed.parts, *self.open]

    def update(self, text: StreamText, *, is_whole: bool) -> None:
        """Follow the text to its newest state; `is_whole` when it will not grow any more."""
        if text is self._text and is_whole == self._is_whole:
            return
        rest = self._rest_of(text)
        if rest is None:
            self._restart()
            rest = str(text)
        self._text, self._is_whole = text, is_whole
        closed = self._scanner.feed(rest) if rest else []
        if is_whole:
            self._place([*closed, *self._scanner.finish()], [])
        else:
            self._place(closed, self._scanner.open_chunks())

    def _rest_of(self, text: StreamText) -> str | None:
        """Return what of the text was not fed yet, or None when it does not go on from that."""
        if self._is_whole:
            return None
        if text.continues(self._text):
            return "".join(text.pieces_from(self._text.piece_count))
        old, new = str(self._text), str(text)
        return new[len(old) :] if new.startswith(old) else None

    def _restart(self) -> None:
        self._scanner = self._new_scanner()
        self.open = self.parts
        self.closed, self._last = Stack(), None

    def _place(self, closed: list[Chunk], opened: list[Chunk]) -> None:
        """Append closed chunks and put the open ones after them; equal parts are kept as they
        are, with their rows."""
        reusable = {part.key: part for part in self.open}
        for chunk in closed:
            part = self._make_part(len(self.closed.parts), chunk, self._last)
            self.closed.append(_same(reusable, part))
            self._last = chunk
        self.open, last = [], self._last
        for chunk in opened:
            part = self._make_part(len(self.closed.parts) + len(self.open), chunk, last)
            self.open.append(_same(reusable, part))
            last = chunk


def _same(known: dict[str, Part], part: Part) -> Part:
    old = known.get(part.key)
    return old if old is not None and old.inputs == part.inputs else part
