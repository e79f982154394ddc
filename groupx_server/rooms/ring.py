"""The hot ring: the newest SSE frames, encoded once and shared by all live readers. Sans-IO.

Invariant: the ring holds every durable event after `floor_seq` up to `newest_seq`, in seq order,
with transient frames between them where they were published. A reader whose cursor lies at or
after the floor can read on here; any other one must read the ledger first. The counterpart is
`broadcast`, which fills it and moves readers between ring and ledger.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupx_shared.wire.sse import encode_durable, encode_transient


@dataclass(slots=True)
class Slot:
    """One frame in the ring, or waiting to enter it."""

    frame: bytes
    """Empty once a newer frame with the same merge key replaced it."""
    room_id: str | None
    """None: for readers of any room."""
    is_durable: bool
    order: int = 0
    """A durable's seq; for a transient the seq of the newest durable before it."""
    merge_key: str | None = None
    size: int = 0


@dataclass(slots=True)
class Reader:
    """Where one client is: `cursor` in the ledger, `position` on the ring."""

    cursor: int
    """Everything up to this seq was given (or is of another room)."""
    room_id: str | None = None
    """Only this room's events; None: all."""
    position: int = 0
    live_from: int = 0
    """Transients before this position were published before the reader came; it never gets
    them."""
    is_aligned: bool = False
    """All at and after `position` is new to the reader, so nothing need be compared."""


class Ring:
    """Bounded by `max_events` and `max_bytes`; the oldest frames leave first."""

    def __init__(self, *, max_events: int, max_bytes: int, newest_seq: int) -> None:
        self.newest_seq = newest_seq
        self.floor_seq = newest_seq
        self.head = 0
        """Position of the next frame."""
        self.tail = 0
        """Position of the oldest frame kept."""
        self.encoded = 0
        """Frames encoded so far: one for each event, however many readers there are."""
        self._max_bytes = max_bytes
        self._capacity = max_events
        self._slots: list[Slot | None] = [None] * max_events
        self._bytes = 0
        self._latest: dict[str, Slot] = {}
        self._joined: dict[tuple[int, str | None], tuple[int, bytes]] = {}

    def push_durable(self, seq: int, room_id: str, data: bytes) -> None:
        """Add the next durable event; `seq` must be above `newest_seq`."""
        self.newest_seq = seq
        self.encoded += 1
        self._push(Slot(encode_durable(seq, data), room_id, is_durable=True))

    def make_transient(self, data: bytes, room_id: str | None, merge_key: str | None) -> Slot:
        """Encode a transient frame; it empties the one with the same merge key, wherever it is."""
        self.encoded += 1
        slot = Slot(encode_transient(data), room_id, is_durable=False, merge_key=merge_key)
        if merge_key is not None:
            if (older := self._latest.get(merge_key)) is not None:
                older.frame = b""
                self._joined.clear()
            self._latest[merge_key] = slot
        return slot

    def push_transient(self, slot: Slot) -> None:
        """Put a frame of `make_transient` behind the newest durable event."""
        self._push(slot)

    def discard(self, slot: Slot) -> None:
        """Forget a frame of `make_transient` that will not be pushed."""
        if slot.merge_key is not None and self._latest.get(slot.merge_key) is slot:
            del self._latest[slot.merge_key]

    def reach(self, seq: int) -> None:
        """Say that there is no event between `newest_seq` and `seq`, both included."""
        self.newest_seq = max(self.newest_seq, seq)

    def forget(self, seq: int) -> None:
        """Drop all frames and go on after `seq`; readers behind it must read the ledger."""
        while self.tail < self.head:
            self._evict()
        self.newest_seq = self.floor_seq = max(self.newest_seq, seq)

    def join(self, reader: Reader) -> bool:
        """Put a reader on the ring at the first durable event after its cursor; False when
        events between the two have left the ring."""
        if reader.cursor < self.floor_seq:
            return False
        reader.position = self._first_after(reader.cursor)
        reader.live_from = self.head
        reader.is_aligned = False
        return True

    def holds(self, reader: Reader) -> bool:
        """True while nothing durable is missing between the reader and the ring. A reader that
        lost only transients is moved up to the oldest frame."""
        if reader.position >= self.tail:
            return True
        if reader.cursor < self.floor_seq:
            return False
        reader.position = self.tail
        return True

    def take(self, reader: Reader, max_bytes: int) -> bytes:
        """Return the reader's next frames in one piece and move it; empty at the head.

        Ends after the frame that passes `max_bytes`. Only for a reader that the ring `holds`.
        """
        if reader.is_aligned:
            key = (reader.position, reader.room_id)
            if (found := self._joined.get(key)) is None:
                found = self._joined[key] = self._join_frames(reader, max_bytes)
        else:
            found = self._join_frames(reader, max_bytes)
        reader.position, chunk = found
        self._move_cursor(reader)
        return chunk

    def _join_frames(self, reader: Reader, max_bytes: int) -> tuple[int, bytes]:
        frames: list[bytes] = []
        position, size = reader.position, 0
        while position < self.head and size < max_bytes:
            slot = self._at(position)
            if reader.is_aligned or _is_new(slot, position, reader):
                wanted = reader.room_id is None or slot.room_id in (None, reader.room_id)
                if wanted and slot.frame:
                    frames.append(slot.frame)
                    size += len(slot.frame)
            position += 1
        return position, b"".join(frames)

    def _move_cursor(self, reader: Reader) -> None:
        at_head = reader.position == self.head
        passed = self.newest_seq if at_head else self._order_before(reader.position)
        reader.cursor = max(reader.cursor, passed)
        if at_head and reader.cursor == self.newest_seq:
            reader.is_aligned = True

    def _order_before(self, position: int) -> int:
        return self._at(position - 1).order if position > self.tail else 0

    def _first_after(self, cursor: int) -> int:
        """Position of the first durable event after `cursor` (binary search), else the head."""
        low, high = self.tail, self.head
        while low < high:
            middle = (low + high) // 2
            if self._at(middle).order > cursor:
                high = middle
            else:
                low = middle + 1
        return low

    def _push(self, slot: Slot) -> None:
        slot.order = self.newest_seq
        slot.size = len(slot.frame)
        if self.head - self.tail == self._capacity:
            self._evict()
        self._slots[self.head % self._capacity] = slot
        self.head += 1
        self._bytes += slot.size
        while self._bytes > self._max_bytes:
            self._evict()
        self._joined.clear()

    def _evict(self) -> None:
        slot = self._at(self.tail)
        self._slots[self.tail % self._capacity] = None
        self.tail += 1
        self._bytes -= slot.size
        self.discard(slot)
        if slot.is_durable:
            self.floor_seq = slot.order

    def _at(self, position: int) -> Slot:
        slot = self._slots[position % self._capacity]
        assert slot is not None, f"no frame at {position} ({self.tail}..{self.head})"
        return slot


def _is_new(slot: Slot, position: int, reader: Reader) -> bool:
    if slot.is_durable:
        return slot.order > reader.cursor
    return position >= reader.live_from and slot.order >= reader.cursor
