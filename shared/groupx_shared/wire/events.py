"""The event envelope `groupx.event/0.1` and the names of all event types.

A durable event has a `seq` and is in the ledger; a transient one has `seq: null`, goes only to
clients that listen right now, and may be lost. Bodies are typed in `bodies`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final, Literal

from pydantic import Field

from groupx_shared.version import EVENT_SCHEMA
from groupx_shared.wire.base import WireModel


class EventType(StrEnum):
    """Event types this version writes. Readers show unknown types generically."""

    MESSAGE_CREATED = "message.created"
    OPERATOR_DISPATCH = "operator.dispatch"
    OPERATOR_ACTED = "operator.acted"
    TURN_QUEUED = "turn.queued"
    TURN_DISPATCHED = "turn.dispatched"
    TURN_STARTED = "turn.started"
    TURN_CONTENT_DELTA = "turn.content.delta"
    TURN_REASONING_DELTA = "turn.reasoning.delta"
    TURN_PROGRESS = "turn.progress"
    TURN_CANCELLING = "turn.cancelling"
    TOOL_PROGRESS = "tool.progress"
    TURN_REASONING_RECORDED = "turn.reasoning.recorded"
    TOOL_PROGRESS_RECORDED = "tool.progress.recorded"
    TURN_COMPLETED = "turn.completed"
    TURN_FAILED = "turn.failed"
    TURN_CANCELLED = "turn.cancelled"
    TURN_INTERRUPTED = "turn.interrupted"
    SESSION_READY = "session.ready"
    SESSION_RESUMED = "session.resumed"
    SESSION_FAILED = "session.failed"
    ROOM_CREATED = "room.created"
    ROOM_RENAMED = "room.renamed"
    ROOM_ARCHIVED = "room.archived"
    ROOM_RESTORED = "room.restored"
    ROUTING_LOOP_STOPPED = "routing.loop_stopped"
    ROUTING_LOOP_CONTINUED = "routing.loop_continued"
    SUPERVISION_PAIRED = "supervision.paired"
    SUPERVISION_OBSERVED = "supervision.observed"
    SUPERVISION_STEERED = "supervision.steered"
    SUPERVISION_NUDGED = "supervision.nudged"
    MEMORY_REMEMBERED = "memory.remembered"
    MEMORY_SUPERSEDED = "memory.superseded"
    MEMORY_RETRACTED = "memory.retracted"
    MEMORY_PINNED = "memory.pinned"
    MEMORY_UNPINNED = "memory.unpinned"
    IDENTITY_REMEMBERED = "identity.remembered"
    IDENTITY_SUPERSEDED = "identity.superseded"
    IDENTITY_RETRACTED = "identity.retracted"
    CONTEXT_COMPACTION_STARTED = "context.compaction.started"
    CONTEXT_COMPACTION_RETRYING = "context.compaction.retrying"
    CONTEXT_COMPACTION_COMPLETED = "context.compaction.completed"
    CONTEXT_COMPACTION_FAILED = "context.compaction.failed"
    CONTEXT_RESET = "context.reset"
    CONTENT_REDACTED = "content.redacted"
    CONTENT_PURGING = "content.purging"
    AGENT_STATUS = "agent.status"
    AGENTS_CHANGED = "agents.changed"


TRANSIENT_TYPES: Final = frozenset(
    {
        EventType.TURN_CONTENT_DELTA,
        EventType.TURN_REASONING_DELTA,
        EventType.TURN_PROGRESS,
        EventType.TURN_CANCELLING,
        EventType.TOOL_PROGRESS,
        EventType.CONTEXT_COMPACTION_STARTED,
        EventType.CONTEXT_COMPACTION_RETRYING,
        EventType.CONTEXT_COMPACTION_COMPLETED,
        EventType.CONTEXT_COMPACTION_FAILED,
        EventType.CONTENT_PURGING,
        EventType.AGENT_STATUS,
        EventType.AGENTS_CHANGED,
    }
)
"""Never written to the ledger."""

TERMINAL_TYPES: Final = frozenset(
    {
        EventType.TURN_COMPLETED,
        EventType.TURN_FAILED,
        EventType.TURN_CANCELLED,
        EventType.TURN_INTERRUPTED,
    }
)
"""Exactly one of these ends each turn."""


class EventActor(WireModel):
    """Who did it: a snapshot taken when the event was written."""

    actor_id: str
    kind: Literal["user", "agent", "system"]
    display_name: str
    instance_id: str | None = None


class Event(WireModel):
    """One event as clients see it."""

    schema_: str = Field(default=EVENT_SCHEMA, alias="schema")
    """Name and version of this shape."""
    event_id: str
    """Unique id, also for live events."""
    seq: int | None = None
    """Position in the ledger; null for a transient event."""
    room_id: str
    """The room it belongs to."""
    type: str
    """One of the types below; a reader shows others generically."""
    actor: EventActor
    """Who did it: id, kind and the name at that time."""
    to: tuple[str, ...] = ()
    """Agents this message wakes."""
    reply_to_event_id: str | None = None
    """The message this one answers."""
    forwarded_event_id: str | None = None
    """The event that was passed on with this message; its author is that event's actor."""
    causation_id: str | None = None
    """The turn or event that led to this one."""
    correlation_id: str
    """The root message's correlation: all that follows from one message shares it."""
    root_correlation_id: str | None = None
    """The same as correlationId."""
    occurred_at: str
    """UTC, milliseconds."""
    durability: Literal["durable", "transient"] = "durable"
    """transient: live only."""
    body: dict[str, Any] = Field(default_factory=dict)
    """By type, see below."""
    provenance: dict[str, Any] | None = None
    """Through which channel it came: sourceKind, authorActorId."""
