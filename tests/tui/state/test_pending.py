"""Own messages show at once and once, and a refusal stays until it is taken away."""

from __future__ import annotations

from groupx_shared.wire.events import Event
from groupx_shared.wire.replies import MessageAccepted
from groupx_tui.state.agents import agent_view
from groupx_tui.state.model import ClientView, MessageBlock, TurnBlock
from groupx_tui.state.pending import (
    add_pending,
    confirm_pending,
    drop_pending,
    refuse_pending,
    with_full_text,
)
from groupx_tui.state.reduce import apply_event, apply_events
from support.room_events import RoomScript, agent_info, event

CARDS = (agent_view(agent_info("codex")),)


def sending(script: RoomScript | None = None, text: str = "hi") -> ClientView:
    view = apply_events(ClientView(agents=CARDS), script.live if script else [])
    return add_pending(view, "cmd_1", text, ["agent:codex"], at="2026-01-01T00:00:00.000Z")


def accepted(sent: Event) -> MessageAccepted:
    return MessageAccepted(
        message_event_id=sent.event_id,
        seq=sent.seq or 0,
        room_id=sent.room_id,
        correlation_id="corr_1",
        turns=(),
    )


def ids(view: ClientView) -> list[str]:
    return [block.block_id for block in view.timeline.blocks]


def test_an_own_message_stands_before_the_open_turns() -> None:
    script = RoomScript()
    script.say("before")
    script.queue("t", "codex")
    view = sending(script)
    assert ids(view) == [f"msg:{script.durable[0].event_id}", "msg:cmd_1", "turn:t"]
    block = view.timeline.blocks[1]
    assert isinstance(block, MessageBlock)
    assert (block.is_pending, block.order_seq, block.to, block.text) == (True, 0, ("Codex",), "hi")
    assert view.timeline.changed == {"msg:cmd_1"}


def test_reply_and_event_in_either_order_give_one_message() -> None:
    script = RoomScript()
    sent = script.say("hi", to=("codex",))
    first_reply = apply_event(confirm_pending(sending(), "cmd_1", accepted(sent)), sent)
    first_event = confirm_pending(apply_event(sending(), sent), "cmd_1", accepted(sent))
    assert first_reply.timeline.blocks == first_event.timeline.blocks
    assert ids(first_reply) == [f"msg:{sent.event_id}"]


def test_between_reply_and_event_the_message_has_its_place() -> None:
    script = RoomScript()
    sent = script.say("hi", to=("codex",))
    view = confirm_pending(sending(), "cmd_1", accepted(sent))
    (block,) = view.timeline.blocks
    assert isinstance(block, MessageBlock)
    assert (block.is_pending, block.order_seq) == (False, 1)
    assert view.timeline.changed == {f"msg:{sent.event_id}"}


def test_another_windows_same_message_does_not_swallow_ours_for_good() -> None:
    script = RoomScript()
    theirs, ours = script.say("hi", to=("codex",)), script.say("hi", to=("codex",))
    view = apply_event(sending(), theirs)
    view = confirm_pending(view, "cmd_1", accepted(ours))
    assert ids(apply_event(view, ours)) == [f"msg:{theirs.event_id}", f"msg:{ours.event_id}"]


def test_a_different_message_leaves_ours_pending() -> None:
    script = RoomScript()
    other = script.say("something else", to=("codex",))
    assert ids(apply_event(sending(), other)) == [f"msg:{other.event_id}", "msg:cmd_1"]


def test_two_equal_messages_are_confirmed_one_by_one() -> None:
    script = RoomScript()
    view = add_pending(sending(), "cmd_2", "hi", ["agent:codex"])
    view = apply_event(view, script.say("hi", to=("codex",)))
    assert ids(view)[1:] == ["msg:cmd_2"]
    view = apply_event(view, script.say("hi", to=("codex",)))
    assert len(ids(view)) == 2


def test_a_refusal_says_why_until_it_is_dismissed() -> None:
    view = refuse_pending(sending(), "cmd_1", "The queue\x1b is full.")
    (block,) = view.timeline.blocks
    assert isinstance(block, MessageBlock)
    assert block.refusal == "The queue␛ is full."
    assert view.timeline.changed == {"msg:cmd_1"}
    assert drop_pending(view, "msg:cmd_1").timeline.blocks == ()


def test_a_refused_message_is_not_taken_for_a_later_one() -> None:
    view = refuse_pending(sending(), "cmd_1", "no")
    later = RoomScript().say("hi", to=("codex",))
    assert len(apply_event(view, later).timeline.blocks) == 2


def test_what_is_not_pending_is_not_dropped() -> None:
    script = RoomScript()
    sent = script.say("hi")
    view = apply_events(ClientView(), script.live)
    assert drop_pending(view, f"msg:{sent.event_id}").timeline.blocks == view.timeline.blocks


def test_a_reply_for_another_room_only_takes_the_message_off() -> None:
    script = RoomScript()
    sent = script.say("hi", to=("codex",), room="room:other")
    assert confirm_pending(sending(), "cmd_1", accepted(sent)).timeline.blocks == ()


def test_the_whole_text_of_a_cut_message_and_a_cut_answer_can_be_put_in() -> None:
    script = RoomScript()
    cut = script.write("message.created", {"content": "be…", "cut": True})
    script.queue("t", "codex")
    script.end("t", "codex", answer="an…")
    script.live.append(
        event("message.created", {"turnId": "t", "content": "an…", "cut": True}, seq=3)
    )
    view = apply_events(ClientView(), script.live)
    view = with_full_text(view, f"msg:{cut.event_id}", "beginning\x1b and end")
    assert view.timeline.changed == {f"msg:{cut.event_id}"}
    view = with_full_text(view, "turn:t", "answer whole")
    message, turn = view.timeline.blocks
    assert isinstance(message, MessageBlock)
    assert (message.text, message.is_cut) == ("beginning␛ and end", False)
    assert isinstance(turn, TurnBlock)
    assert (str(turn.text), turn.is_cut) == ("answer whole", False)
