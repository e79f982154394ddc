"""A turn's parts give the same block in any order, and twice is as once."""

from __future__ import annotations

from itertools import permutations

import pytest

from groupx_shared.wire.events import Event
from groupx_tui.state.model import ClientView, TurnBlock
from groupx_tui.state.reduce import apply_event, apply_events, untouched
from groupx_tui.state.streamtext import StreamText
from groupx_tui.state.turns import same_or_new, turn_from_info, with_info
from support.room_events import RoomScript, event, turn_info


def block_of(events: list[Event]) -> TurnBlock:
    (block,) = apply_events(ClientView(), events).timeline.blocks
    assert isinstance(block, TurnBlock)
    return block


def whole_turn(outcome: str = "completed") -> list[Event]:
    script = RoomScript()
    script.queue("t", "codex")
    script.start("t", "codex")
    script.end(
        "t",
        "codex",
        answer="the answer",
        outcome=outcome,
        reasoning="because",
        tools=("call_1", "call_2"),
        plan=[{"content": "do\x1b it", "priority": "high", "status": "completed"}],
        durationMs=1200,
        usage={"tokens": 5},
    )
    return script.durable


def test_a_completed_turn_holds_all_its_parts() -> None:
    block = block_of(whole_turn())
    assert (block.phase, str(block.text), str(block.reasoning)) == (
        "completed",
        "the answer",
        "because",
    )
    assert [tool.call_id for tool in block.tools] == ["call_1", "call_2"]
    assert (block.order_seq, block.queued_seq, block.duration_ms) == (8, 1, 1200)
    assert block.response_event_id == whole_turn()[6].event_id
    assert (block.queued_at, block.started_at, block.ended_at) == (
        "2026-01-01T00:00:01.000Z",
        "2026-01-01T00:00:03.000Z",
        "2026-01-01T00:00:08.000Z",
    )
    assert block.author.name == "Codex"
    assert block.plan == ({"content": "do␛ it", "priority": "high", "status": "completed"},)
    assert not block.is_open


def test_the_plan_that_is_kept_is_the_recorded_one() -> None:
    script = RoomScript()
    script.queue("t", "codex")
    script.start("t", "codex")
    shown = [{"content": "Read", "status": "in_progress"}]
    told = script.stream(
        "turn.progress", {"turnId": "t", "kind": "plan", "entries": shown}, "codex"
    )
    before = apply_events(ClientView(), [*script.durable, told])
    assert before.open_turns[0].plan == tuple(shown)
    end = script.end("t", "codex", plan=[{"content": "Read", "status": "completed"}])
    after = apply_events(before, end)
    (block,) = after.timeline.blocks
    assert isinstance(block, TurnBlock)
    assert block.plan == ({"content": "Read", "status": "completed"},)


@pytest.mark.slow
@pytest.mark.parametrize("outcome", ["completed", "failed"])
def test_the_terminal_group_gives_the_same_block_in_any_order(outcome: str) -> None:
    events = whole_turn(outcome)
    head, group = events[:3], events[3:]
    expected = block_of(events)
    for order in permutations(group):
        assert block_of([*head, *order]) == expected
        assert block_of([*order, *head]) == expected


def test_every_event_twice_is_as_once() -> None:
    events = whole_turn()
    doubled = [each for pair in zip(events, events, strict=True) for each in pair]
    assert block_of(doubled) == block_of(events)


def test_the_recorded_answer_replaces_what_was_streamed() -> None:
    script = RoomScript()
    script.queue("t", "codex")
    script.start("t", "codex")
    script.delta("t", "codex", "a draft ")
    script.live.pop()  # lost
    script.delta("t", "codex", "of it")
    script.reason("t", "codex", "thinking")
    script.end("t", "codex", answer="The final words")
    block = block_of(script.live)
    assert (str(block.text), str(block.reasoning)) == ("The final words", "")


def test_an_answer_that_was_streamed_whole_keeps_its_pieces() -> None:
    script = RoomScript()
    script.queue("t", "codex")
    script.start("t", "codex")
    for word in ("one ", "two ", "three"):
        script.delta("t", "codex", word)
    streamed = block_of(script.live)
    script.end("t", "codex", answer="one two three.")
    ended = block_of(script.live)
    assert streamed.text.piece_count == 3
    assert str(ended.text) == "one two three."
    assert same_or_new(streamed.text, str(ended.text)).continues(streamed.text)


def test_a_failed_turn_says_why_and_how_sure_the_delivery_is() -> None:
    script = RoomScript()
    script.queue("t", "codex")
    script.start("t", "codex")
    script.delta("t", "codex", "half an ans")
    script.end(
        "t",
        "codex",
        outcome="interrupted",
        errorCode="TURN_INTERRUPTED",
        errorMessage="The server\x1b stopped.",
        deliveryCertainty="unknown",
    )
    block = block_of(script.live)
    assert (block.phase, block.error_code, block.error_message, block.certainty) == (
        "interrupted",
        "TURN_INTERRUPTED",
        "The server␛ stopped.",
        "unknown",
    )
    assert str(block.text) == "half an ans"


def test_what_streamed_stays_when_the_record_of_a_failed_turn_tells_no_text() -> None:
    script = RoomScript()
    script.queue("t", "codex")
    script.start("t", "codex")
    script.delta("t", "codex", "half")
    script.end("t", "codex", outcome="failed")
    del script.live[-1].body["partialText"]
    assert str(block_of(script.live).text) == "half"


def test_a_turn_that_never_started_belongs_to_its_target() -> None:
    script = RoomScript()
    script.queue("t", "codex")
    script.write("turn.cancelled", {"turnId": "t", "status": "cancelled"})
    assert block_of(script.durable).author.actor_id == "agent:codex"


def test_a_second_end_changes_nothing() -> None:
    view = apply_events(ClientView(), whole_turn())
    second = event("turn.failed", {"turnId": "t", "status": "failed"}, seq=20)
    assert apply_event(view, second).timeline.blocks == view.timeline.blocks


def test_a_phase_never_goes_back() -> None:
    script = RoomScript()
    script.queue("t", "codex")
    script.start("t", "codex")
    queued, dispatched, started = script.durable
    assert block_of([queued, started, dispatched]).phase == "running"


def test_a_turn_known_from_the_servers_list_shows_what_it_tells() -> None:
    info = turn_info(
        "t", "codex", status="running", partial_text="so far", started_at="2026-01-01T00:00:01Z"
    )
    block = with_info(turn_from_info(info, "Codex"), info)
    assert (block.phase, str(block.text), block.text_offset) == ("running", "so far", 6)
    assert (block.author.name, block.source_event_id) == ("Codex", "evt_none")
    older = turn_info("t", "codex", partial_text="so")
    assert with_info(block, older) == block


def test_a_text_that_differs_is_new() -> None:
    old = StreamText("abc")
    assert not same_or_new(old, "abX").continues(old)


def test_a_turn_that_ends_is_news_once_wherever_it_is() -> None:
    script = RoomScript()
    script.queue("a", "codex")
    script.queue("b", "kimi", room="room:other")
    view = apply_events(ClientView(), script.live)
    here = apply_events(view, script.end("a", "codex", answer="yes"))
    assert [(turn.turn_id, turn.phase, str(turn.text)) for turn in here.ended] == [
        ("a", "completed", "yes")
    ]
    there = apply_events(here, script.end("b", "kimi", outcome="failed", room="room:other"))
    assert [(turn.turn_id, turn.phase) for turn in there.ended] == [("b", "failed")]
    assert untouched(there).ended == ()
    assert apply_events(there, script.durable[-1:]).ended == ()
