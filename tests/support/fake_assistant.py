"""An in-memory stand-in for the side conversation, with the real shapes and refusals."""

from __future__ import annotations

from collections.abc import AsyncIterator

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.assistant import (
    AskAssistant,
    AssistantAccepted,
    AssistantCancelled,
    AssistantCleared,
    AssistantFrame,
    AssistantMessages,
    AssistantReply,
    CancelAssistant,
    SideMessage,
)
from groupx_shared.wire.sse import encode_transient

WHEN = "2026-11-30T12:00:00.000Z"


class FakeAssistant:
    """Answers each request at once with the request's own words."""

    def __init__(self) -> None:
        self.said: list[SideMessage] = []
        self.is_enabled = True

    def status(self) -> AssistantReply:
        state = "ready" if self.is_enabled else "disabled"
        return AssistantReply(enabled=self.is_enabled, name="Room assistant", status=state)

    async def ask(self, asked: AskAssistant) -> AssistantAccepted:
        if not self.is_enabled:
            raise RefusedError("The room assistant is off.", code=ErrorCode.AGENT_DISABLED)
        if not asked.content.strip():
            raise RefusedError("The request is empty.")
        request = SideMessage(
            message_id=f"side_{len(self.said)}",
            role="user",
            content=asked.content,
            created_at=WHEN,
            status="completed",
            room_id=asked.room_id,
        )
        answer = SideMessage(
            message_id=f"side_{len(self.said) + 1}",
            role="assistant",
            content=f"You said: {asked.content}",
            created_at=WHEN,
            request_id=request.message_id,
        )
        self.said += [request, answer]
        return AssistantAccepted(request=request, position=0)

    async def cancel(self, asked: CancelAssistant) -> AssistantCancelled:
        if asked.request_id is not None:
            self._find(asked.request_id)
        return AssistantCancelled(accepted=False)

    async def clear(self, client_command_id: str) -> AssistantCleared:
        removed = len(self.said)
        self.said.clear()
        return AssistantCleared(removed=removed)

    async def messages(self, before: str | None, limit: int) -> AssistantMessages:
        end = len(self.said) if before is None else self.said.index(self._find(before))
        return AssistantMessages(messages=tuple(self.said[max(0, end - limit) : end]))

    async def follow(self, request_id: str | None) -> AsyncIterator[bytes]:
        if request_id is not None:
            self._find(request_id)
        wanted = [m for m in self.said if request_id in (None, m.message_id, m.request_id)]
        return _frames(wanted)

    def _find(self, message_id: str) -> SideMessage:
        for message in self.said:
            if message.message_id == message_id:
                return message
        raise RefusedError("There is no such message.", code=ErrorCode.UNKNOWN_EVENT)


async def _frames(messages: list[SideMessage]) -> AsyncIterator[bytes]:
    for message in messages:
        yield encode_transient(AssistantFrame(type="message", message=message).to_wire())
