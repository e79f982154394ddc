"""Where events go: the shown room, other rooms, after the loaded part."""

from __future__ import annotations

from groupx_tui.state.builder import ViewBuilder
from groupx_tui.state.model import ClientView, TurnBlock
from groupx_tui.state.reduce import apply_events, apply_page, untouched
from support.room_events import RoomScript

OTHER = "room:other"


def test_a_builder_that_was_given_nothing_returns_the_view() -> None:
    view = untouched(apply_events(ClientView(), [RoomScript().say("hi")]))
    assert ViewBuilder(view).freeze() is view


def test_a_reduction_leaves_the_view_it_began_with_alone() -> None:
    script = RoomScript()
    script.queue("t", "codex")
    script.start("t", "codex")
    script.delta("t", "codex", "one ")
    view = apply_events(ClientView(), script.live)
    apply_events(view, [script.delta("t", "codex", "two"), *script.end("t", "codex")])
    (block,) = view.timeline.blocks
    assert isinstance(block, TurnBlock)
    assert (str(block.text), block.is_open, len(view.open_turns)) == ("one ", True, 1)


def test_the_cursor_follows_all_rooms() -> None:
    script = RoomScript()
    script.say("here")
    script.say("there", room=OTHER)
    view = apply_events(ClientView(), script.live)
    assert (view.cursor, len(view.timeline.blocks)) == (2, 1)


def test_a_page_does_not_move_the_cursor() -> None:
    script = RoomScript()
    script.say("here")
    view = apply_page(ClientView(), script.page(), "replace")
    assert (view.cursor, len(view.timeline.blocks)) == (0, 1)


def test_a_turn_that_starts_unannounced_is_open() -> None:
    script = RoomScript()
    script.start("t", "codex", room=OTHER)
    view = apply_events(ClientView(), script.live)
    assert [(turn.turn_id, turn.phase) for turn in view.open_turns] == [("t", "running")]


def test_an_answer_of_an_unknown_turn_elsewhere_opens_nothing() -> None:
    script = RoomScript()
    script.end("t", "codex", answer="late", room=OTHER)
    assert apply_events(ClientView(), script.live).open_turns == ()


def test_totals_count_each_event_once() -> None:
    script = RoomScript()
    script.say("one")
    script.whole_turn("t", "codex")
    view = apply_events(apply_events(ClientView(), script.live), script.durable)
    assert (view.timeline.total_events, view.timeline.total_messages) == (6, 2)
