"""Bootstrap, pages, connection: what a reduction keeps, replaces and names."""

from __future__ import annotations

from groupx_tui.state.model import ClientView, TurnBlock
from groupx_tui.state.pending import add_pending
from groupx_tui.state.reduce import (
    apply_bootstrap,
    apply_event,
    apply_events,
    apply_page,
    untouched,
    with_connection,
    with_reader_side,
)
from support.room_events import RoomScript, agent_actor, agent_info, event, turn_info

OTHER = "room:other"


def script_of(messages: int) -> RoomScript:
    script = RoomScript()
    for number in range(messages):
        script.say(f"message {number}")
    return script


def ids(view: ClientView) -> list[str]:
    return [block.block_id for block in view.timeline.blocks]


def test_a_bootstrap_shows_a_room_at_its_end() -> None:
    script = script_of(5)
    reply = script.bootstrap(limit=3, agents=(agent_info("codex"),))
    view = apply_bootstrap(ClientView(connection="live"), reply)
    assert ids(view) == [f"msg:{each.event_id}" for each in script.durable[2:]]
    assert view.timeline.changed == set(ids(view))
    assert (view.cursor, view.ledger_id, view.connection) == (5, "ledger_1", "live")
    assert (view.timeline.first_seq, view.timeline.last_seq) == (3, 5)
    assert (view.timeline.has_more_before, view.timeline.has_more_after) == (True, False)
    assert (view.timeline.total_messages, view.timeline.total_events) == (5, 5)
    assert view.max_message_chars == 1_000
    assert view.agents[0].name == "Codex"


def test_open_turns_that_only_the_bootstrap_knows_show() -> None:
    script = script_of(2)
    active = (turn_info("t", "codex", status="running", partial_text="so far"),)
    view = apply_bootstrap(ClientView(), script.bootstrap(active=active))
    block = view.timeline.blocks[-1]
    assert isinstance(block, TurnBlock)
    assert (block.phase, str(block.text), block.is_open) == ("running", "so far", True)
    delta = {"turnId": "t", "chunkIndex": 9, "offset": 6, "text": " and on"}
    view = apply_event(view, event("turn.content.delta", delta, actor=agent_actor("codex")))
    assert view.timeline.changed == {"turn:t"}
    assert str(view.open_turns[0].text) == "so far and on"


def test_another_ledger_starts_everything_anew() -> None:
    old = apply_events(ClientView(ledger_id="old"), script_of(9).live)
    view = apply_bootstrap(old, script_of(2).bootstrap())
    assert (view.cursor, len(view.timeline.blocks), view.ledger_id) == (2, 2, "ledger_1")


def test_switching_rooms_keeps_the_cursor_and_what_streams_elsewhere() -> None:
    script = script_of(3)
    script.queue("t", "codex")
    script.start("t", "codex")
    script.delta("t", "codex", "streamed ")
    view = apply_bootstrap(ClientView(), script_of(0).bootstrap())
    view = apply_events(view, script.live)
    script.say("hi", room=OTHER, actor=agent_actor("kimi"))
    view = apply_events(view, script.live[-1:])
    assert next(room.unread for room in view.rooms if room.room_id == OTHER) == 1
    view = apply_bootstrap(view, script.bootstrap(OTHER))
    assert (view.room_id, view.cursor, len(view.timeline.blocks)) == (OTHER, 7, 1)
    assert next(room.unread for room in view.rooms if room.room_id == OTHER) == 0
    view = apply_event(view, script.delta("t", "codex", "on"))
    assert view.timeline.changed == frozenset()
    view = apply_bootstrap(view, script.bootstrap())
    block = view.timeline.blocks[-1]
    assert isinstance(block, TurnBlock)
    assert str(block.text) == "streamed on"
    assert block.block_id in view.timeline.changed


def test_a_room_read_before_its_newest_event_came_has_more() -> None:
    script = script_of(2)
    script.say("hi", room=OTHER)
    stale = script.bootstrap(OTHER)
    view = apply_bootstrap(ClientView(), script.bootstrap())
    late = script.say("late", room=OTHER)
    view = apply_bootstrap(apply_event(view, late), stale)
    assert view.timeline.has_more_after
    view = apply_page(view, script.page(after=view.timeline.last_seq, room=OTHER), "after")
    assert (ids(view)[-1], view.timeline.has_more_after) == (f"msg:{late.event_id}", False)


