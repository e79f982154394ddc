"""Typed bodies of the events, one model each; `BODY_MODELS` maps type to model.

The server builds bodies with them; clients read with `body_of`. Fields may be added; a reader
ignores keys it does not know.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from groupx_shared.wire.agents import AgentInfo
from groupx_shared.wire.base import WireModel
from groupx_shared.wire.context import CompactionBody, RedactedBody, ResetBody
from groupx_shared.wire.events import Event, EventType
from groupx_shared.wire.forgetting import PurgeBody

TurnStatus = Literal[
    "queued",
    "dispatching",
    "running",
    "cancelling",
    "completed",
    "failed",
    "cancelled",
    "interrupted",
]
TERMINAL_STATUSES: Final = frozenset({"completed", "failed", "cancelled", "interrupted"})
Certainty = Literal["not_delivered", "unknown", "delivered", "terminal"]


class Forwarded(WireModel):
    """The original of a message that was passed on, as it was then."""

    event_id: str
    room_id: str
    actor_id: str
    """Its author."""
    display_name: str
    occurred_at: str
    cut: bool = False
    """The text here is shortened; the original is whole."""


class MessageBody(WireModel):
    """`message.created`. `turn_id` is set on an agent's answer. When `cut` is true, `content` is
    shortened with a visible mark and the whole text is at `GET /api/events/{id}/text`."""

    content: str
    turn_id: str | None = None
    kind: str | None = None
    cut: bool = False
    stop_reason: str | None = None
    """Set when an answer ended for another reason than being finished (max_tokens, refusal)."""
    forwarded: Forwarded | None = None
    """What was passed on, when `forwardedEventId` is set."""


class DispatchBody(MessageBody):
    """`operator.dispatch`: a task that the room assistant gave to agents. It wakes its targets like
    a message; clients may show it folded."""

    operation: str = "worker_dispatch"
    """worker_dispatch, or worker_ask when it waits for the answers."""
    prompt_length: int | None = None
    """Characters of `content`."""
    targets: tuple[str, ...] = ()


class OperatorActedBody(WireModel):
    """`operator.acted`: the room assistant did something that is no message and no record."""

    tool: str
    summary: str
    """One line for people."""
    subject: str | None = None
    """Id of the turn, agent, room or root that it was done to."""


class TurnQueuedBody(WireModel):
    """`turn.queued`: a message woke this agent; the turn waits in its lane."""

    turn_id: str
    source_event_id: str
    target_actor_id: str
    adapter_id: str
    transport: str = "structured"
    hop_count: int = 0
    parent_turn_id: str | None = None
    """The turn whose agent called this one; absent when a person did."""
    asked: bool = False
    """That turn waits for the answer."""


class TurnDispatchedBody(WireModel):
    """`turn.dispatched`: the lane took the turn; an attempt begins."""

    turn_id: str
    attempt_id: str
    target_actor_id: str


class TurnStartedBody(WireModel):
    """`turn.started`: the agent gave its first sign, so it has the prompt."""

    turn_id: str
    attempt_id: str


class ContentDeltaBody(WireModel):
    """`turn.content.delta`: `text` follows what came before; `offset` is the number of characters
    of the answer before it (so a client that lost some can tell)."""

    turn_id: str
    chunk_index: int
    """Counts from 1 in each turn; a coalesced delta carries its last chunk's index."""
    offset: int
    text: str


class ReasoningDeltaBody(WireModel):
    """`turn.reasoning.delta`: a piece of live reasoning."""

    turn_id: str
    offset: int
    text: str


class ToolDetails(WireModel):
    """One tool call as recorded: bounded and cleaned."""

    title: str = ""
    kind: str = "other"
    status: str = "pending"
    input: Any = None
    content: tuple[dict[str, Any], ...] = ()
    """Items `{type: "text", text}`, `{type: "diff", path, oldText, newText}`,
    `{type: "terminal", output, exitCode?}`."""
    locations: tuple[dict[str, Any], ...] = ()
    """Items `{path, line?}`."""
    cut: bool = False
    duration_ms: int | None = None


class ToolProgressBody(WireModel):
    """`tool.progress` (live) and `tool.progress.recorded` (durable, one for each call)."""

    turn_id: str
    tool_call_id: str
    native_type: Literal["tool.started", "tool.completed"]
    """`tool.completed` once the call has ended, whatever its outcome."""
    details: ToolDetails


class ProgressBody(WireModel):
    """`turn.progress`: a live notice: waiting for the model, a plan, usage."""

    turn_id: str
    kind: Literal["waiting", "plan", "usage"]
    silent_s: float | None = None
    reason: str | None = None
    """What the agent says it waits for; its own words."""
    entries: tuple[dict[str, str], ...] = ()
    usage: dict[str, Any] | None = None


