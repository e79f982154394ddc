"""What the client knows, as plain immutable data: the view models that widgets draw.

Pure: no Textual, no clock, no I/O. `reduce.py` turns events into these; widgets read them and keep
nothing of their own that could disagree. All strings here are already cleaned (`safe_text`), so a
widget may draw them as they are.

Order of the timeline: closed blocks by `order_seq` (a message at its seq, a turn at the seq of its
terminal event), then own messages that are not on disk yet, then the open turns at the end, in the
order they were queued. A turn that ends therefore stays where the reader saw it: at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from groupx_tui.state.streamtext import StreamText

BlockId = str
"""`msg:<eventId>`, `turn:<turnId>` or `note:<eventId>`."""

TurnPhase = Literal[
    "queued",
    "dispatching",
    "running",
    "cancelling",
    "completed",
    "failed",
    "cancelled",
    "interrupted",
]


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote a block."""

    actor_id: str
    name: str
    kind: Literal["user", "agent", "system"]


@dataclass(frozen=True, slots=True)
class ToolView:
    """One tool call in a turn. `content` items are `{type: text|diff|terminal, …}` (wire)."""

    call_id: str
    title: str
    kind: str
    status: str
    has_ended: bool
    input: Any = None
    content: tuple[dict[str, Any], ...] = ()
    locations: tuple[dict[str, Any], ...] = ()
    duration_ms: int | None = None
    is_cut: bool = False
    recorded_seq: int = 0
    """Seq of its first durable record; 0 while it is known only live."""
    decided_seq: int = 0
    """Seq of the record that says how it stands now."""


@dataclass(frozen=True, slots=True)
class MessageBlock:
    """A message by a person, an agent or the system (not an agent's answer to a turn)."""

    block_id: BlockId
    order_seq: int
    event_id: str
    author: Author
    at: str
    """ISO time, UTC."""
    text: str
    to: tuple[str, ...] = ()
    """Display names of those it wakes."""
    reply_to_event_id: str | None = None
    is_pending: bool = False
    """Sent by this client and not yet seen in the ledger (`order_seq` is 0 then)."""
    refusal: str | None = None
    """Why the server refused it; the text goes back to the composer."""
    is_cut: bool = False
    """The text is shortened; the whole one can be loaded."""
    again_of: str | None = None
    """The turn that a person took up again with this message."""
    root_id: str = ""
    """The correlation of the message that led to this one (its own, when it is the first)."""
    turn_id: str | None = None
    """The turn in which an agent wrote it."""
    forwarded: str = ""
    """Who wrote what it passes on; empty: it passes nothing on."""
    forwarded_event_id: str | None = None
    kind: str | None = None
    """What sort of message it is, when it is not a plain one (`supervision.watch` …)."""


