"""What each event of a turn does to its `TurnBlock`.

The invariant: the parts of a turn may come in any order and more than once, and give the same
block. A phase never goes back; what is recorded replaces what was streamed. Streamed parts are in
`deltas`; where a block stands in the timeline is decided by `builder`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from groupx_shared.text import safe_text
from groupx_shared.wire.bodies import (
    MessageBody,
    ReasoningRecordedBody,
    ToolProgressBody,
    TurnDispatchedBody,
    TurnQueuedBody,
    TurnStartedBody,
    TurnTerminalBody,
)
from groupx_shared.wire.events import Event
from groupx_shared.wire.replies import TurnInfo
from groupx_tui.state.clean import (
    author_of,
    clean_id,
    clean_object,
    clean_plan,
    clean_sentence,
    optional_line,
)
from groupx_tui.state.model import Author, TurnBlock, TurnPhase
from groupx_tui.state.streamtext import StreamText
from groupx_tui.state.tools import recorded_only, tool_view, with_tool

_PHASE_RANK: Final[dict[TurnPhase, int]] = {
    "queued": 0,
    "dispatching": 1,
    "running": 2,
    "cancelling": 3,
    "completed": 4,
    "failed": 4,
    "cancelled": 4,
    "interrupted": 4,
}

PartBody = (
    TurnQueuedBody
    | TurnDispatchedBody
    | TurnStartedBody
    | ReasoningRecordedBody
    | ToolProgressBody
    | MessageBody
    | TurnTerminalBody
)
"""Bodies of the durable events that belong to a turn."""


def new_turn(turn_id: str, event: Event) -> TurnBlock:
    """Return an empty block for a turn of which `event` is the first part seen."""
    return TurnBlock(
        block_id=f"turn:{turn_id}",
        order_seq=None,
        queued_seq=0,
        turn_id=turn_id,
        author=author_of(event.actor),
        phase="queued",
        queued_at="",
        room_id=clean_id(event.room_id),
        root_id=clean_id(event.correlation_id),
    )


def with_phase(block: TurnBlock, phase: TurnPhase) -> TurnBlock:
    """Return the block moved on to `phase`; unchanged when it is there or further already."""
    if _PHASE_RANK[phase] <= _PHASE_RANK[block.phase]:
        return block
    return replace(block, phase=phase, queue_position=None, behind_room_id=None)


def with_part(
    block: TurnBlock, event: Event, body: PartBody, seq: int, target: Author | None
) -> TurnBlock:
    """Return the block with one durable event of its turn taken in; `target` is the agent of the
    turn as the agents' cards name it, when the event tells which one it is."""
    if target is not None and block.author.kind != "agent":
        block = replace(block, author=target)
    elif event.actor.kind == "agent":
        block = _with_author(block, author_of(event.actor))
    match body:
        case TurnQueuedBody():
            return _queued(block, event, body, seq)
        case TurnDispatchedBody():
            return with_phase(block, "dispatching")
        case TurnStartedBody():
            started = with_phase(block, "running")
            return replace(started, started_at=optional_line(event.occurred_at))
        case ReasoningRecordedBody():
            return _reasoned(block, body)
        case ToolProgressBody():
            return replace(block, tools=with_tool(block.tools, tool_view(body, seq)))
        case MessageBody():
            return _answered(block, event, body)
        case TurnTerminalBody():
            return _ended(block, event, body, seq)


def _with_author(block: TurnBlock, author: Author) -> TurnBlock:
    return block if block.author == author else replace(block, author=author)


def _queued(block: TurnBlock, event: Event, body: TurnQueuedBody, seq: int) -> TurnBlock:
    return replace(
        block,
        queued_seq=seq,
        queued_at=optional_line(event.occurred_at) or "",
        source_event_id=clean_id(body.source_event_id),
        hop_count=body.hop_count,
        parent_turn_id=optional_line(body.parent_turn_id),
        is_asked=body.asked,
    )


def _reasoned(block: TurnBlock, body: ReasoningRecordedBody) -> TurnBlock:
    return replace(
        block,
        reasoning=same_or_new(block.reasoning, safe_text(body.content)),
        reasoning_offset=len(body.content),
        reasoning_ms=body.duration_ms,
        reasoning_is_recorded=True,
    )


def _answered(block: TurnBlock, event: Event, body: MessageBody) -> TurnBlock:
    return replace(
        block,
        text=same_or_new(block.text, safe_text(body.content)),
        text_offset=len(body.content),
        response_event_id=clean_id(event.event_id),
        stop_reason=optional_line(body.stop_reason),
        is_cut=body.cut,
    )


def _ended(block: TurnBlock, event: Event, body: TurnTerminalBody, seq: int) -> TurnBlock:
    if block.order_seq not in (None, seq):
        return block  # a turn ends once; what claims to be a second end changes nothing
    ended = with_phase(block, _terminal_phase(event, body))
    if not block.reasoning_is_recorded and body.reasoning_event_id is None:
        ended = replace(ended, reasoning=same_or_new(ended.reasoning, ""), reasoning_offset=0)
    if body.partial_text is not None and ended.response_event_id is None:
        text = same_or_new(ended.text, safe_text(body.partial_text))
        ended = replace(ended, text=text, text_offset=len(body.partial_text))
    return replace(
        ended,
        order_seq=seq,
        ended_at=optional_line(event.occurred_at),
        tools=recorded_only(ended.tools),
        plan=clean_plan(body.plan),
        silent_s=None,
        queue_position=None,
        behind_room_id=None,
        cancelling_at=None,
        error_code=optional_line(body.error_code or body.reason),
        error_message=clean_sentence(body.error_message),
        certainty=optional_line(body.delivery_certainty),
        usage=None if body.usage is None else clean_object(body.usage),
        duration_ms=body.duration_ms,
    )


def _terminal_phase(event: Event, body: TurnTerminalBody) -> TurnPhase:
    for phase in ("completed", "failed", "cancelled", "interrupted"):
        if event.type == f"turn.{phase}":
            return phase
    return body.status


def same_or_new(old: StreamText, text: str) -> StreamText:
    """Return a text that says `text`, as a continuation of `old` where it begins with it, so that
    what is laid out stays laid out."""
    known = str(old)
    return old.append(text[len(known) :]) if text.startswith(known) else StreamText(text)


def turn_from_info(info: TurnInfo, name: str) -> TurnBlock:
    """Return the block of a turn known only from the server's list of turns."""
    turn_id = clean_id(info.turn_id)
    return TurnBlock(
        block_id=f"turn:{turn_id}",
        order_seq=None,
        queued_seq=0,
        turn_id=turn_id,
        author=Author(clean_id(info.target_actor_id), name, "agent"),
        phase="queued",
        queued_at=optional_line(info.queued_at) or "",
        room_id=clean_id(info.room_id),
        root_id=clean_id(info.correlation_id),
        parent_turn_id=optional_line(info.parent_turn_id),
    )


def with_info(block: TurnBlock, info: TurnInfo) -> TurnBlock:
    """Return an open block with what the server's list adds: phase, source, answer so far."""
    block = with_phase(block, info.status)
    block = replace(
        block,
        source_event_id=block.source_event_id or clean_id(info.source_event_id),
        started_at=block.started_at or optional_line(info.started_at),
        hop_count=max(block.hop_count, info.hop_count),
        parent_turn_id=block.parent_turn_id or optional_line(info.parent_turn_id),
    )
    partial = info.partial_text
    if partial is None or len(partial) < block.text_offset:
        return block
    text = same_or_new(block.text, safe_text(partial))
    return replace(block, text=text, text_offset=len(partial))