class TurnCancellingBody(WireModel):
    """`turn.cancelling`: a cancel was accepted and the agent is being told."""

    turn_id: str


class ReasoningRecordedBody(WireModel):
    """`turn.reasoning.recorded`: all the reasoning of a turn, once, when it ended."""

    turn_id: str
    content: str
    terminal_status: str
    cut: bool = False
    duration_ms: int | None = None


class TurnTerminalBody(WireModel):
    """`turn.completed|failed|cancelled|interrupted`."""

    turn_id: str
    status: TurnStatus
    reasoning_event_id: str | None = None
    tool_progress_event_ids: tuple[str, ...] = ()
    response_event_id: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    """One sentence for people: what happened and what to do."""
    reason: str | None = None
    previous_status: str | None = None
    dispatch_phase: str | None = None
    delivery_certainty: Certainty | None = None
    """On a turn that did not complete: did the agent get the prompt? `unknown` = it may have."""
    partial_text: str | None = None
    """What had been answered before the end, when it did not complete (bounded)."""
    plan: tuple[dict[str, str], ...] = ()
    """As the agent told it last: entries `{content, priority, status}`."""
    usage: dict[str, Any] | None = None
    duration_ms: int | None = None


class SessionBody(WireModel):
    """`session.ready|resumed|failed`: the agent's native session in this room."""

    phase: Literal["ready", "resumed", "failed"]
    agent_id: str
    actor_id: str
    continuity: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    agent_name: str | None = None
    agent_version: str | None = None
    has_tools: bool | None = None
    """The agent was given the room's tools: it can call others."""
    tools_problem: str | None = None
    """Why it could not take them."""


class RoomBody(WireModel):
    """`room.created|renamed|archived|restored`."""

    title: str
    previous_title: str | None = None


LoopKind = Literal[
    "hop_count",
    "root_turns",
    "actor_calls_per_root",
    "queue_per_agent",
    "ping_pong",
    "tokens_per_root",
]


class HeldCall(WireModel):
    """What an agent wanted to say when it was stopped."""

    content: str
    to: tuple[str, ...]
    reply_to_event_id: str | None = None
    observers: tuple[str, ...] = ()
    """Who should watch those in `to`."""
    brief: str | None = None


class LoopStoppedBody(WireModel):
    """`routing.loop_stopped`: a limit stopped agents that call each other. A person may let them go
    on; at most one of each kind until then."""

    kind: LoopKind
    limit: int
    message: str
    """One sentence for people."""
    caller_actor_id: str
    caller_turn_id: str
    """The turn that called; for a budget it may be the turn that was not sent to its agent."""
    targets: tuple[str, ...] = ()
    continues: int = 0
    """How often a person had let this go on before."""
    held: HeldCall | None = None
    """Sent when a person lets it go on."""


class LoopContinuedBody(WireModel):
    """`routing.loop_continued`: a person let it go on; the limits count once more."""

    continues: int
    released_event_ids: tuple[str, ...] = ()
    """The messages that were held until now."""


class PairedTurn(WireModel):
    """One turn of a pair."""

    actor_id: str
    turn_id: str


class PairedBody(WireModel):
    """`supervision.paired`: observers were set on the turns of a message."""

    pair_id: str
    mode: str = "live_steer"
    source_event_id: str
    """The message whose turns are watched."""
    watch_event_id: str
    """The message to the observers: what to look out for."""
    workers: tuple[PairedTurn, ...]
    observers: tuple[PairedTurn, ...]


class ObservedBody(WireModel):
    """`supervision.observed`: an observer looked how its subject stands; `cursor` is how far it has
    seen it."""

    watch_turn_id: str
    subject_turn_id: str
    until: str
    timed_out: bool
    status: str
    """Of the subject, at that moment."""
    cursor: str
    steps: int = 0
    """Steps of the subject that it was told, not the first time perhaps."""


class SteeredBody(WireModel):
    """`supervision.steered`: an observer advised the agent it watches (nudge) or stopped its turn
    and gave it something else to do (interrupt), and why."""

    action: Literal["nudge", "interrupt"]
    reason: str
    subject_turn_id: str
    subject_actor_id: str | None = None
    pair_id: str
    message_event_id: str | None = None
    """The advice itself."""
    delivery: Literal["live", "queued"] = "queued"
    """live: given to the running turn (`supervision.nudged` says what became of it); queued: the
    agent gets it as its next turn."""
    next_turn_id: str | None = None
    """That turn."""
    steer_count: int = 0
    """How often this turn was steered, this time included."""


