"""Request bodies, one model for each endpoint that takes one. Unknown keys are refused."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from groupx_shared.wire.base import RequestModel

MAX_MESSAGE_CHARS: Final = 131_072
MAX_TARGETS: Final = 32
MAX_OBSERVERS: Final = 4
MAX_BRIEF_CHARS: Final = 8_000
MAX_PAGE: Final = 500
DEFAULT_PAGE: Final = 100
MAX_BODY_BYTES: Final = 2 * 1024 * 1024
"""A message of the longest kind, JSON-escaped, still fits."""

FORBIDDEN_SENDER_FIELDS: Final = frozenset({"from", "actor", "eventId", "provenance"})
"""A client never says who wrote something: the author follows from its credential."""

CommandId = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"\S")]
Reference = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Title = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"\S")]


class Supervision(RequestModel):
    """Agents that watch the ones which a message wakes, and may advise or stop them."""

    observers: Annotated[list[Reference], Field(min_length=1, max_length=MAX_OBSERVERS)]
    """Agents other than those that the message wakes."""
    brief: Annotated[str, StringConstraints(max_length=MAX_BRIEF_CHARS)] | None = None
    """What they shall look out for, in words for them."""
    mode: Literal["live_steer"] = "live_steer"
    """The only one: they watch while the others work."""


class SendMessage(RequestModel):
    """`POST /api/messages`."""

    client_command_id: CommandId
    """Chosen by the client; the same id with the same content returns the first result."""
    room_id: Reference = "room:main"
    to: Annotated[list[Reference], Field(max_length=MAX_TARGETS)] = Field(default_factory=list)
    """Agents to wake (`agent:codex` or `codex`); empty: a message that wakes nobody."""
    content: Annotated[str, StringConstraints(max_length=MAX_MESSAGE_CHARS)]
    """May be empty when an event is passed on."""
    reply_to_event_id: Reference | None = None
    forwarded_event_id: Reference | None = None
    """A message to pass on, of any room, with its author: its text is quoted below `content`."""
    supervision: Supervision | None = None
    """Who watches the agents in `to` while they work on this."""


class CommandRequest(RequestModel):
    """A command without other data: cancel a turn, restart an agent."""

    client_command_id: CommandId


class AdviseTurn(RequestModel):
    """`POST /api/turns/{turnId}/advise`."""

    client_command_id: CommandId
    content: str


class CreateRoom(RequestModel):
    """`POST /api/rooms`. The id is made from the title when it is not given."""

    client_command_id: CommandId
    title: Title
    room_id: Reference | None = None


class ChangeRoom(RequestModel):
    """`PATCH /api/rooms/{roomId}`: a new title, archived or not, or both."""

    client_command_id: CommandId
    title: Title | None = None
    archived: bool | None = None


class ShutdownRequest(RequestModel):
    """`POST /api/runtime/shutdown`: names the workspace, so that it never ends another server."""

    runtime_scope_key: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
