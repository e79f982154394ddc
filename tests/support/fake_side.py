"""The side conversation without a server: says what a test pushes, notes what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from groupx_shared.errors import GroupXError
from groupx_shared.wire.assistant import (
    AssistantAccepted,
    AssistantCancelled,
    AssistantCleared,
    AssistantFrame,
    AssistantMessages,
    AssistantReply,
    SideMessage,
)
from groupx_tui.client.side import SideTalk

AT = "2026-11-30T09:15:00.000Z"
READY = AssistantReply(enabled=True, name="Room assistant", status="ready", driver="acp")
OFF = AssistantReply(
    enabled=False, name="Room assistant", status="disabled", detail="It is off. Switch it on so."
)


def asked(message_id: str, content: str, **more: Any) -> SideMessage:
    """A request."""
    fields = {"status": "running", "created_at": AT} | more
    return SideMessage(message_id=message_id, role="user", content=content, **fields)


def answered(message_id: str, request_id: str, content: str, **more: Any) -> SideMessage:
    """An answer."""
    fields = {"created_at": AT} | more
    return SideMessage(
        message_id=message_id, role="assistant", request_id=request_id, content=content, **fields
    )


class FakeSide(SideTalk):
    """`refusal` is raised by the next command instead."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.refusal: GroupXError | None = None
        self.pages: dict[str | None, AssistantMessages] = {None: AssistantMessages(messages=())}
        self.now = READY
        self.followers = 0
        self._frames: asyncio.Queue[list[AssistantFrame]] = asyncio.Queue()
        self._lost: Callable[[str], None] = lambda _: None

    def push(self, *frames: AssistantFrame) -> None:
        """Frames that come together."""
        self._frames.put_nowait(list(frames))

    def say(self, *messages: SideMessage) -> None:
        """Messages that are new or changed."""
        self.push(*(AssistantFrame(type="message", message=message) for message in messages))

    def piece(self, request_id: str, offset: int, text: str) -> None:
        """A piece of an answer."""
        self.push(AssistantFrame(type="delta", request_id=request_id, offset=offset, text=text))

    def lose(self, why: str) -> None:
        """The connection breaks."""
        self._lost(why)

    async def follow(
        self, on_lost: Callable[[str], None] = lambda _: None
    ) -> AsyncGenerator[list[AssistantFrame], None]:
        self._lost = on_lost
        self.followers += 1
        try:
            yield [AssistantFrame(type="status", assistant=self.now)]
            while True:
                yield await self._frames.get()
        finally:
            self.followers -= 1

    async def status(self) -> AssistantReply:
        return self.now

    async def ask(self, content: str, room_id: str) -> AssistantAccepted:
        self._note("ask", content, room_id)
        return AssistantAccepted(request=asked("side_new", content, status="queued"), position=0)

    async def older(self, before: str | None) -> AssistantMessages:
        self._note("older", before)
        return self.pages.get(before, AssistantMessages(messages=()))

    async def cancel(self, request_id: str | None = None) -> AssistantCancelled:
        self._note("cancel", request_id)
        return AssistantCancelled(accepted=False)

    async def clear(self) -> AssistantCleared:
        self._note("clear")
        return AssistantCleared(removed=1)

    def _note(self, *what: Any) -> None:
        self.asked.append(what)
        refusal, self.refusal = self.refusal, None
        if refusal is not None:
            raise refusal