class NudgedBody(WireModel):
    """`supervision.nudged`: what became of advice for a running turn."""

    message_event_id: str
    subject_turn_id: str
    outcome: Literal["taken", "queued", "unknown"]
    """taken: the agent has it in that turn; queued: it could not take it and gets it as its next
    turn; unknown: it may have it, so it is not sent again."""
    next_turn_id: str | None = None


class RecordBody(WireModel):
    """A memory or identity record was written, corrected or taken back."""

    record: dict[str, Any]
    """The record as `GET /api/memory` or `/api/identity` gives it; a retracted one without text."""
    usage: dict[str, Any] | None = None
    """What writing it cost, when an agent wrote it for the server."""


class AgentStatusBody(WireModel):
    """`agent.status` (transient): the same fields as the agent's card."""

    actor_id: str
    display_name: str
    status: str
    detail: str | None = None
    until_iso: str | None = None
    queued_turns: int = 0
    active_turn_id: str | None = None


class AgentsChangedBody(WireModel):
    """`agents.changed` (transient): all cards, after agents came, went or were switched. Replaces
    the list of the bootstrap."""

    agents: tuple[AgentInfo, ...]


BODY_MODELS: Final[dict[str, type[WireModel]]] = {
    EventType.MESSAGE_CREATED: MessageBody,
    EventType.OPERATOR_DISPATCH: DispatchBody,
    EventType.OPERATOR_ACTED: OperatorActedBody,
    EventType.TURN_QUEUED: TurnQueuedBody,
    EventType.TURN_DISPATCHED: TurnDispatchedBody,
    EventType.TURN_STARTED: TurnStartedBody,
    EventType.TURN_CONTENT_DELTA: ContentDeltaBody,
    EventType.TURN_REASONING_DELTA: ReasoningDeltaBody,
    EventType.TURN_PROGRESS: ProgressBody,
    EventType.TURN_CANCELLING: TurnCancellingBody,
    EventType.TOOL_PROGRESS: ToolProgressBody,
    EventType.TURN_REASONING_RECORDED: ReasoningRecordedBody,
    EventType.TOOL_PROGRESS_RECORDED: ToolProgressBody,
    EventType.TURN_COMPLETED: TurnTerminalBody,
    EventType.TURN_FAILED: TurnTerminalBody,
    EventType.TURN_CANCELLED: TurnTerminalBody,
    EventType.TURN_INTERRUPTED: TurnTerminalBody,
    EventType.SESSION_READY: SessionBody,
    EventType.SESSION_RESUMED: SessionBody,
    EventType.SESSION_FAILED: SessionBody,
    EventType.ROOM_CREATED: RoomBody,
    EventType.ROOM_RENAMED: RoomBody,
    EventType.ROOM_ARCHIVED: RoomBody,
    EventType.ROOM_RESTORED: RoomBody,
    EventType.ROUTING_LOOP_STOPPED: LoopStoppedBody,
    EventType.ROUTING_LOOP_CONTINUED: LoopContinuedBody,
    EventType.SUPERVISION_PAIRED: PairedBody,
    EventType.SUPERVISION_OBSERVED: ObservedBody,
    EventType.SUPERVISION_STEERED: SteeredBody,
    EventType.SUPERVISION_NUDGED: NudgedBody,
    EventType.MEMORY_REMEMBERED: RecordBody,
    EventType.MEMORY_SUPERSEDED: RecordBody,
    EventType.MEMORY_RETRACTED: RecordBody,
    EventType.MEMORY_PINNED: RecordBody,
    EventType.MEMORY_UNPINNED: RecordBody,
    EventType.IDENTITY_REMEMBERED: RecordBody,
    EventType.IDENTITY_SUPERSEDED: RecordBody,
    EventType.IDENTITY_RETRACTED: RecordBody,
    EventType.CONTEXT_COMPACTION_STARTED: CompactionBody,
    EventType.CONTEXT_COMPACTION_RETRYING: CompactionBody,
    EventType.CONTEXT_COMPACTION_COMPLETED: CompactionBody,
    EventType.CONTEXT_COMPACTION_FAILED: CompactionBody,
    EventType.CONTEXT_RESET: ResetBody,
    EventType.CONTENT_REDACTED: RedactedBody,
    EventType.CONTENT_PURGING: PurgeBody,
    EventType.AGENT_STATUS: AgentStatusBody,
    EventType.AGENTS_CHANGED: AgentsChangedBody,
}


def body_of(event: Event) -> WireModel | None:
    """Return the event's typed body, or None for a type this version does not know.

    Raises: pydantic.ValidationError when the body of a known type does not fit (older rows of the
    earlier program may lack fields; callers show those generically).
    """
    model = BODY_MODELS.get(event.type)
    return None if model is None else model.model_validate(event.body)
