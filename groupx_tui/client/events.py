"""`EventStream`: the server's events, without gap or duplicate, over any number of connections.

Durable events come in rising seq, each once; transient ones may be lost with a connection. The
place to go on from is the last durable seq, given as `afterSeq` and as `Last-Event-ID`. A stream
that is silent for longer than three heartbeats is dead. Counterpart: `groupx_server.http` (SSE).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import ValidationError

from groupx_shared.errors import ErrorCode, GroupXError
from groupx_shared.wire.events import Event
from groupx_shared.wire.sse import SseFrame, SseParser
from groupx_tui.client.backoff import Backoff
from groupx_tui.client.http import ServerClient
from groupx_tui.client.livesocket import open_stream

SILENCE_S: Final = 45.0
"""Three missed heartbeats (the server sends one each 15 s)."""
PATH: Final = "/api/events"

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class StreamState:
    """What the stream does now; `reason` and `next_try_s` are set while it waits to reconnect."""

    phase: Literal["connecting", "live", "reconnecting"]
    reason: str = ""
    next_try_s: float | None = None


class LedgerChangedError(GroupXError):
    """The server has another database than before, or an older state of it: what is shown means
    nothing any more; bootstrap anew."""


class BrokenStreamError(GroupXError):
    """What came is not a stream of our events."""


class EventStream:
    """Follows all rooms from `after_seq` on.

    `ledger_id` is that of the bootstrap; `on_state` is called at each change; `sleep` waits
    between tries.
    """

    def __init__(
        self,
        client: ServerClient,
        *,
        after_seq: int,
        ledger_id: str,
        on_state: Callable[[StreamState], None] = lambda state: None,
        sleep: Sleep = asyncio.sleep,
        backoff: Backoff | None = None,
        silence_s: float = SILENCE_S,
    ) -> None:
        self.cursor = after_seq
        """Newest durable event given out."""
        self._client = client
        self._ledger_id = ledger_id
        self._on_state = on_state
        self._sleep = sleep
        self._backoff = backoff or Backoff()
        self._silence_s = silence_s

    async def batches(self) -> AsyncGenerator[tuple[Event, ...], None]:
        """Yield events that came together, reconnecting for ever.

        Raises: LedgerChangedError. All other trouble shows in `on_state` and is waited out.
        """
        is_first = True
        while True:
            try:
                if not is_first:
                    await self._find_again()
                async with aclosing(self._connection()) as connection:
                    async for batch in connection:
                        yield batch
                reason = "The server ended the stream."
            except LedgerChangedError:
                raise
            except GroupXError as error:
                if error.code == ErrorCode.STORE_CONFLICT:  # the server has no such place
                    raise LedgerChangedError(error.message) from error
                reason = error.message
            is_first = False
            pause = self._backoff.next_pause()
            self._on_state(StreamState("reconnecting", reason, pause))
            await self._sleep(pause)

    async def _find_again(self) -> None:
        """The server may have moved, and may have another database by now."""
        self._on_state(StreamState("connecting"))
        self._client.endpoint.refresh()
        reply = await self._client.bootstrap(limit=1)
        if reply.ledger_id != self._ledger_id or reply.through_seq < self.cursor:
            raise LedgerChangedError(
                "The server uses another database now; everything is reloaded."
            )

    async def _connection(self) -> AsyncGenerator[tuple[Event, ...], None]:
        parser = SseParser()
        cursor = str(self.cursor)
        stream = open_stream(
            self._client.endpoint.current(),
            f"{PATH}?afterSeq={cursor}",
            {"last-event-id": cursor, "accept": "text/event-stream"},
            self._silence_s,
        )
        async with stream as body, aclosing(body) as chunks:
            self._on_state(StreamState("live"))
            async for chunk in chunks:
                batch = self._read(parser, chunk)
                if batch or parser.comments:
                    self._backoff.reset()
                if batch:
                    yield batch

    def _read(self, parser: SseParser, chunk: bytes) -> tuple[Event, ...]:
        try:
            frames = parser.feed(chunk)
        except ValueError as error:
            raise BrokenStreamError(f"The stream of events is broken: {error}.") from error
        events = (_event_of(frame) for frame in frames)
        return tuple(event for event in events if event is not None and self._is_next(event))

    def _is_next(self, event: Event) -> bool:
        if event.seq is None:
            return True
        if event.seq <= self.cursor:
            return False
        self.cursor = event.seq
        return True


def _event_of(frame: SseFrame) -> Event | None:
    """The event of a frame; a transient one that cannot be read is left out.

    Raises: BrokenStreamError for a durable one: leaving it out would be a gap.
    """
    try:
        return Event.model_validate_json(frame.data)
    except ValidationError as error:
        if '"seq":null' in frame.data.replace(" ", ""):
            return None
        raise BrokenStreamError(
            f"An event after {frame.event_id or 'the start'} cannot be read "
            f"({error.error_count()} faults). Is the server of another version? "
            "Run “groupx restart”."
        ) from error
