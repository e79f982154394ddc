"""Bodies of older programs are read as far as they tell something."""

from __future__ import annotations

from groupx_shared.wire.bodies import (
    MessageBody,
    ReasoningRecordedBody,
    ToolProgressBody,
    TurnQueuedBody,
    TurnStartedBody,
    TurnTerminalBody,
)
from groupx_tui.state.reading import read_body
from support.room_events import event


def test_a_tool_record_without_a_call_id_is_a_call_of_its_own() -> None:
    body = read_body(
        event(
            "tool.progress.recorded",
            {"turnId": "t", "nativeType": "tool.started", "details": "ls -l"},
            seq=4,
            event_id="evt_4",
        )
    )
    assert isinstance(body, ToolProgressBody)
    assert (body.tool_call_id, body.native_type) == ("evt_4", "tool.started")


def test_a_terminal_event_ends_its_turn_whatever_else_is_wrong_with_it() -> None:
    body = read_body(
        event("turn.failed", {"turnId": "t", "status": "exploded", "usage": [1]}, seq=4)
    )
    assert isinstance(body, TurnTerminalBody)
    assert (body.turn_id, body.status, body.usage) == ("t", "failed", None)


def test_the_envelope_tells_what_a_queued_turn_leaves_out() -> None:
    body = read_body(
        event("turn.queued", {"turnId": "t"}, seq=4, to=("agent:kimi",), causation_id="evt_1")
    )
    assert body == TurnQueuedBody(
        turn_id="t", source_event_id="evt_1", target_actor_id="agent:kimi", adapter_id=""
    )


def test_an_attempt_without_an_id_still_starts_its_turn() -> None:
    assert isinstance(read_body(event("turn.started", {"turnId": "t"}, seq=1)), TurnStartedBody)


def test_reasoning_without_a_status_is_reasoning() -> None:
    body = read_body(event("turn.reasoning.recorded", {"turnId": "t", "content": "hm"}, seq=1))
    assert isinstance(body, ReasoningRecordedBody)


def test_a_message_without_words_cannot_be_read() -> None:
    assert read_body(event("message.created", {"content": 7}, seq=1)) is None


def test_an_optional_field_of_the_wrong_shape_is_left_out() -> None:
    body = read_body(event("message.created", {"content": "hi", "cut": "maybe"}, seq=1))
    assert body == MessageBody(content="hi")


def test_a_type_of_a_newer_program_cannot_be_read() -> None:
    assert read_body(event("dream.seen", {"turnId": "t"}, seq=1)) is None