@dataclass(frozen=True, slots=True)
class TurnBlock:
    """One agent's turn: from queued to its answer."""

    block_id: BlockId
    order_seq: int | None
    """Seq of the terminal event; None while the turn is open."""
    queued_seq: int
    turn_id: str
    author: Author
    phase: TurnPhase
    queued_at: str
    started_at: str | None = None
    ended_at: str | None = None
    source_event_id: str | None = None
    text: StreamText = field(default_factory=StreamText)
    """The answer so far, or whole."""
    reasoning: StreamText = field(default_factory=StreamText)
    reasoning_ms: int | None = None
    tools: tuple[ToolView, ...] = ()
    plan: tuple[dict[str, str], ...] = ()
    silent_s: float | None = None
    """Set while the agent is silent: it may be waiting for its model."""
    silent_at: str | None = None
    """When that was told: it is told ever more seldom, and goes on meanwhile."""
    queue_position: int | None = None
    behind_room_id: str | None = None
    """While queued: the other room that the agent works in meanwhile."""
    cancelling_at: str | None = None
    """When it was asked to stop, as far as that is known."""
    hop_count: int = 0
    """0 when a person woke the agent; more when another agent did."""
    error_code: str | None = None
    error_message: str | None = None
    certainty: str | None = None
    """`unknown` on a turn that did not complete: the prompt may have arrived."""
    stop_reason: str | None = None
    response_event_id: str | None = None
    is_cut: bool = False
    usage: dict[str, Any] | None = None
    room_id: str = ""
    duration_ms: int | None = None
    text_offset: int = 0
    """Characters of the answer known so far, as the server counts them (the streamed `text` may
    differ: it is cleaned and marks what did not arrive)."""
    reasoning_offset: int = 0
    reasoning_is_recorded: bool = False
    root_id: str = ""
    """The correlation of the message that led to this turn."""
    parent_turn_id: str | None = None
    """The turn whose agent called this one; None when a person did."""
    is_asked: bool = False
    """That turn waits for the answer."""

    @property
    def is_open(self) -> bool:
        """True until the terminal event."""
        return self.order_seq is None

    @property
    def can_retry(self) -> bool:
        """Ended without an answer: its message can be sent once more."""
        return self.order_seq is not None and self.phase != "completed"

    @property
    def can_continue(self) -> bool:
        """Ended without an answer, and the agent has, or may have, begun on it."""
        return self.can_retry and (len(self.text) > 0 or self.certainty in ("unknown", "delivered"))


@dataclass(frozen=True, slots=True)
class Pair:
    """Agents that were set to watch others, for the turns of one message."""

    source_event_id: str
    watch_event_id: str
    """The message that tells the observers what to look out for."""
    workers: tuple[str, ...]
    """Actors."""
    observers: tuple[str, ...]
    worker_turns: tuple[str, ...]
    """The turns that the message woke; those that follow them are not named."""
    observer_turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoticeBlock:
    """One line about the room or a session, or an event of a type this version does not know."""

    block_id: BlockId
    order_seq: int
    at: str
    text: str
    tone: Literal["info", "warning", "error"] = "info"
    root_id: str = ""
    """The correlation of the message that led to this."""
    loop: Literal["", "stopped", "continued"] = ""
    """A limit stopped agents that call each other, or a person let them go on."""
    pair: Pair | None = None
    """Who watches whom from here on."""


Block = MessageBlock | TurnBlock | NoticeBlock


@dataclass(frozen=True, slots=True)
class ThreadBlock:
    """What agents said to each other because of one message, as one line. The timeline makes it
    of the blocks; the view models hold none."""

    block_id: BlockId
    """`thread:<rootId>`."""
    order_seq: int | None
    """Of the first block of the exchange that is loaded."""
    root_id: str
    at: str
    callers: tuple[str, ...]
    """Names, in the order of their first call."""
    called: tuple[str, ...]
    turns: int = 0
    answered: int = 0
    failed: int = 0
    """Ended without an answer."""
    working: tuple[str, ...] = ()
    waiting: int = 0
    messages: int = 0
    """How many of the room's messages it stands for."""
    until: str | None = None
    """When the last one ended; None while one is open."""
    is_open: bool = False
    """Its blocks are shown."""

    @property
    def text(self) -> str:
        """What copying it gives."""
        return f"{', '.join(self.callers)} → {', '.join(self.called)}"


Shown = Block | ThreadBlock
"""What the timeline draws."""


@dataclass(frozen=True, slots=True)
class AgentView:
    """One agent's card."""

    actor_id: str
    name: str
    status: str
    detail: str | None
    enabled: bool
    driver: str = ""
    cwd: str = ""
    queued_turns: int = 0
    active_turn_id: str | None = None
    is_default: bool = False
    until: str | None = None
    """When a limit ends or the program is started again; ISO time, UTC."""

    @property
    def handle(self) -> str:
        """What one types after `@`: the id without `agent:`."""
        return self.actor_id.removeprefix("agent:")


@dataclass(frozen=True, slots=True)
class RoomEntry:
    """One line of the room list."""

    room_id: str
    title: str
    last_seq: int
    is_archived: bool = False
    unread: int = 0
    open_turns: int = 0


