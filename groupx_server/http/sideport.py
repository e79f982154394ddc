"""What the HTTP layer needs of the room assistant; `assistant.conversation` implements it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.assistant import (
    AskAssistant,
    AssistantAccepted,
    AssistantCancelled,
    AssistantCleared,
    AssistantMessages,
    AssistantReply,
    CancelAssistant,
)


class SideTalk(Protocol):
    """The side conversation. Every refusal is a `RefusedError`."""

    def status(self) -> AssistantReply: ...
    async def ask(self, asked: AskAssistant) -> AssistantAccepted: ...
    async def cancel(self, asked: CancelAssistant) -> AssistantCancelled: ...
    async def clear(self, client_command_id: str) -> AssistantCleared: ...
    async def messages(self, before: str | None, limit: int) -> AssistantMessages: ...

    async def follow(self, request_id: str | None) -> AsyncIterator[bytes]:
        """Frames of the conversation, or of one request until its end; refuses before the first."""


class NoAssistant:
    """Stands where nothing was wired."""

    def status(self) -> AssistantReply:
        return AssistantReply(enabled=False, name="Room assistant", status="disabled")

    async def ask(self, asked: AskAssistant) -> AssistantAccepted:
        raise _nobody()

    async def cancel(self, asked: CancelAssistant) -> AssistantCancelled:
        return AssistantCancelled(accepted=False)

    async def clear(self, client_command_id: str) -> AssistantCleared:
        return AssistantCleared(removed=0)

    async def messages(self, before: str | None, limit: int) -> AssistantMessages:
        return AssistantMessages(messages=())

    async def follow(self, request_id: str | None) -> AsyncIterator[bytes]:
        raise _nobody()


def _nobody() -> RefusedError:
    return RefusedError("This server has no room assistant.", code=ErrorCode.AGENT_DISABLED)
