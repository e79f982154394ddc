"""Reply bodies, one model for each endpoint."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from groupx_shared.version import BOOTSTRAP_SCHEMA, RUNTIME_PROTOCOL, VERSION
from groupx_shared.wire.agents import AgentInfo, AgentState
from groupx_shared.wire.base import WireModel
from groupx_shared.wire.bodies import Certainty, TurnStatus
from groupx_shared.wire.context import CompactionInfo
from groupx_shared.wire.events import Event

__all__ = ["AgentInfo", "AgentState"]  # re-exported: events carry cards too


class ErrorInfo(WireModel):
    code: str
    message: str
    details: dict[str, Any] | None = None


class ErrorReply(WireModel):
    """Body of every refusal."""

    error: ErrorInfo


class HealthReply(WireModel):
    """`GET /api/health`: needs no token, tells no secret, costs nothing."""

    status: Literal["ok", "starting", "degraded", "closing"]
    service: str = "groupx"
    protocol: str = RUNTIME_PROTOCOL
    version: str = VERSION
    runtime_scope_key: str
    runtime_key: str
    uptime_s: float
    problem: str | None = None
    """Why it is degraded, and what to do about it."""


class RoomInfo(WireModel):
    room_id: str
    title: str
    created_at: str
    archived_at: str | None = None
    last_seq: int = 0
    """Newest durable event of the room; 0 when it has none."""
    event_count: int = 0
    message_count: int = 0


class RoomList(WireModel):
    rooms: tuple[RoomInfo, ...]


class AgentList(WireModel):
    agents: tuple[AgentInfo, ...]


class TurnInfo(WireModel):
    """One turn with its latest attempt."""

    turn_id: str
    room_id: str
    target_actor_id: str
    status: TurnStatus
    source_event_id: str
    correlation_id: str
    parent_turn_id: str | None = None
    hop_count: int = 0
    queue_position: int | None = None
    """Turns of the same agent before it, while queued."""
    behind_turn_id: str | None = None
    """The turn that the agent works on meanwhile."""
    dispatch_phase: str | None = None
    delivery_certainty: Certainty | None = None
    attempts: int = 0
    error_code: str | None = None
    error_message: str | None = None
    response_event_id: str | None = None
    terminal_event_id: str | None = None
    partial_text: str | None = None
    content: str | None = None
    """The answer, when one turn is read."""
    queued_at: str
    started_at: str | None = None
    terminal_at: str | None = None
    usage: dict[str, Any] | None = None


class TurnList(WireModel):
    turns: tuple[TurnInfo, ...]
    next_before: int | None = None
    """Pass as `before` to get older turns; absent at the end."""


class BootstrapReply(WireModel):
    """`GET /api/bootstrap?roomId=`: all that a client needs to show a room."""

    schema_: str = Field(default=BOOTSTRAP_SCHEMA, alias="schema")
    ledger_id: str
    """Changes when the database is another one; cursors of the old one mean nothing then."""
    through_seq: int
    """Newest durable event of the whole ledger: follow `GET /api/events?afterSeq=` from here."""
    room: RoomInfo
    rooms: tuple[RoomInfo, ...]
    agents: tuple[AgentInfo, ...]
    recent_events: tuple[Event, ...]
    """The newest durable events of the room, oldest first."""
    has_more_before: bool
    active_turns: tuple[TurnInfo, ...]
    limits: dict[str, int]


class EventPage(WireModel):
    """A page of a room's durable events, always oldest first."""

    room_id: str
    events: tuple[Event, ...]
    has_more_before: bool
    has_more_after: bool


class QueuedTurn(WireModel):
    target: str
    turn_id: str
    status: TurnStatus = "queued"
    queue_position: int = 0
    """Open turns of the same agent before it."""
    active_turn_id: str | None = None
    """The turn that the agent works on meanwhile."""
    obstacle: str | None = None
    """What stands in the agent's way now (its last start failed, it needs a login, a limit of
    its vendor); the turn is tried all the same."""


class SupervisionInfo(WireModel):
    """Who watches a message's turns."""

    pair_id: str
    watch_event_id: str
    """The message that tells the observers what to look out for."""
    observers: tuple[QueuedTurn, ...]


