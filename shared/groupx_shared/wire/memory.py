"""Memory and identity records: what is kept of a room beside its messages, with its source.

A record is never changed: a correction is a new record that supersedes the old one, and a retracted
record stays in the history and is told to nobody.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from groupx_shared.wire.base import RequestModel, WireModel
from groupx_shared.wire.requests import MAX_MESSAGE_CHARS, CommandId, Reference

MemoryScopeType = Literal["room", "agent", "correlation"]
AgentMemoryType = Literal["core", "dated"]
MemoryKind = Literal[
    "fact", "decision", "preference", "instruction", "constraint", "summary", "note"
]
WritableKind = Literal["fact", "decision", "preference", "instruction", "constraint", "note"]
IdentityKind = Literal["preference", "instruction", "constraint", "note"]
RecordStatus = Literal["active", "superseded", "retracted"]
Content = Annotated[str, StringConstraints(min_length=1, max_length=MAX_MESSAGE_CHARS)]

Perspective = Literal["self", "people", "others"]
"""Whose word an identity record is: the agent's own, a person's, another agent's."""

MAX_RECORDS: Final = 500
"""Records of one page."""


class MemoryScope(WireModel):
    """Whose memory: a room's (for everybody in it), one agent's own, or one root's."""

    type: MemoryScopeType
    id: str
    """A room id, an actor id, or a correlation id."""


class MemoryRecord(WireModel):
    """One thing remembered."""

    memory_id: str
    scope: MemoryScope
    agent_memory_type: AgentMemoryType | None = None
    """Of an agent's memory: core (kept by hand) or dated (what a day held)."""
    kind: MemoryKind
    author_actor_id: str
    subject_actor_id: str | None = None
    """Whom it is about, when it is about somebody."""
    content: str
    source_event_id: str | None = None
    """The event that says so."""
    source_kind: str
    status: RecordStatus
    supersedes_memory_id: str | None = None
    created_at: str
    retracted_at: str | None = None
    pinned_at: str | None = None
    """Pinned records go with every turn, whatever else fits."""
    day: str | None = None
    """Of dated memory: the day it is about, `2026-11-30`, in the server's time zone."""


class MemoryList(WireModel):
    items: tuple[MemoryRecord, ...]
    next_cursor: str | None = None
    """Pass as `cursor` to get older ones; absent at the end."""


class MemoryReply(WireModel):
    memory: MemoryRecord


class IdentityRecord(WireModel):
    """One thing said about who an agent is here: by itself (author = subject), by a person, or by
    another agent (an observation, never the agent's own word)."""

    identity_id: str
    subject_actor_id: str
    author_actor_id: str
    kind: IdentityKind
    content: str
    source_event_id: str | None = None
    source_kind: str
    status: RecordStatus
    supersedes_identity_id: str | None = None
    created_at: str
    retracted_at: str | None = None


class IdentityList(WireModel):
    items: tuple[IdentityRecord, ...]
    next_cursor: str | None = None


class IdentityReply(WireModel):
    identity: IdentityRecord


class ScopeRequest(RequestModel):
    """The scope in a request."""

    type: MemoryScopeType
    id: Reference


class RememberMemory(RequestModel):
    """`POST /api/memory`. A summary is written by the server only; an agent's scope means core."""

    client_command_id: CommandId
    scope: ScopeRequest
    kind: WritableKind
    content: Content
    subject_actor_id: Reference | None = None
    source_event_id: Reference | None = None
    pinned: bool = False


class SupersedeMemory(RequestModel):
    """`POST /api/memory/{memoryId}/supersede`: the same scope, a corrected text."""

    client_command_id: CommandId
    kind: WritableKind | None = None
    content: Content
    source_event_id: Reference | None = None


class PinMemory(RequestModel):
    """`POST /api/memory/{memoryId}/pin`."""

    client_command_id: CommandId
    pinned: bool = Field(default=True)


class RememberIdentity(RequestModel):
    """`POST /api/identity`."""

    client_command_id: CommandId
    subject_actor_id: Reference
    kind: IdentityKind
    content: Content
    source_event_id: Reference | None = None


class SupersedeIdentity(RequestModel):
    """`POST /api/identity/{identityId}/supersede`."""

    client_command_id: CommandId
    kind: IdentityKind | None = None
    content: Content
    source_event_id: Reference | None = None
