"""The side conversation's view: each message once and in order, the answer under way beside it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupx_shared.wire.assistant import AssistantFrame, SideMessage
from groupx_tui.state.side import SideView, apply_frame, with_page, with_trouble
from support.fake_side import answered, asked

LATER = "2026-11-30T10:00:00.000Z"


def frame_of(message: SideMessage) -> AssistantFrame:
    return AssistantFrame(type="message", message=message)


def delta(request_id: str, offset: int, text: str) -> AssistantFrame:
    return AssistantFrame(type="delta", request_id=request_id, offset=offset, text=text)


def test_a_message_that_comes_again_takes_the_place_of_itself() -> None:
    view = apply_frame(SideView(), frame_of(asked("side_1", "hi")))
    view = apply_frame(view, frame_of(asked("side_1", "hi", status="completed")))
    assert [message.status for message in view.messages] == ["completed"]
    assert not view.is_busy


def test_the_answer_under_way_goes_when_its_request_has_ended() -> None:
    view = apply_frame(SideView(), frame_of(asked("side_1", "hi")))
    view = apply_frame(view, delta("side_1", 0, "hel"))
    view = apply_frame(view, delta("side_1", 3, "lo"))
    assert (view.live_id, view.live_text) == ("side_1", "hello")
    view = apply_frame(view, frame_of(asked("side_1", "hi", status="completed")))
    assert (view.live_id, view.live_text) == ("", "")


def test_a_piece_after_a_gap_is_left_out_and_one_from_the_start_repairs_it() -> None:
    view = apply_frame(SideView(), delta("side_1", 5, "late"))
    assert view.live_text == ""
    view = apply_frame(view, delta("side_1", 0, "from the start"))
    assert view.live_text == "from the start"


def test_an_older_page_stands_before_what_is_there() -> None:
    newer = asked("side_2", "newer", created_at=LATER)
    view = apply_frame(SideView(), frame_of(newer))
    view = with_page(view, [asked("side_1", "older"), newer], "side_1")
    assert [message.content for message in view.messages] == ["older", "newer"]
    assert view.older_before == "side_1"


def test_an_older_page_never_takes_back_what_is_known_better() -> None:
    view = apply_frame(SideView(), frame_of(asked("side_1", "hi", status="completed")))
    view = with_page(view, [asked("side_1", "hi", status="queued")], None)
    assert view.messages[0].status == "completed"


def test_any_frame_ends_the_trouble_and_clearing_leaves_the_status() -> None:
    status = AssistantFrame(type="status")
    view = with_trouble(apply_frame(SideView(), frame_of(asked("side_1", "hi"))), "gone")
    assert view.trouble == "gone"
    assert apply_frame(view, status).trouble == ""
    assert apply_frame(view, AssistantFrame(type="cleared")).messages == ()


@given(st.permutations([asked("a", "1"), answered("b", "a", "2"), asked("c", "3")]))
def test_the_order_in_which_messages_come_does_not_matter(messages: list[SideMessage]) -> None:
    view = SideView()
    for message in messages:
        view = apply_frame(view, frame_of(message))
    assert [message.content for message in view.messages] == ["1", "2", "3"]