def test_an_empty_page_has_the_last_word_about_the_end() -> None:
    script = script_of(3)
    view = apply_bootstrap(ClientView(), script.bootstrap())
    view = apply_page(view, script.page_of(script.durable[:1]), "replace")
    assert view.timeline.has_more_after
    empty = script.page_of([], default_after=3)
    assert not apply_page(view, empty, "after").timeline.has_more_after


def test_a_page_joins_turns_that_the_border_cut() -> None:
    script = script_of(1)
    script.queue("t", "codex")
    script.start("t", "codex")
    script.delta("t", "codex", "answer")
    script.end("t", "codex", reasoning="because", tools=("call",))
    whole = apply_events(ClientView(), script.live)
    for limit in range(1, len(script.durable)):
        view = apply_bootstrap(ClientView(), script.bootstrap(limit=limit))
        while view.timeline.has_more_before:
            page = script.page(before=view.timeline.first_seq, limit=limit)
            view = apply_page(view, page, "before")
        assert view.timeline.blocks == whole.timeline.blocks
        assert view.open_turns == ()


def test_a_page_names_the_turn_it_completed() -> None:
    script = RoomScript()
    script.whole_turn("t", "codex")
    view = apply_bootstrap(ClientView(), script.bootstrap(limit=1))
    assert str(view.timeline.blocks[0].text) == ""
    view = apply_page(view, script.page(before=5), "before")
    assert view.timeline.changed == {"turn:t"}


def test_a_page_of_another_room_changes_nothing() -> None:
    script = script_of(3)
    view = apply_bootstrap(ClientView(), script.bootstrap())
    assert apply_page(view, script.page(room=OTHER, before=2), "replace") is view


def test_away_from_the_end_new_messages_are_counted_until_it_is_reached() -> None:
    script = script_of(6)
    view = apply_bootstrap(ClientView(), script.bootstrap())
    view = apply_page(view, script.page_of(script.durable[:2]), "replace")
    before = ids(view)
    view = apply_events(view, [script.say("new"), script.write("room.renamed", {"title": "R"})])
    assert (ids(view), view.timeline.new_after) == (before, 1)
    view = apply_page(view, script.page(after=2), "after")
    assert (view.timeline.new_after, len(ids(view))) == (0, 8)


def test_an_own_pending_message_survives_a_new_window() -> None:
    script = script_of(4)
    view = add_pending(apply_bootstrap(ClientView(), script.bootstrap()), "cmd", "hi")
    view = apply_page(view, script.page_of(script.durable[:2]), "replace")
    assert "msg:cmd" not in ids(view)
    view = apply_page(view, script.page(limit=2), "replace")
    assert ids(view)[-1] == "msg:cmd"
    assert "msg:cmd" in view.timeline.changed


def test_what_came_already_changes_nothing() -> None:
    script = script_of(2)
    script.whole_turn("t", "codex")
    view = untouched(apply_events(ClientView(), script.live))
    for each in script.durable:
        assert apply_event(view, each) is view


def test_a_delta_for_a_turn_that_is_over_changes_nothing() -> None:
    script = RoomScript()
    script.whole_turn("t", "codex")
    view = untouched(apply_events(ClientView(), script.live))
    assert apply_event(view, script.delta("t", "codex", "late")) is view


def test_the_connection_changes_without_touching_a_block() -> None:
    view = apply_events(ClientView(), script_of(1).live)
    view = with_connection(view, "reconnecting", "The server does not answer.")
    assert (view.connection, view.connection_detail) == (
        "reconnecting",
        "The server does not answer.",
    )
    assert view.timeline.changed == frozenset()


def test_the_readers_side_is_noted_once() -> None:
    view = with_reader_side(ClientView(), "start")
    assert view.timeline.reader_side == "start"
    assert with_reader_side(view, "start") is view


def test_a_delta_neither_copies_the_answer_nor_touches_other_blocks() -> None:
    script = script_of(50)
    script.queue("t", "codex")
    script.start("t", "codex")
    view = apply_events(ClientView(), script.live)
    for _ in range(100):
        after = apply_event(view, script.delta("t", "codex", "piece "))
        old, new = view.open_turns[0], after.open_turns[0]
        assert new.text.continues(old.text)
        assert new.text.piece_count == old.text.piece_count + 1
        assert all(
            a is b for a, b in zip(view.timeline.blocks, after.timeline.blocks[:50], strict=False)
        )
        view = after
