"""Bytes of a pipe into JSON lines, without I/O.

Owns the bytes of the line that has not ended yet. Invariant: however the stream is cut into
chunks, the same lines come out in the same order, and an unfinished line costs its own size
once (pieces are kept apart and joined at the newline, never `buffer + chunk`).

A line longer than the limit is refused, not the stream: its bytes are dropped as they come, one
`OverlongLine` is given when the limit is passed, and the next line after its newline is read as
usual. What a lost line means for a turn is decided by the driver, which knows whether one runs.
The counterpart is `jsonrpc.py`, which reads a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""Agents send a whole message of history as one line; 64 MiB is far above any seen."""

LARGE_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class OverlongLine:
    """A line that was longer than `limit_bytes` and was dropped."""

    limit_bytes: int


class LineSplitter:
    """Cuts a byte stream at newlines; blank lines are dropped, `\\r` before the newline too."""

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._max = max_line_bytes
        self._pieces: list[bytes] = []
        self._large = bytearray()
        """The line's beginning, once it is long: thousands of pieces would leave holes behind."""
        self._held = 0
        self._skipping = False

    @property
    def held_bytes(self) -> int:
        """Bytes kept of the line that has not ended yet."""
        return self._held

    def feed(self, data: bytes) -> list[bytes | OverlongLine]:
        """Take the next bytes and return the lines that ended in them, without newlines."""
        head, newline, rest = data.partition(b"\n")
        if not newline:
            return self._hold(data)
        lines: list[bytes | OverlongLine] = self._hold(head)
        lines.extend(self._end_held())
        *whole, tail = rest.split(b"\n")
        if len(rest) <= self._max:  # so is each line, and all of them are looked at together
            if b"\r" in rest:
                whole = [line.removesuffix(b"\r") for line in whole]
            lines += [line for line in whole if line and not line.isspace()]
        else:
            for line in whole:
                lines += self._whole(line)
        if tail:
            lines += self._hold(tail)
        return lines

    def finish(self) -> list[bytes | OverlongLine]:
        """The stream ended: return a last line that had no newline, if there is one."""
        return self._end_held()

    def _hold(self, piece: bytes) -> list[bytes | OverlongLine]:
        if self._skipping or not piece:
            return []
        self._pieces.append(piece)
        self._held += len(piece)
        if self._held <= self._max:
            if self._held > LARGE_BYTES:
                self._large += b"".join(self._pieces)
                self._pieces.clear()
            return []
        self._large = bytearray()
        self._pieces.clear()
        self._held = 0
        self._skipping = True
        return [OverlongLine(self._max)]

    def _end_held(self) -> list[bytes | OverlongLine]:
        line = b"".join([self._large, *self._pieces])
        self._large = bytearray()
        self._pieces.clear()
        self._held = 0
        self._skipping = False
        return self._whole(line)

    def _whole(self, line: bytes) -> list[bytes | OverlongLine]:
        if len(line) > self._max:
            return [OverlongLine(self._max)]
        line = line.removesuffix(b"\r")
        return [line] if line and not line.isspace() else []
