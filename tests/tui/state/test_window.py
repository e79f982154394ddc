"""The loaded part stays bounded and contiguous, and nothing near the reader is dropped."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from groupx_tui.state import window
from groupx_tui.state.model import ClientView, TurnBlock
from groupx_tui.state.reduce import apply_bootstrap, apply_events, apply_page, with_reader_side
from support.room_events import RoomScript


@pytest.fixture(autouse=True)
def small_window() -> Iterator[None]:
    with patch.object(window, "MAX_BLOCKS", 10), patch.object(window, "KEEP_BLOCKS", 6):
        yield


def script_of(messages: int) -> RoomScript:
    script = RoomScript()
    for number in range(messages):
        script.say(f"message {number}")
    return script


def seqs(view: ClientView) -> list[int | None]:
    return [block.order_seq for block in view.timeline.blocks]


def test_a_reader_at_the_end_keeps_the_newest() -> None:
    script = script_of(10)
    view = apply_events(ClientView(), script.live)
    assert len(seqs(view)) == 10
    view = apply_events(view, [script.say("one more")])
    assert seqs(view) == [6, 7, 8, 9, 10, 11]
    assert (view.timeline.first_seq, view.timeline.has_more_before) == (6, True)
    assert not view.timeline.has_more_after


def test_a_reader_at_the_start_keeps_the_oldest_and_new_ones_are_only_counted() -> None:
    script = script_of(10)
    view = with_reader_side(apply_events(ClientView(), script.live), "start")
    view = apply_events(view, [script.say("one more")])
    assert seqs(view) == [1, 2, 3, 4, 5, 6]
    assert (view.timeline.last_seq, view.timeline.has_more_after) == (6, True)
    view = apply_events(view, [script.say("and another")])
    assert (seqs(view)[-1], view.timeline.new_after) == (6, 1)
    assert view.timeline.total_messages == 12


def test_reading_back_drops_the_end_and_reading_on_brings_it_again() -> None:
    script = script_of(20)
    view = apply_bootstrap(ClientView(), script.bootstrap(limit=8))
    view = apply_page(view, script.page(before=13, limit=4), "before")
    assert seqs(view) == [9, 10, 11, 12, 13, 14]
    assert (view.timeline.has_more_before, view.timeline.has_more_after) == (True, True)
    view = apply_page(view, script.page(after=14, limit=5), "after")
    assert seqs(view) == [14, 15, 16, 17, 18, 19]
    assert view.timeline.first_seq == 14
    view = apply_page(view, script.page(after=19, limit=5), "after")
    assert (seqs(view)[-1], view.timeline.has_more_after) == (20, False)


def test_open_turns_show_only_while_the_end_is_loaded() -> None:
    script = script_of(10)
    script.queue("t", "codex")
    view = with_reader_side(apply_events(ClientView(), script.live), "start")
    assert view.timeline.blocks[-1].block_id == "turn:t"
    view = apply_events(view, [script.say("one more")])
    assert seqs(view) == [1, 2, 3, 4, 5, 6]
    view = apply_events(view, [script.delta("t", "codex", "streamed meanwhile")])
    assert view.timeline.changed == frozenset()
    view = apply_page(view, script.page(after=6), "after")
    block = view.timeline.blocks[-1]
    assert isinstance(block, TurnBlock)
    assert str(block.text) == "streamed meanwhile"
    assert block.block_id in view.timeline.changed


def test_a_dropped_turn_that_began_in_the_kept_part_is_whole_when_it_comes_back() -> None:
    script = script_of(4)
    script.queue("t", "codex")
    for number in range(4):
        script.say(f"meanwhile {number}")
    script.start("t", "codex")
    script.delta("t", "codex", "answer")
    script.end("t", "codex", reasoning="because")
    whole = apply_events(ClientView(), script.live)
    view = with_reader_side(whole, "start")
    view = apply_events(view, [script.say("a"), script.say("b")])
    assert "turn:t" not in [block.block_id for block in view.timeline.blocks]
    view = apply_page(view, script.page(after=view.timeline.last_seq), "after")
    turns = {block.block_id: block for block in whole.timeline.blocks}
    again = {block.block_id: block for block in view.timeline.blocks}
    assert again["turn:t"] == turns["turn:t"]


def test_two_events_that_claim_one_seq_do_not_both_show() -> None:
    script = script_of(1)
    rival = RoomScript().say("rival").model_copy(update={"event_id": "evt_rival"})
    view = apply_events(ClientView(), [*script.live, rival])
    assert [block.block_id for block in view.timeline.blocks] == [f"msg:{script.live[0].event_id}"]
