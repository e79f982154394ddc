"""A removed text vanishes from what is loaded, as it would from a page read anew."""

from __future__ import annotations

from groupx_tui.state.model import ClientView, MessageBlock, NoticeBlock, TurnBlock
from groupx_tui.state.reduce import apply_events
from groupx_tui.state.removal import AfterRemovals, without_text
from support.room_events import PERSON, agent_actor, event

SECRET = "the key is under the mat"
GONE = {
    "kind": "event",
    "refId": "evt_said",
    "eventIds": ["evt_said", "evt_answer", "evt_kept"],
}


def test_messages_answers_and_notices_show_a_tombstone() -> None:
    bot = agent_actor("bot")
    events = [
        event("message.created", {"content": SECRET}, seq=1, actor=PERSON, event_id="evt_said"),
        event("message.created", {"content": "other"}, seq=2, actor=PERSON, event_id="evt_other"),
        event(
            "turn.queued",
            {"turnId": "t", "sourceEventId": "evt_said", "targetActorId": "agent:bot"},
            seq=3,
        ),
        event(
            "message.created",
            {"content": f"So {SECRET}", "turnId": "t"},
            seq=4,
            actor=bot,
            event_id="evt_answer",
        ),
        event(
            "turn.completed",
            {"turnId": "t", "status": "completed", "responseEventId": "evt_answer"},
            seq=5,
            actor=bot,
        ),
        event(
            "memory.remembered",
            {"record": {"content": SECRET}},
            seq=6,
            actor=PERSON,
            event_id="evt_kept",
        ),
    ]
    before = apply_events(ClientView(room_id="room:main"), events)
    assert SECRET in str(before.timeline.blocks)
    after = apply_events(before, [event("content.redacted", GONE, seq=7, actor=PERSON)])
    texts = [
        str(block.text)
        for block in after.timeline.blocks
        if isinstance(block, MessageBlock | TurnBlock | NoticeBlock)
    ]
    assert texts == [
        "[removed]",
        "other",
        "[removed]",
        "[removed]",
        "Operator had a text removed for good",
    ]
    assert len(after.timeline.changed) == 4
    assert (before.removals, after.removals) == (0, 1)
    again = apply_events(after, [event("content.redacted", GONE, seq=7, actor=PERSON)])
    assert again.removals == 1  # the same one, told twice


def test_what_shows_texts_is_read_anew_once_for_each_view_in_which_some_are_gone() -> None:
    reads: list[str] = []
    after = AfterRemovals(ClientView(removals=2), lambda: reads.append("read"))
    for removals in (2, 3, 3, 4):
        after(ClientView(removals=removals))
    assert reads == ["read", "read"]


def test_texts_that_were_sent_are_forgotten_where_they_hold_it() -> None:
    sent = ["ab", "the key is under the mat", "say: the key is under the mat!", "abc"]
    assert without_text(sent, " the key is under the mat ") == ["ab", "abc"]
    assert without_text(sent, "ab") == sent[1:]  # a short one stands elsewhere by chance
    assert without_text(sent, "  ") == sent
