"""Open turns stand in the order they were queued and know their place in their agent's queue."""

from __future__ import annotations

from groupx_tui.state.model import ClientView, TurnBlock
from groupx_tui.state.reduce import apply_events, with_open_turns
from support.room_events import RoomScript, turn_info

OTHER = "room:other"


def positions(view: ClientView) -> dict[str, int | None]:
    return {turn.turn_id: turn.queue_position for turn in view.open_turns}


def test_turns_of_one_agent_count_those_before_them_in_all_rooms() -> None:
    script = RoomScript()
    script.queue("a", "codex", room=OTHER)
    script.queue("b", "codex")
    script.queue("c", "kimi")
    script.queue("d", "codex")
    script.start("a", "codex", room=OTHER)
    view = apply_events(ClientView(), script.live)
    assert positions(view) == {"a": None, "b": 1, "c": 0, "d": 2}


def test_a_queued_turn_knows_that_its_agent_works_in_another_room() -> None:
    script = RoomScript()
    script.queue("a", "codex", room=OTHER)
    script.queue("b", "codex")
    script.queue("c", "codex", room=OTHER)
    script.start("a", "codex", room=OTHER)
    view = apply_events(ClientView(), script.live)
    behind = {turn.turn_id: turn.behind_room_id for turn in view.open_turns}
    assert behind == {"a": None, "b": OTHER, "c": None}
    view = apply_events(view, script.end("a", "codex"))
    assert {turn.behind_room_id for turn in view.open_turns} == {None}


def test_a_turn_that_ends_moves_the_others_up_and_names_them() -> None:
    script = RoomScript()
    for turn in ("a", "b", "c"):
        script.queue(turn, "codex")
    view = apply_events(ClientView(), script.live)
    view = apply_events(view, script.end("a", "codex", outcome="cancelled"))
    assert positions(view) == {"b": 0, "c": 1}
    assert view.timeline.changed == {"turn:a", "turn:b", "turn:c"}


def test_turns_known_only_from_the_servers_list_come_first() -> None:
    script = RoomScript()
    script.queue("b", "codex")
    view = apply_events(ClientView(), script.live)
    view = with_open_turns(view, [turn_info("a", "codex", status="running")], is_first=True)
    assert positions(view) == {"a": None, "b": 1}
    assert [block.block_id for block in view.timeline.blocks] == ["turn:a", "turn:b"]


def test_a_turn_that_ended_is_not_opened_again_by_an_older_list() -> None:
    script = RoomScript()
    script.whole_turn("a", "codex")
    view = apply_events(ClientView(), script.live)
    infos = [
        turn_info("a", "codex"),
        turn_info("gone", "codex"),
        turn_info("x", "y", status="failed"),
    ]
    assert with_open_turns(view, infos[:1], is_first=True).open_turns == ()
    assert with_open_turns(view, infos, is_first=False).open_turns == ()


def test_a_later_list_fills_what_was_lost_of_a_known_turn() -> None:
    script = RoomScript()
    script.queue("a", "codex")
    script.start("a", "codex")
    script.delta("a", "codex", "lost ")
    script.live.pop()
    script.delta("a", "codex", "part")
    view = apply_events(ClientView(), script.live)
    view = with_open_turns(
        view, [turn_info("a", "codex", partial_text="lost part")], is_first=False
    )
    (block,) = view.timeline.blocks
    assert isinstance(block, TurnBlock)
    assert str(block.text) == "lost part"
    assert view.timeline.changed == {"turn:a"}