class MessageAccepted(WireModel):
    """`POST /api/messages` → 202: on disk."""

    message_event_id: str
    seq: int
    room_id: str
    correlation_id: str
    turns: tuple[QueuedTurn, ...]
    supervision: SupervisionInfo | None = None


class RootContinued(WireModel):
    """`POST /api/roots/{correlationId}/continue`."""

    correlation_id: str
    room_id: str
    continues: int
    """How often people let this root go on, this time included."""
    messages: tuple[MessageAccepted, ...] = ()
    """What was held and is on its way now."""


class UsageTotals(WireModel):
    """Sums over turns, of what agents told; many tell nothing."""

    turns: int = 0
    reported_turns: int = 0
    """Turns with any numbers."""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    thought_tokens: int = 0
    total_tokens: int = 0
    """As told, else input and output."""
    costs: dict[str, float] = Field(default_factory=dict)
    """Amount by currency."""


class ActorUsage(UsageTotals):
    """The part of one agent."""

    actor_id: str


class GroupUsage(UsageTotals):
    """The part of one agent, room or root."""

    key: str
    """An actor id, a room id or a correlation id; of upkeep its purpose."""
    last_at: str | None = None
    """When the newest of these texts was asked for; of upkeep only."""


class EmbeddingUsage(WireModel):
    """What was asked of an embeddings endpoint for search."""

    model: str
    """Which model, and where."""
    purpose: Literal["index", "query"]
    calls: int
    failed: int
    texts: int
    chars: int


class UsageReply(WireModel):
    """`GET /api/usage`."""

    totals: UsageTotals
    actors: tuple[ActorUsage, ...]
    """By agent, most tokens first."""
    groups: tuple[GroupUsage, ...] = ()
    """By what was asked for (`by`), most tokens first."""
    upkeep: tuple[GroupUsage, ...] = ()
    """By purpose (`summary`, `dated`): what agents' texts for the server cost. They are no turns
    and not in the totals; `turns` counts texts here."""
    embeddings: tuple[EmbeddingUsage, ...] = ()
    """Calls for search; only when nothing is asked for in particular."""


class CancelReply(WireModel):
    turn_id: str
    accepted: bool
    """False when the turn had ended already."""
    status: TurnStatus


class AdviceReply(WireModel):
    message_event_id: str
    delivery: Literal["taken", "queued", "unknown"]
    """taken: the agent has it in that turn; queued: it gets it as its next turn; unknown: it may
    have it, so it is not sent again."""
    next_turn_id: str | None = None


class RestartReply(WireModel):
    actor_id: str
    accepted: bool


class ReloadReply(WireModel):
    """`POST /api/runtime/reload`: what the config file changed; actor ids."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    enabled: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Other settings, name or identity."""
    finishing: tuple[str, ...] = ()
    """Of all these, the ones with a running turn: it ends first, as it was begun."""
    settings: tuple[str, ...] = ()
    """Other settings that count from now on, like `limits.hopCount`."""
    restart_required: tuple[str, ...] = ()
    """Settings that count only after a restart of the server, like `server.port`."""


class RoomReply(WireModel):
    room: RoomInfo


class TextReply(WireModel):
    """`GET /api/events/{eventId}/text`: the whole text of an event whose body holds a cut one."""

    event_id: str
    field: str
    text: str


class ContextUsage(WireModel):
    """`GET /api/context?roomId=`: how full an agent's context packet of this room would be."""

    room_id: str
    through_seq: int
    estimated_characters: int
    max_characters: int
    compaction_trigger_characters: int
    utilization_percent: float
    """Over 100 when what was said since the last summary is more than fits."""
    uncompacted_message_count: int
    summary_through_seq: int | None = None
    """The summary tells what is older; it ends here."""
    summary_characters: int | None = None
    compaction: CompactionInfo | None = None
    """The newest compaction since the server started."""
    reset_through_seq: int | None = None


class ShutdownReply(WireModel):
    accepted: bool
    runtime_key: str
    runtime_scope_key: str
