"""Server-sent events, both directions, sans-IO (WHATWG HTML §9.2).

The server writes with `encode_durable`/`encode_transient`; clients feed bytes to `SseParser`.
A durable frame has `id: <seq>`, so `Last-Event-ID` is always a ledger position. There is no
`event:` line: the type is in the JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

HEARTBEAT: Final = b": heartbeat\n\n"
MAX_FRAME_BYTES: Final = 64 * 1024 * 1024
"""A frame larger than this is a broken stream, not an event."""


def encode_durable(seq: int, data: bytes) -> bytes:
    """Frame one durable event; `data` is its JSON on one line."""
    return b"id: %d\ndata: %b\n\n" % (seq, data)


def encode_transient(data: bytes) -> bytes:
    """Frame one transient event; `data` is its JSON on one line."""
    return b"data: %b\n\n" % data


@dataclass(frozen=True, slots=True)
class SseFrame:
    """One dispatched event: its data and the last id seen so far on the stream."""

    data: str
    event_id: str | None
    event: str = "message"


class SseParser:
    """Incremental parser: feed bytes in any split, get whole frames out.

    Comments (heartbeats) give no frame but count in `comments`, so a reader can tell that the
    stream lives. Raises ValueError when a frame grows beyond `MAX_FRAME_BYTES`.
    """

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._pending_bytes = 0
        self._skip_line_feed = False
        self._data: list[str] = []
        self._data_bytes = 0
        self._event = ""
        self.last_event_id: str | None = None
        self.comments = 0

    def feed(self, chunk: bytes) -> list[SseFrame]:
        """Take the next bytes and return the frames they complete."""
        if self._skip_line_feed and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._skip_line_feed = False
        if b"\n" not in chunk and b"\r" not in chunk:
            self._hold(chunk)
            return []
        buffer = b"".join([*self._chunks, chunk])
        self._skip_line_feed = buffer.endswith(b"\r")
        lines = buffer.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._chunks, self._pending_bytes = [], 0
        self._hold(lines.pop())
        return [frame for line in lines if (frame := self._line(line)) is not None]

    def _hold(self, chunk: bytes) -> None:
        if chunk:
            self._chunks.append(chunk)
            self._pending_bytes += len(chunk)
        if self._pending_bytes + self._data_bytes > MAX_FRAME_BYTES:
            raise ValueError(f"an event larger than {MAX_FRAME_BYTES} bytes arrived")

    def _line(self, line: bytes) -> SseFrame | None:
        if not line:
            return self._dispatch()
        if line.startswith(b":"):
            self.comments += 1
            return None
        name, _, raw = line.partition(b":")
        value = raw.removeprefix(b" ").decode("utf-8", "replace")
        if name == b"data":
            self._data.append(value)
            self._data_bytes += len(raw)
        elif name == b"id" and "\0" not in value:
            self.last_event_id = value
        elif name == b"event":
            self._event = value
        return None

    def _dispatch(self) -> SseFrame | None:
        event, self._event = self._event or "message", ""
        if not self._data:
            return None
        data, self._data, self._data_bytes = "\n".join(self._data), [], 0
        return SseFrame(data=data, event_id=self.last_event_id, event=event)
