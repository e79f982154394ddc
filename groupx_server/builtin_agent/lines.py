"""Cuts a byte stream into lines. Sans-IO, bounded, and linear: each byte is looked at once."""

from __future__ import annotations

from typing import Final

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""A context packet may hold 10,000,000 characters; as JSON that is up to 60 MB."""


class LineBuffer:
    """Feed chunks, get whole lines without their newline. A line over the limit is dropped whole
    and counted in `dropped`; the lines after it are not harmed."""

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._max = max_line_bytes
        self._parts: list[bytes] = []
        self._held = 0
        self._overflowed = False
        self.dropped = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that `chunk` completes; blank lines are left out."""
        *ended, rest = chunk.split(b"\n")
        lines = []
        for piece in ended:
            self._hold(piece)
            if (line := self._take()) is not None and line.strip():
                lines.append(line)
        self._hold(rest)
        return lines

    def _hold(self, piece: bytes) -> None:
        if self._overflowed or self._held + len(piece) > self._max:
            self._overflowed = True
            self._parts.clear()
            return
        self._parts.append(piece)
        self._held += len(piece)

    def _take(self) -> bytes | None:
        line = None if self._overflowed else b"".join(self._parts)
        self.dropped += self._overflowed
        self._parts.clear()
        self._held = 0
        self._overflowed = False
        return line
