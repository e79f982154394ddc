"""Streamed text: in order, never twice, and a hole is seen until it is healed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupx_shared.wire.bodies import (
    ContentDeltaBody,
    ProgressBody,
    ReasoningDeltaBody,
    TurnCancellingBody,
)
from groupx_tui.state.deltas import GAP_MARK, with_live
from groupx_tui.state.model import Author, TurnBlock


def turn(**fields: object) -> TurnBlock:
    base = TurnBlock(
        block_id="turn:t",
        order_seq=None,
        queued_seq=1,
        turn_id="t",
        author=Author("agent:codex", "Codex", "agent"),
        phase="running",
        queued_at="",
    )
    for name, value in fields.items():
        object.__setattr__(base, name, value)
    return base


def piece(offset: int, text: str) -> ContentDeltaBody:
    return ContentDeltaBody(turn_id="t", chunk_index=1, offset=offset, text=text)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 6)), max_size=20))
def test_overlapping_and_repeated_pieces_give_the_text_once(pieces: list[tuple[int, int]]) -> None:
    answer = "".join(chr(0x4E00 + number) for number in range(140))
    block, known = turn(), 0
    for overlap, length in pieces:
        start = max(0, known - overlap)
        block = with_live(block, piece(start, answer[start : start + length]))
        known = max(known, start + length)
    assert block.text_offset == known
    assert str(block.text) == answer[:known]


def test_a_lost_piece_leaves_a_mark() -> None:
    block = with_live(with_live(turn(), piece(0, "one ")), piece(8, "three"))
    assert str(block.text) == f"one {GAP_MARK}three"
    assert block.text_offset == 13


def test_text_goes_on_after_a_mark_without_another() -> None:
    block = turn()
    for offset, text in ((4, "a"), (5, "b"), (5, "b"), (6, "c")):
        block = with_live(block, piece(offset, text))
    assert str(block.text) == f"{GAP_MARK}abc"


def test_reasoning_streams_beside_the_answer() -> None:
    block = with_live(turn(), ReasoningDeltaBody(turn_id="t", offset=0, text="hm\x1b"))
    block = with_live(block, piece(0, "yes"))
    assert (str(block.reasoning), str(block.text)) == ("hm␛", "yes")


def test_a_silent_agent_is_silent_until_it_says_something() -> None:
    waiting = ProgressBody(turn_id="t", kind="waiting", silent_s=30.0)
    silent = with_live(turn(), waiting, "2026-12-01T00:00:30Z")
    assert (silent.silent_s, silent.silent_at) == (30.0, "2026-12-01T00:00:30Z")
    assert with_live(silent, piece(0, "x")).silent_s is None


def test_a_plan_and_usage_are_shown_while_the_turn_runs() -> None:
    plan = ProgressBody(turn_id="t", kind="plan", entries=({"content": "do\x1b it"},))
    usage = ProgressBody(turn_id="t", kind="usage", usage={"tokens": 3})
    block = with_live(with_live(turn(), plan), usage)
    assert (block.plan, block.usage) == (({"content": "do␛ it"},), {"tokens": 3})


def test_a_turn_being_cancelled_says_so() -> None:
    block = with_live(turn(), TurnCancellingBody(turn_id="t"))
    assert block.phase == "cancelling"
