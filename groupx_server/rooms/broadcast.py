"""The fan-out: every durable event to every listening client, once and in seq order.

One tail reads new rows of the ledger into the hot ring; each subscription follows the ring at its
own pace. A client that is too slow for the ring, or starts far behind, reads pages of the ledger,
one page ahead of its socket at most, until it is back on the ring. So nothing durable is lost,
doubled or reordered, whatever the length of the gap; transient frames reach only clients on the
ring and may be lost. A transient stands behind every durable event committed before it was
published and before every one committed after. The counterparts are `ring` (the frames) and http/
(the sockets).
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from types import TracebackType
from typing import Final, Protocol, Self

from groupx_server.logs import get_logger
from groupx_server.rooms.paging import MAX_ROWS, PageSize
from groupx_server.rooms.ring import Reader, Ring, Slot
from groupx_server.rooms.rows import DurableFrameSource
from groupx_server.rooms.turnstates import TurnStates
from groupx_shared.errors import ErrorCode, LedgerError
from groupx_shared.wire.sse import HEARTBEAT, encode_durable, encode_transient

CHUNK_BYTES: Final = 64 * 1024
"""Frames are handed to the socket in pieces of about this size, as large as uvicorn's write buffer:
a reader that stops costs two of them, and one page of the ledger when it was catching up."""
HEARTBEAT_S: Final = 15.0
"""Silence after which a comment shows that the stream lives (proxies cut at 30 to 60 s)."""
PAGE_BYTES: Final = 1024 * 1024
"""Size of a page of the ledger for a reader that catches up: what it may hold beside its socket."""
RETRY_FIRST_S: Final = 0.25
RETRY_MAX_S: Final = 5.0
"""Pauses of the tail while the ledger cannot be read: doubling between these two."""

_log = get_logger(__name__)


class DurableSource(Protocol):
    """Reads the ledger for the fan-out (implemented by the room service)."""

    async def durable_after(
        self, after_seq: int, limit: int, room_id: str | None
    ) -> list[DurableFrameSource]:
        """At most `limit` durable events after `after_seq`, by seq; of one room, or of all."""
        ...


class LedgerSignal(Protocol):
    """Tells that the ledger grew (implemented by the ledger)."""

    @property
    def last_seq(self) -> int:
        """Newest durable seq that readers can see."""
        ...

    async def changed(self, after_seq: int) -> int:
        """Wait until `last_seq` is above `after_seq`; return it. Raises LedgerError when the
        ledger closes."""
        ...


@dataclass(frozen=True, slots=True)
class HubLimits:
    """Bounds of the fan-out (settings `limits.sseEvents`, `limits.sseBytes`)."""

    ring_events: int = 512
    ring_bytes: int = 2 * 1024 * 1024
    chunk_bytes: int = CHUNK_BYTES
    page_bytes: int = PAGE_BYTES
    heartbeat_s: float = HEARTBEAT_S


class Hub:
    """Start `run()` in the server's TaskGroup; `close()` ends it and all subscriptions."""

    def __init__(
        self, source: DurableSource, signal: LedgerSignal, limits: HubLimits | None = None
    ) -> None:
        self.limits = limits or HubLimits()
        self._source = source
        self._signal = signal
        self._ring = Ring(
            max_events=self.limits.ring_events,
            max_bytes=self.limits.ring_bytes,
            newest_seq=signal.last_seq,
        )
        # Half a ring at a time, so that live readers empty it while more is on its way.
        self._half_ring = max(1, min(self.limits.ring_events // 2, MAX_ROWS))
        self._pending: deque[tuple[int, Slot]] = deque()
        """Transients that wait until the tail has passed the seq beside them."""
        self._states = TurnStates()
        self._subscriptions: set[Subscription] = set()
        self._closed = asyncio.Event()
        self.on_audience: Callable[[bool], None] = lambda _: None
        """Called when the first client comes (true) and when the last one has gone."""

    @property
    def last_seq(self) -> int:
        """Newest durable seq of the ledger."""
        return self._signal.last_seq

    @property
    def subscriber_count(self) -> int:
        return len(self._subscriptions)

    @property
    def frames_encoded(self) -> int:
        """Frames encoded for the ring since the start; does not grow with the readers."""
        return self._ring.encoded

    async def run(self) -> None:
        """Follow the ledger until `close()`. A ledger that cannot be read is tried again."""
        async with asyncio.TaskGroup() as group:
            tail = group.create_task(self._follow(), name="sse-tail")
            await self._closed.wait()
            tail.cancel()

    def close(self) -> None:
        """End `run()` and every subscription at once; again is harmless."""
        self._closed.set()
        self._wake_all()

    def subscribe(self, after_seq: int, room_id: str | None = None) -> Subscription:
        """Give every durable event after `after_seq` and, from now on, the transient ones.

        Use as a context manager. Never waits; the caller checks that the room is known and that
        `after_seq` is not beyond `last_seq`.
        """
        subscription = Subscription(self, Reader(cursor=after_seq, room_id=room_id))
        self._subscriptions.add(subscription)
        if len(self._subscriptions) == 1:
            self.on_audience(True)
        return subscription

    def _leave(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.discard(subscription)
            if not self._subscriptions:
                self.on_audience(False)

    def forget_frames(self) -> None:
        """Texts of stored events were removed: what was encoded of them is not sent any more;
        readers that are behind read the ledger."""
        self._states.clear()
        self._ring.forget(self._ring.newest_seq)
        self._wake_all()

    def publish_transient(
        self, data: bytes, room_id: str | None, merge_key: str | None = None
    ) -> None:
        """Send an event that is not stored: its envelope as JSON on one line.

        It is ordered after all that was committed before this call. With `merge_key` it replaces
        the last frame of that key for readers who have not got that yet (a status, a tool's
        progress); text that adds up must be sent without. States of turns are given to readers
        that come later, too. Never waits; costs next to nothing while nobody listens.
        """
        self._states.note(merge_key, room_id, data)
        if not self._subscriptions:
            return
        slot = self._ring.make_transient(data, room_id, merge_key)
        if not self._pending and self._signal.last_seq <= self._ring.newest_seq:
            self._ring.push_transient(slot)
            self._wake_all()
            return
        if len(self._pending) == self._half_ring:
            self._ring.discard(self._pending.popleft()[1])
        self._pending.append((self._signal.last_seq, slot))

    def turn_ended(self, turn_id: str) -> None:
        """Tell readers that come later nothing of how a turn stands: its end is stored."""
        self._states.forget_turn(turn_id)

    async def _follow(self) -> None:
        pause_s = RETRY_FIRST_S
        while not self._closed.is_set():
            try:
                await self._signal.changed(self._ring.newest_seq)
                await self._advance()
                pause_s = RETRY_FIRST_S
            except LedgerError as error:
                if error.code == ErrorCode.SHUTTING_DOWN:
                    return
                _log.warning("sse.tail_failed", error=error.message, retry_s=pause_s)
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, RETRY_MAX_S)

    async def _advance(self) -> None:
        high = self._signal.last_seq
        while self._subscriptions and self._ring.newest_seq < high:
            rows = await self._source.durable_after(self._ring.newest_seq, self._half_ring, None)
            for row in rows:
                self._release_pending(row.seq - 1)
                self._ring.push_durable(row.seq, row.room_id, row.data)
            if len(rows) < self._half_ring:
                self._ring.reach(high)
            self._release_pending(self._ring.newest_seq)
            self._wake_all()
        if not self._subscriptions:
            self._pending.clear()
            self._ring.forget(high)

    def _release_pending(self, through_seq: int) -> None:
        """Let in the transients published when nothing after `through_seq` was committed: behind
        what came before them, before what came after (a delta, then its turn's end)."""
        while self._pending and self._pending[0][0] <= through_seq:
            self._ring.push_transient(self._pending.popleft()[1])

    def _wake_all(self) -> None:
        for subscription in self._subscriptions:
            subscription.wake()


class Subscription:
    """One client's stream: iterate it for pieces of frames, each ready for the socket.

    A piece is asked for only when the one before is written, so the client's pace is the pace.
    Raises LedgerError from the iteration when the ledger cannot be read.
    """

    def __init__(self, hub: Hub, reader: Reader) -> None:
        self._hub = hub
        self._limits = hub.limits
        self._ring = hub._ring
        self._reader = reader
        self._is_on_ring = self._ring.join(reader)
        self._ahead: deque[bytes] = deque()
        self._page = PageSize(self._limits.page_bytes)
        self._woken = asyncio.Event()
        self._heartbeat: asyncio.TimerHandle | None = None
        self._sent_at = 0.0
        self._is_silent = False
        self._knows_states = False

    @property
    def is_on_ring(self) -> bool:
        """False while it reads the ledger."""
        return self._is_on_ring

    def wake(self) -> None:
        """Say that there may be something new, or that the hub closed."""
        self._woken.set()

    def close(self) -> None:
        """Free the client's state; the iteration must not go on after it."""
        self._hub._leave(self)
        self._ahead.clear()
        if self._heartbeat is not None:
            self._heartbeat.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        while not self._hub._closed.is_set():
            if (chunk := self._ready()) is not None:
                self._sent_at = asyncio.get_running_loop().time()
                self._is_silent = False
                return chunk
            if self._is_on_ring:
                await self._wait()
            else:
                await self._read_page()
        raise StopAsyncIteration

    def _ready(self) -> bytes | None:
        """What can be sent without waiting; None when there is nothing."""
        if self._ahead:
            return self._ahead.popleft()
        self._is_on_ring = self._is_on_ring and self._ring.holds(self._reader)
        if self._is_on_ring and not self._knows_states:
            self._knows_states = True
            states = self._hub._states.of_room(self._reader.room_id)
            if states:
                return b"".join(map(encode_transient, states))
        if self._is_on_ring and (chunk := self._ring.take(self._reader, self._limits.chunk_bytes)):
            return chunk
        return HEARTBEAT if self._is_silent and self._is_on_ring else None

    async def _wait(self) -> None:
        if self._heartbeat is None:
            self._arm_heartbeat(self._limits.heartbeat_s)
        self._woken.clear()
        await self._woken.wait()

    def _arm_heartbeat(self, delay_s: float) -> None:
        loop = asyncio.get_running_loop()
        self._heartbeat = loop.call_later(delay_s, self._on_heartbeat)

    def _on_heartbeat(self) -> None:
        """One timer a client and period: it looks how long ago something was sent, instead of
        being set anew at each frame."""
        period_s = self._limits.heartbeat_s
        left_s = self._sent_at + period_s - asyncio.get_running_loop().time()
        if left_s <= 0:
            self._is_silent = True
            self.wake()
        self._arm_heartbeat(left_s if left_s > 0 else period_s)

    async def _read_page(self) -> None:
        reader, limit = self._reader, self._page.rows
        # Taken before the read: all rows up to here are in its snapshot.
        through = self._ring.newest_seq
        rows = await self._hub._source.durable_after(reader.cursor, limit, reader.room_id)
        size = self._put_ahead(rows)
        passed = rows[-1].seq if rows else 0
        reader.cursor = max(reader.cursor, passed if len(rows) == limit else max(passed, through))
        self._page.learn(len(rows), size)
        # At once, not when the page is sent: live frames may already gather behind it.
        self._is_on_ring = self._ring.join(reader)

    def _put_ahead(self, rows: list[DurableFrameSource]) -> int:
        """Frame the rows in pieces of about `chunk_bytes`; return the bytes of all."""
        frames = [encode_durable(row.seq, row.data) for row in rows]
        ends = list(accumulate(map(len, frames)))
        first, sent = 0, 0
        while first < len(frames):
            last = bisect_left(ends, sent + self._limits.chunk_bytes, first) + 1
            self._ahead.append(b"".join(frames[first:last]))
            first, sent = last, ends[min(last, len(ends)) - 1]
        return sent