@dataclass(frozen=True, slots=True)
class TimelineView:
    """The loaded part of one room's timeline."""

    room_id: str
    blocks: tuple[Block, ...] = ()
    first_seq: int = 0
    """Oldest loaded durable event; 0 when none is loaded."""
    last_seq: int = 0
    has_more_before: bool = False
    has_more_after: bool = False
    total_messages: int = 0
    total_events: int = 0
    counted_seq: int = 0
    """Newest event that the totals count."""
    changed: frozenset[BlockId] = frozenset()
    """Blocks that the last reduction touched: all a widget has to lay out again. Blocks that are
    gone are not named."""
    new_after: int = 0
    """Messages that arrived after the loaded window while `has_more_after`: counted only."""
    reader_side: Literal["start", "end"] = "end"
    """Which half the reader looks at; the other end is dropped when too much is loaded."""
    cut_turns: tuple[TurnBlock, ...] = ()
    """Turns that began in the window and end after it; not drawn, completed by the next page."""
    pending: tuple[MessageBlock, ...] = ()
    """Own messages not on disk yet or refused; in `blocks` while the end is loaded."""


@dataclass(frozen=True, slots=True)
class UpkeepView:
    """How the summing up of the shown room stands, or ended."""

    operation_id: str
    phase: Literal["started", "retrying", "completed", "failed", "interrupted"]
    step: Literal["days", "summary"]
    part: int
    parts: int
    messages: int
    characters: int
    """Of these messages."""
    summary_characters: int
    writer: str
    """Name of the agent that writes it, or wrote it; empty while nobody was asked."""
    attempt: int
    started_at: str | None
    ended_at: str | None
    has_no_writer: bool
    problem: str
    """Why it failed, and what to do."""

    @property
    def is_running(self) -> bool:
        return self.phase in ("started", "retrying")


PurgeStage = Literal[
    "removing", "waiting", "index", "rewriting", "wiping", "backups", "checking", "done", "failed"
]


@dataclass(frozen=True, slots=True)
class PurgeView:
    """How getting the bytes of a removed text out of the files stands, or ended."""

    ref_id: str
    stage: PurgeStage
    steps: int
    is_removed: bool
    """The text itself is gone from the room."""
    started_at: str | None
    ended_at: str | None
    left_in: tuple[str, ...]
    """Files in which it still stands, at the end."""
    is_checked: bool
    """The files were searched for it."""
    problem: str

    @property
    def is_running(self) -> bool:
        return self.stage not in ("done", "failed")


Connection = Literal["connecting", "live", "reconnecting", "offline", "closed"]


@dataclass(frozen=True, slots=True)
class ClientView:
    """Everything on the screen."""

    connection: Connection = "connecting"
    connection_detail: str = ""
    ledger_id: str = ""
    cursor: int = 0
    """Newest durable event seen, of any room; the stream resumes after it."""
    room_id: str = "room:main"
    timeline: TimelineView = field(default_factory=lambda: TimelineView("room:main"))
    rooms: tuple[RoomEntry, ...] = ()
    agents: tuple[AgentView, ...] = ()
    max_message_chars: int = 131_072
    open_turns: tuple[TurnBlock, ...] = ()
    """Open turns of all rooms in the order they were queued; those of the shown room are also the
    tail of `timeline.blocks` while its end is loaded."""
    missing_room: str = ""
    """The room that was asked for and that this server does not have; another one is shown."""
    upkeep: UpkeepView | None = None
    """The latest summing up of the shown room, as far as it is known."""
    purge: PurgeView | None = None
    """The newest purge of a removed text, as far as it was told."""
    removals: int = 0
    """How many texts were removed for good since the window opened: lists that show texts are read
    anew then."""
    ended: tuple[TurnBlock, ...] = field(default=(), compare=False)
    """The turns, of any room, that ended in the last reduction: news, not state."""
