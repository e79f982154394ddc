"""Following a growing text: the parts of the whole, at the cost of the end."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.render.markdown.scanner import BlockScanner
from groupx_tui.render.palette import PLAIN
from groupx_tui.state.streamtext import StreamText
from groupx_tui.widgets.timeline.contents import AnswerParts
from groupx_tui.widgets.timeline.flow import Flow
from support import timelines


def _flow() -> Flow:
    return Flow(BlockScanner, AnswerParts("answer"))


def _shape(flow: Flow) -> list[tuple[str, object]]:
    return [(part.key, part.inputs) for part in flow.parts]


@given(st.lists(st.integers(0, len(timelines.ANSWER)), max_size=10))
def test_a_streamed_text_ends_with_the_parts_of_the_whole(cuts: list[int]) -> None:
    whole, streamed, text = _flow(), _flow(), StreamText()
    whole.update(StreamText(timelines.ANSWER), is_whole=True)
    borders = [0, *sorted(cuts), len(timelines.ANSWER)]
    for start, end in pairwise(borders):
        text = text.append(timelines.ANSWER[start:end])
        streamed.update(text, is_whole=False)
    streamed.update(text, is_whole=True)
    assert _shape(streamed) == _shape(whole)


def test_closed_blocks_are_kept_with_their_rows_while_the_end_grows() -> None:
    flow, text = _flow(), StreamText("one\n\ntwo\n\nthr")
    flow.update(text, is_whole=False)
    for part in flow.parts:
        part.layout(40, PLAIN)
    before = flow.parts
    flow.update(text.append("ee"), is_whole=False)
    assert [new is old for new, old in zip(flow.parts, before, strict=True)] == [True, True, False]


def test_the_final_text_in_one_piece_keeps_what_was_streamed() -> None:
    flow, text = _flow(), StreamText()
    for piece in ("one\n\n", "two\n\n", "three"):
        text = text.append(piece)
        flow.update(text, is_whole=False)
    before = flow.parts
    flow.update(StreamText("one\n\ntwo\n\nthree"), is_whole=True)
    assert [new is old for new, old in zip(flow.parts, before, strict=True)] == [True, True, False]


def test_another_text_starts_anew_and_keeps_equal_blocks() -> None:
    flow = _flow()
    flow.update(StreamText("same\n\nold\n\n"), is_whole=False)
    before = flow.parts
    flow.update(StreamText("same\n\nnew"), is_whole=False)
    assert flow.parts[0] is before[0]
    assert [part.chars for part in flow.parts] == [4, 3]


def test_a_longer_text_that_shares_no_pieces_is_not_taken_for_a_continuation() -> None:
    flow = _flow()
    flow.update(StreamText("abc"), is_whole=False)
    flow.update(StreamText("x").append("y").append("z"), is_whole=False)
    other = _flow()
    other.update(StreamText("xyz"), is_whole=False)
    assert _shape(flow) == _shape(other)
