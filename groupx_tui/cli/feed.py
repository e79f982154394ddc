"""The event stream of a server, followed over every break of the connection.

Each durable event is given once and in order: the feed reconnects behind the last seq it gave.
Live pieces (deltas) may be missing after a break; their offsets tell. The counterpart for the
full-screen client is `client.session`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any, Final

from groupx_shared.errors import GroupXError, ServerUnreachableError
from groupx_shared.wire.sse import SseParser
from groupx_tui.cli.api import RETRIED, Api, ServerRefusedError
from groupx_tui.cli.clock import Clock, Deadline
from groupx_tui.cli.wire_http import ConnectionLostError

SILENCE_S: Final = 45.0
"""The server sends a heartbeat every 15 s; three missing ones mean that it is gone."""
FIRST_PAUSE_S: Final = 0.1
LONGEST_PAUSE_S: Final = 2.0


class DeadlineReachedError(GroupXError):
    """The time that the caller gave is up."""


@dataclass(frozen=True, slots=True)
class FeedEvent:
    """One event: as it came (JSON on one line) and read."""

    raw: str
    event: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FeedRules:
    """How long to follow. `away_s` bounds one absence of the server (None: wait for ever);
    `on_lost` and `on_found` are told of each absence, once."""

    deadline: Deadline
    away_s: float | None = None
    on_lost: Callable[[GroupXError], None] = lambda _: None
    on_found: Callable[[], None] = lambda: None


class EventFeed:
    """Iterate to get the events behind seq `after`, for ever.

    Raises while iterating: DeadlineReachedError; ServerUnreachableError when the server was away
    for too long; ServerRefusedError when it does not give the stream.
    """

    def __init__(self, api: Api, after: int, room: str | None, rules: FeedRules, clock: Clock):
        self.last_seq = after
        self._api = api
        self._room = room
        self._rules = rules
        self._clock = clock
        self._lost: GroupXError | None = None

    def __iter__(self) -> Generator[FeedEvent]:
        patience = Deadline(self._clock, self._rules.away_s)
        pause = FIRST_PAUSE_S
        while True:
            try:
                for item in self._connection():
                    pause = FIRST_PAUSE_S
                    yield item
            except (ServerUnreachableError, ServerRefusedError) as error:
                if self._lost is None:
                    patience = Deadline(self._clock, self._rules.away_s)
                self._note_lost(error, patience)
            self._rules.deadline.pause(pause)
            pause = min(pause * 2, LONGEST_PAUSE_S)

    def _connection(self) -> Iterator[FeedEvent]:
        """One connection, until it breaks."""
        if self._lost is not None and not self._api.rediscover():
            raise ServerUnreachableError("No server runs for this workspace.")
        with self._api.events(self.last_seq, self._room, self._patience) as reply:
            self._note_found()
            parser = SseParser()
            for piece in reply.pieces():
                for frame in _frames(parser, piece):
                    if (item := self._item(frame)) is not None:
                        yield item
        raise ConnectionLostError("The server closed the event stream.")

    def _item(self, raw: str) -> FeedEvent | None:
        event = _event(raw)
        seq = event.get("seq")
        if isinstance(seq, int):
            if seq <= self.last_seq:
                return None
            self.last_seq = seq
        return FeedEvent(raw, event)

    def _patience(self) -> float:
        return min(SILENCE_S, self._rules.deadline.left())

    def _note_lost(
        self, error: ServerUnreachableError | ServerRefusedError, away: Deadline
    ) -> None:
        if self._rules.deadline.is_over:
            raise DeadlineReachedError("The time is up.") from error
        if isinstance(error, ServerRefusedError) and error.code not in RETRIED:
            raise error
        if self._lost is None:
            self._lost = error
            self._rules.on_lost(error)
        if away.is_over:
            raise ServerUnreachableError(f"The server did not come back. {error.message}")

    def _note_found(self) -> None:
        if self._lost is not None:
            self._lost = None
            self._rules.on_found()


def _frames(parser: SseParser, piece: bytes) -> list[str]:
    try:
        return [frame.data for frame in parser.feed(piece)]
    except ValueError as error:
        raise ConnectionLostError(f"The event stream is broken: {error}.") from error


def _event(raw: str) -> dict[str, Any]:
    try:
        event = json.loads(raw)
    except ValueError as error:
        raise ConnectionLostError(f"The event stream is broken: {error}.") from error
    if not isinstance(event, dict):
        raise ConnectionLostError("The event stream is broken: an event is not a JSON object.")
    return event
