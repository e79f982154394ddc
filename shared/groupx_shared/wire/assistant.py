"""The room assistant on the wire: a side conversation that is in no room, and what it did.

Requests are answered one after another, in order. A request and its answer are two messages; the
frames of the stream carry whole messages and pieces of the answer under way.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import StringConstraints

from groupx_shared.wire.base import RequestModel, WireModel
from groupx_shared.wire.requests import MAX_MESSAGE_CHARS, CommandId, Reference

RequestStatus = Literal["queued", "running", "completed", "failed", "cancelled", "interrupted"]
ENDED: Final = frozenset({"completed", "failed", "cancelled", "interrupted"})
AssistantState = Literal["disabled", "stopped", "starting", "ready", "busy", "failed"]
MAX_SIDE_PAGE: Final = 200


class AskAssistant(RequestModel):
    """`POST /api/assistant/messages`."""

    client_command_id: CommandId
    content: Annotated[
        str, StringConstraints(min_length=1, max_length=MAX_MESSAGE_CHARS, pattern=r"\S")
    ]
    room_id: Reference = "room:main"
    """The room that is meant when none is named."""


class CancelAssistant(RequestModel):
    """`POST /api/assistant/cancel`."""

    client_command_id: CommandId
    request_id: Reference | None = None
    """Which request; absent: the one being answered, else the newest that waits."""


class AssistantAct(WireModel):
    """Something that it did; the event is in the room."""

    act_id: str
    tool: str
    summary: str
    """One line for people."""
    room_id: str | None = None
    event_id: str | None = None
    occurred_at: str


class SideMessage(WireModel):
    """One message of the side conversation."""

    message_id: str
    role: Literal["user", "assistant"]
    content: str
    created_at: str
    status: RequestStatus | None = None
    """Of a request; `interrupted`: nobody knows whether it was worked on."""
    request_id: str | None = None
    """Of an answer: the request that it answers."""
    room_id: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    cut: bool = False
    """The answer was too long to keep whole."""
    acts: tuple[AssistantAct, ...] = ()
    """Of a request: what was done for it, in order."""


class AssistantReply(WireModel):
    """`GET /api/assistant`."""

    enabled: bool
    name: str
    status: AssistantState
    detail: str | None = None
    """Why it is so, and what to do."""
    driver: str | None = None
    can_act: bool | None = None
    """It was given its tools; unknown before its program started."""
    open_requests: int = 0
    running_request_id: str | None = None


class AssistantMessages(WireModel):
    """`GET /api/assistant/messages`: oldest first."""

    messages: tuple[SideMessage, ...]
    next_before: str | None = None
    """There are older ones: pass as `before`."""


class AssistantAccepted(WireModel):
    """`POST /api/assistant/messages` → 202: on disk."""

    request: SideMessage
    position: int
    """Requests before it."""


class AssistantCancelled(WireModel):
    """`POST /api/assistant/cancel`."""

    accepted: bool
    """False: there was nothing to cancel (any more)."""
    request_id: str | None = None
    status: RequestStatus | None = None


class AssistantCleared(WireModel):
    """`POST /api/assistant/clear`."""

    removed: int
    """Messages that are gone."""


class AssistantFrame(WireModel):
    """One frame of `GET /api/assistant/events`."""

    type: Literal["status", "message", "delta", "progress", "cleared"]
    assistant: AssistantReply | None = None
    """Of `status`."""
    message: SideMessage | None = None
    """Of `message`: new, or changed; takes the place of the one with its id."""
    request_id: str | None = None
    """Of `delta` and `progress`."""
    offset: int | None = None
    """Of `delta`: characters of the answer before this piece."""
    text: str | None = None
    """Of `delta`: a piece of the answer; of `progress`: what it does now, one line."""
