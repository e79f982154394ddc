"""Reads Server-Sent Events as model servers send them. Sans-IO, bounded, tolerant.

`SseReader.feed` gives the `data` of each event; comments, ids and event names are dropped. Beyond
the standard (HTML Living Standard §9.2.6) it takes a bare JSON object on a line for data, since
some servers report an error in the middle of a stream that way.
"""

from __future__ import annotations

import re
from typing import Final

MAX_EVENT_BYTES: Final = 8 * 1024 * 1024
"""Larger than any sane delta; a tool call's whole arguments fit."""

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")


class EventTooLargeError(ValueError):
    """One event is larger than `MAX_EVENT_BYTES`."""


class SseReader:
    """Feed chunks of any size; the events do not depend on how the bytes were cut."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max = max_event_bytes
        self._parts: list[bytes] = []
        self._data: list[bytes] = []
        self._held = 0
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the data of every event that `chunk` completes.

        Raises: EventTooLargeError.
        """
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = self._after_cr or chunk.endswith(b"\r")
        *ended, rest = _LINE_END.split(chunk)
        events: list[bytes] = []
        for piece in ended:
            self._hold(piece)
            line = b"".join(self._parts)
            self._parts.clear()
            self._line(line, events)
        self._hold(rest)
        return events

    def finish(self) -> list[bytes]:
        """Return what the stream's end leaves: a last event without its blank line."""
        events = self.feed(b"\n\n") if self._parts or self._data else []
        self._after_cr = False
        return events

    def _hold(self, piece: bytes) -> None:
        if not piece:
            return
        self._held += len(piece)
        if self._held > self._max:
            raise EventTooLargeError(f"an event of the stream is over {self._max:,} bytes")
        self._parts.append(piece)

    def _line(self, line: bytes, events: list[bytes]) -> None:
        if not line:
            if self._data:
                events.append(b"\n".join(self._data))
            self._data.clear()
            self._held = 0
        elif line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif line.startswith(b"{"):
            self._data.append(line)
        else:
            self._held -= len(line)
