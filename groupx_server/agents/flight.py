"""One turn in time: the queue between agent and consumer, the limits, the cancel ladder.

Owns the events that were read and not yet consumed, and every deadline of the turn. Invariants:
the queue is bounded (past the high-water mark the agent's stdout is not read until the consumer
has caught up); a limit is checked before every hand-over, so an agent that streams for ever
cannot outlive its cancel; after the terminal event nothing comes. Reads time through `Clock`
only. The counterparts are `turn_session.py` (the consumer's side) and
`connection.py` (the pipe).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from groupx_server.agents.base import AgentTimeouts
from groupx_server.agents.clock import Clock
from groupx_server.agents.loose import as_dict, as_text
from groupx_server.agents.signals import NativeTurn
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    ReasoningDelta,
    ToolProgress,
    TurnCancelled,
    TurnFailed,
    Waiting,
)
from groupx_shared.errors import ErrorCode

MAX_EVENTS: Final = 1_000
MAX_CHARS: Final = 4 * 1024 * 1024
"""High-water marks of the queue. One line may pass them by its own size, then reading stops."""
_TEXT_KEYS: Final = ("text", "output", "newText", "oldText")
_MAX_SETTLE_S: Final = 1.0
"""However long late updates go on, the answer is not held back longer."""


class Flight:
    """A turn between its prompt and its terminal event."""

    def __init__(
        self, turn: NativeTurn, agent: str, timeouts: AgentTimeouts, settle_s: float, clock: Clock
    ) -> None:
        self.turn = turn
        self.changed = asyncio.Event()
        self.is_answered = False
        self.failure: TurnFailed | None = None
        self.given_up: TurnFailed | None = None
        """The agent waited too long for its model: it is told to stop, and the turn ends so."""
        self._agent = agent
        self._timeouts = timeouts
        self._settle_s = settle_s
        self._clock = clock
        self._queue: deque[NativeEvent] = deque()
        self._chars = 0
        self._sent_at = self._active_at = self._answered_at = clock.now()
        self._handed_at = self._sent_at
        self._silence_told_s = 0.0
        self._waiting_since: float | None = None
        self._waits_for = ""
        self._cancel_until: float | None = None
        self._discarding = False

    # --- the agent's side -------------------------------------------------------------------

    @property
    def is_full(self) -> bool:
        """True while the consumer is so far behind that no more should be read."""
        return len(self._queue) >= MAX_EVENTS or self._chars >= MAX_CHARS

    @property
    def queued(self) -> int:
        """Events that were read and not yet consumed."""
        return len(self._queue)

    def arrived(self, events: Sequence[NativeEvent]) -> None:
        """The session gave a sign of life, with these events (often none)."""
        self._active_at = self._clock.now()
        self._silence_told_s = 0.0
        for event in events:
            self._note_wait(event)
        if not self._discarding:
            self._queue.extend(events)
            for event in events:
                self._chars += _size(event)
        self.changed.set()

    def answered(self) -> None:
        """The agent answered the prompt; late updates are waited for a moment."""
        self.is_answered = True
        self._active_at = self._answered_at = self._clock.now()
        self.changed.set()

    def fail(self, failure: TurnFailed) -> None:
        """The turn cannot go on; the first failure counts, an answered turn keeps its answer."""
        if self.failure is None and not self.is_answered:
            self.failure = failure
        self.changed.set()

    # --- the consumer's side ----------------------------------------------------------------

    def cancelling(self) -> None:
        """A cancel went to the agent: it has `cancel_s` to confirm."""
        if self._cancel_until is None:
            self._cancel_until = self._clock.now() + self._timeouts.cancel_s
        self.changed.set()

    def discard(self) -> None:
        """Nobody consumes any more: drop what is queued and what comes."""
        self._discarding = True
        self._queue.clear()
        self._chars = 0

    def take(self) -> list[NativeEvent]:
        """Everything that is queued."""
        events = list(self._queue)
        self._queue.clear()
        self._chars = 0
        return events

    def handed_over(self) -> None:
        """The consumer is done with what it took; only from now on is silence the agent's."""
        self._handed_at = self._clock.now()

    @property
    def is_landed(self) -> bool:
        """True when the terminal can be given: answered and quiet, or failed."""
        if self.failure is not None:
            return True
        return self.is_answered and self._clock.now() >= self._settled_at

    def check_limits(self) -> None:
        """Fail the turn when one of its limits has passed."""
        if self.is_answered or self.failure is not None:
            return
        if self._cancel_until is None:
            self._check_wait()
            if self.given_up is None:
                self._check_silence()
        elif self._clock.now() >= self._cancel_until:
            self.fail(self._cancel_failure())

    def silence(self) -> list[NativeEvent]:
        """The silence to tell of, each time it has doubled."""
        if self.is_answered or self._cancel_until is not None:
            return []
        silent_s = self._clock.now() - self._silent_since
        if silent_s < self._next_silence_s():
            return []
        self._silence_told_s = silent_s
        return [Waiting(silent_s)]

    def as_given_up(self, event: NativeEvent) -> NativeEvent:
        """The end of a turn that was given up is a failure, not the cancel that brought it."""
        if self.given_up is None or not isinstance(event, TurnCancelled):
            return event
        return replace(self.given_up, content=event.content)

    async def wait(self) -> None:
        """Wait until something arrives or a limit or a silence is due."""
        if self._queue:
            return
        await self._clock.wait(self.changed, self._next_deadline())
        self.changed.clear()

    def _next_deadline(self) -> float:
        if self.is_answered:
            return self._settled_at
        if self._cancel_until is not None:
            return self._cancel_until
        _, since, limit_s = self._silence_limit()
        due = min(since + limit_s, self._silent_since + self._next_silence_s())
        return due if self._waiting_since is None else min(due, self._given_up_at)

    @property
    def _silent_since(self) -> float:
        return max(self._active_at, self._handed_at)

    @property
    def _settled_at(self) -> float:
        return min(self._active_at + self._settle_s, self._answered_at + _MAX_SETTLE_S)

    def _next_silence_s(self) -> float:
        return max(self._timeouts.silence_s, 2 * self._silence_told_s)

    def _silence_limit(self) -> tuple[ErrorCode, float, float]:
        if not self.turn.has_started:
            return ErrorCode.TURN_FIRST_EVENT_TIMEOUT, self._sent_at, self._timeouts.first_event_s
        if self.turn.has_open_tool:
            longest = max(self._timeouts.idle_s, self._timeouts.tool_idle_s)
            return ErrorCode.TURN_IDLE_TIMEOUT, self._silent_since, longest
        return ErrorCode.TURN_IDLE_TIMEOUT, self._silent_since, self._timeouts.idle_s

    @property
    def _given_up_at(self) -> float:
        return (self._waiting_since or 0.0) + self._timeouts.idle_s

    def _note_wait(self, event: NativeEvent) -> None:
        """An agent that tells again and again that it tries its model again does not get on."""
        if not isinstance(event, Waiting):
            self._waiting_since = None
            return
        self._waits_for = event.reason
        if self._waiting_since is None:
            self._waiting_since = self._clock.now()

    def _check_wait(self) -> None:
        if self._waiting_since is None or self._clock.now() < self._given_up_at:
            return
        reason = f" It said: “{self._waits_for}”." if self._waits_for else ""
        self.given_up = TurnFailed(
            ErrorCode.TURN_IDLE_TIMEOUT,
            f"{self._agent} waited {self._timeouts.idle_s:g} s for its model and was told to stop."
            f"{reason} Check the network and the model's provider, then send it again.",
            details={"reason": self._waits_for},
        )

    def _check_silence(self) -> None:
        now = self._clock.now()
        code, since, limit_s = self._silence_limit()
        if now < since + limit_s:
            return
        failure = TurnFailed(
            code,
            f"{self._agent} sent nothing for {limit_s:g} s and was stopped; it is started again "
            "for the next turn. What it did until then may have taken effect.",
            session_lost=True,
            details={"silentSeconds": round(now - self._active_at, 1)},
        )
        self.fail(failure)

    def _cancel_failure(self) -> TurnFailed:
        if self.turn.was_asked:
            return self.turn.interaction_failure(session_lost=True)
        if self.given_up is not None:
            return replace(self.given_up, session_lost=True)
        return TurnFailed(
            ErrorCode.TURN_CANCEL_TIMEOUT,
            f"{self._agent} did not end its turn within {self._timeouts.cancel_s:g} s of the "
            "cancel and was stopped; it is started again for the next turn.",
            session_lost=True,
        )


def _size(event: NativeEvent) -> int:
    if isinstance(event, ContentDelta | ReasoningDelta):
        return len(event.text)
    if isinstance(event, ToolProgress):
        return sum(_item_size(item) for item in event.call.content)
    return 0


def _item_size(item: dict[str, Any]) -> int:
    """Characters of a tool's text, output or diff; other content is small."""
    texts = [as_dict(item.get("content")).get("text"), *(item.get(key) for key in _TEXT_KEYS)]
    return sum(len(as_text(text)) for text in texts)
