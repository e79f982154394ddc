"""What those who follow the side conversation get: its state, level by level.

Nothing is queued for anybody: a follower remembers how far it is (a version, and the pieces of the
answer it has) and is given what is newer when it comes to take it. So a slow one costs nothing,
and gets larger pieces. One that is further behind than the changes kept is let go; it comes again
and loads the conversation.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from groupx_shared.text import safe_json
from groupx_shared.wire.assistant import ENDED, AssistantFrame, AssistantReply, SideMessage
from groupx_shared.wire.sse import HEARTBEAT, encode_transient

HEARTBEAT_S: Final = 15.0
KEPT_CHANGES: Final = 256
PIECE_CHARS: Final = 16_384
"""Of one frame; a late follower gets the answer in several."""


@dataclass(slots=True)
class LiveReply:
    """The answer under way."""

    request_id: str
    pieces: list[str] = field(default_factory=list)
    progress: str = ""
    """What is being done now, one line."""


@dataclass(slots=True)
class _Place:
    """How far one follower is."""

    version: int
    request_id: str | None = None
    taken: int = 0
    """Pieces of the answer under way."""
    offset: int = 0
    progress: str = ""


class Feed:
    """The conversation's present state for any number of followers."""

    def __init__(self, status: Callable[[], AssistantReply]) -> None:
        self._status = status
        self._version = 0
        self._status_version = 0
        self._cleared_version = 0
        self._changes: deque[tuple[int, SideMessage]] = deque(maxlen=KEPT_CHANGES)
        self._pulse = asyncio.Event()
        self._is_closed = False
        self.live: LiveReply | None = None

    # --- the conversation's side ------------------------------------------------------------

    def changed(self, *messages: SideMessage) -> None:
        """These messages are new or different; so may be the status."""
        for message in messages:
            self._version += 1
            self._changes.append((self._version, message))
        self.status_changed()

    def status_changed(self) -> None:
        """The assistant's status is another one."""
        self._version += 1
        self._status_version = self._version
        self._wake()

    def cleared(self) -> None:
        """The conversation was forgotten."""
        self._version += 1
        self._cleared_version = self._version
        self._changes.clear()
        self._wake()

    def piece(self, text: str) -> None:
        """The answer under way grew."""
        if self.live is not None:
            self.live.pieces.append(text)
            self._wake()

    def progress(self, text: str) -> None:
        """What is done now, in one line; empty: nothing to tell."""
        if self.live is not None and self.live.progress != text:
            self.live.progress = text
            self._wake()

    def close(self) -> None:
        """End all streams."""
        self._is_closed = True
        self._wake()

    def _wake(self) -> None:
        self._pulse.set()
        self._pulse = asyncio.Event()

    # --- a follower's side ------------------------------------------------------------------

    def place(self) -> int:
        """Where the conversation is now; read the ledger after this, then follow from here."""
        return self._version

    async def follow(
        self, version: int, first: Sequence[SideMessage], only: str | None = None
    ) -> AsyncIterator[bytes]:
        """Frames from `version` on, after those of `first`. `only`: of this request, until it has
        ended."""
        place = _Place(version)
        if only is None:
            yield _frame(AssistantFrame(type="status", assistant=self._status()))
        for message in first:
            yield _frame(AssistantFrame(type="message", message=message))
        if only is not None and any(_is_end(message, only) for message in first):
            return
        while not self._is_closed:
            pulse = self._pulse
            frames = self._newer(place, only)
            if frames is None:
                return
            for frame in frames:
                yield _frame(frame)
            if only is not None and any(f.message and _is_end(f.message, only) for f in frames):
                return
            if not frames and not await _woken(pulse):
                yield HEARTBEAT

    def _newer(self, place: _Place, only: str | None) -> list[AssistantFrame] | None:
        """What the follower has not got; None when that is not known any more."""
        since, place.version = place.version, self._version
        if self._changes and len(self._changes) == KEPT_CHANGES and self._changes[0][0] > since + 1:
            return None
        frames: list[AssistantFrame] = []
        if only is None and self._cleared_version > since:
            frames.append(AssistantFrame(type="cleared"))
        if only is None and self._status_version > since:
            frames.append(AssistantFrame(type="status", assistant=self._status()))
        fresh = [message for version, message in self._changes if version > since]
        frames += [
            AssistantFrame(type="message", message=message)
            for message in fresh
            if only in (None, message.message_id, message.request_id)
        ]
        return frames + self._live_frames(place, only)

    def _live_frames(self, place: _Place, only: str | None) -> list[AssistantFrame]:
        live = self.live
        if live is None or only not in (None, live.request_id):
            return []
        if place.request_id != live.request_id:
            place.request_id, place.taken, place.offset, place.progress = live.request_id, 0, 0, ""
        text = "".join(live.pieces[place.taken :])
        place.taken = len(live.pieces)
        frames = []
        for start in range(0, len(text), PIECE_CHARS):
            piece = text[start : start + PIECE_CHARS]
            offset = place.offset
            place.offset += len(piece)
            frames.append(
                AssistantFrame(type="delta", request_id=live.request_id, offset=offset, text=piece)
            )
        if live.progress != place.progress:
            place.progress = live.progress
            told = AssistantFrame(type="progress", request_id=live.request_id, text=live.progress)
            frames.append(told)
        return frames


async def _woken(pulse: asyncio.Event) -> bool:
    """Wait for a change; False when a heartbeat is due first."""
    try:
        async with asyncio.timeout(HEARTBEAT_S):
            await pulse.wait()
    except TimeoutError:
        return False
    return True


def _is_end(message: SideMessage, request_id: str) -> bool:
    return message.message_id == request_id and message.status in ENDED


def _frame(frame: AssistantFrame) -> bytes:
    return encode_transient(safe_json(frame.to_wire()))
