"""The room list: what is new in rooms that are not shown, counted once."""

from __future__ import annotations

from groupx_tui.state.model import ClientView, RoomEntry
from groupx_tui.state.reduce import apply_event, apply_events, with_room
from support.room_events import MAIN, RoomScript, agent_actor

OTHER = "room:other"


def entry(view: ClientView, room_id: str = OTHER) -> RoomEntry:
    return next(each for each in view.rooms if each.room_id == room_id)


def test_messages_of_others_in_another_room_are_unread() -> None:
    script = RoomScript()
    script.say("mine", room=OTHER)
    script.say("theirs", room=OTHER, actor=agent_actor("codex"))
    script.whole_turn("t", "codex", room=OTHER)
    view = apply_events(ClientView(), script.live)
    assert entry(view).unread == 2  # a message and an answer
    assert entry(apply_events(view, script.durable)).unread == 2


def test_a_turn_that_failed_in_another_room_is_news() -> None:
    script = RoomScript()
    script.queue("t", "codex", room=OTHER)
    script.end("t", "codex", outcome="failed", room=OTHER)
    assert entry(apply_events(ClientView(), script.live)).unread == 1


def test_nothing_is_unread_in_the_shown_room() -> None:
    script = RoomScript()
    script.say("theirs", actor=agent_actor("codex"))
    assert entry(apply_events(ClientView(), script.live), MAIN).unread == 0


def test_open_turns_are_counted_for_every_room() -> None:
    script = RoomScript()
    script.queue("t1", "codex", room=OTHER)
    script.queue("t2", "kimi", room=OTHER)
    script.queue("t3", "kimi")
    view = apply_events(ClientView(), script.live)
    assert (entry(view).open_turns, entry(view, MAIN).open_turns) == (2, 1)
    script.end("t1", "codex", room=OTHER)
    assert entry(apply_events(view, script.live)).open_turns == 1


def test_a_room_is_made_renamed_archived_and_restored() -> None:
    script = RoomScript()
    view = apply_event(ClientView(), script.write("room.created", {"title": "A"}, room=OTHER))
    assert (entry(view).title, entry(view).is_archived) == ("A", False)
    view = apply_event(view, script.write("room.renamed", {"title": "B\x1b"}, room=OTHER))
    view = apply_event(view, script.write("room.archived", {"title": "B"}, room=OTHER))
    assert (entry(view).title, entry(view).is_archived) == ("B", True)
    view = apply_event(view, script.write("room.restored", {"title": "B"}, room=OTHER))
    assert not entry(view).is_archived


def test_a_room_that_the_server_lists_shows_before_its_event_comes_and_still_counts_it() -> None:
    script = RoomScript()
    created = script.write("room.created", {"title": "other"}, room=OTHER)
    said = script.say("theirs", room=OTHER, actor=agent_actor("codex"))
    view = with_room(ClientView(), script.room_info(OTHER))
    assert entry(view).last_seq == 0
    view = apply_events(view, [created, said])
    assert (entry(view).last_seq, entry(view).unread) == (2, 1)
