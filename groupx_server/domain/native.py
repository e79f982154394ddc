"""What an agent does during a turn, in one vocabulary for every vendor.

A driver turns its protocol's messages into these events; the turn runner (rooms/) turns them
into deltas, records and the one terminal. Plain frozen data: no protocol, no clock, no I/O. All
text here is still hostile: the runner cleans and bounds it before it is stored or published.

A turn's stream is: any number of non-terminal events, then exactly one of `TurnCompleted`,
`TurnCancelled`, `TurnFailed`, and nothing after it. The first event proves that the agent received
the prompt, except `Waiting` (silence, told by the driver) and a `TurnFailed` for silence or death.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from groupx_shared.errors import ErrorCode

ToolStatus = Literal["pending", "in_progress", "completed", "failed", "cancelled"]
Continuity = Literal["new", "resumed", "new_after_resume_failure"]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The agent acknowledged the prompt."""

    native_turn_id: str | None = None


@dataclass(slots=True)
class ContentDelta:
    """A piece of the answer, made for each line of an agent: a frozen one takes three times as
    long to make. A new `message_id` (or None after a tool call) starts a paragraph."""

    text: str
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the agent's reasoning, never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The whole known state of one tool call, latest values; `content` holds the protocol's
    content items (text, diff, terminal) as plain JSON."""

    call_id: str
    title: str = ""
    kind: str = "other"
    status: ToolStatus = "pending"
    raw_input: Any = None
    content: tuple[dict[str, Any], ...] = ()
    locations: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """A tool call started (`phase="started"`), changed, or ended."""

    call: ToolCall
    phase: Literal["started", "updated", "ended"]


@dataclass(frozen=True, slots=True)
class PlanUpdated:
    """The agent's plan, whole each time: entries `{content, priority, status}`."""

    entries: tuple[dict[str, str], ...]


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Tokens or context size as the agent reports them; keys as `TurnUsage` on the wire
    (inputTokens, outputTokens, cachedTokens, thoughtTokens, totalTokens, contextUsed,
    contextSize, costAmount, costCurrency); only those it told."""

    usage: dict[str, int | float | str]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing comes from the agent for now: silence that the driver noticed, or, with a `reason`,
    what the agent itself says it waits for (it tries its model again; one line, its own words)."""

    silent_s: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TurnCompleted:
    """The agent ended its turn. `content` replaces the streamed text when the protocol gives the
    whole answer at the end; `stop_reason` is the protocol's word."""

    content: str | None = None
    stop_reason: str = "end_turn"
    usage: dict[str, int | float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnCancelled:
    """The agent confirmed the cancel. `content` replaces the streamed text, as in
    `TurnCompleted`."""

    content: str | None = None


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The turn ended with an error. `session_lost` means the session cannot take another prompt:
    the agent is stopped and started again before its next turn. `content` replaces the streamed
    text, as in `TurnCompleted`."""

    code: ErrorCode
    message: str
    session_lost: bool = False
    details: dict[str, Any] = field(default_factory=dict)
    content: str | None = None


NativeEvent = (
    TurnStarted
    | ContentDelta
    | ReasoningDelta
    | ToolProgress
    | PlanUpdated
    | UsageReported
    | Waiting
    | TurnCompleted
    | TurnCancelled
    | TurnFailed
)
TerminalEvent = TurnCompleted | TurnCancelled | TurnFailed
