"""HTTP/1.1 response framing without I/O (RFC 9112 §6, §7): status, headers, chunked bodies.

Only what a stream from our own server needs: one response on one connection. Anything else is a
`ValueError`: then it is not our server that answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MAX_SIZE_LINE: Final = 256
"""A chunk's size line is a few hexadecimal digits; our server sends no extensions."""


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """Status and headers (names in lower case)."""

    status: int
    headers: dict[str, str]

    @property
    def is_chunked(self) -> bool:
        return "chunked" in self.headers.get("transfer-encoding", "").lower()


def parse_head(raw: bytes) -> ResponseHead:
    """Parse a response up to and including its empty line. Raises: ValueError."""
    first, *lines = raw.decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    status = rest[:3]
    if not version.startswith("HTTP/1.") or not status.isdigit() or len(status) != 3:
        raise ValueError(f"not an HTTP/1.1 response: {first[:80]!r}")
    pairs = (line.partition(":") for line in lines if line)
    return ResponseHead(int(status), {name.lower(): value.strip() for name, _, value in pairs})


class ChunkDecoder:
    """Takes the bytes of a chunked body in any split and gives back the payload.

    `has_ended` is true after the last chunk. Raises: ValueError for broken framing.
    """

    def __init__(self) -> None:
        self.has_ended = False
        self._held = b""
        self._left = 0
        self._is_after_data = False

    def feed(self, data: bytes) -> bytes:
        """Return the payload in the next bytes."""
        buffer, payload = self._held + data if self._held else data, []
        position, self._held = 0, b""
        while not self.has_ended and position < len(buffer):
            if self._left:
                piece = buffer[position : position + self._left]
                payload.append(piece)
                position += len(piece)
                self._left -= len(piece)
                self._is_after_data = not self._left
                continue
            end = buffer.find(b"\r\n", position)
            if end < 0:
                self._hold(buffer[position:])
                break
            self._take_line(buffer[position:end])
            position = end + 2
        return payload[0] if len(payload) == 1 else b"".join(payload)

    def _hold(self, rest: bytes) -> None:
        if len(rest) > MAX_SIZE_LINE:
            raise ValueError("a chunk without a size line")
        self._held = rest

    def _take_line(self, line: bytes) -> None:
        if self._is_after_data:
            if line:
                raise ValueError("a chunk longer than its size")
            self._is_after_data = False
            return
        digits = line.partition(b";")[0].strip()
        if not digits or digits.strip(b"0123456789abcdefABCDEF"):
            raise ValueError(f"a chunk of size {line[:40]!r}")
        self._left = int(digits, 16)
        self.has_ended = self._left == 0
