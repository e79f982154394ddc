"""Who watches whom: what of a room belongs to a pair."""

from __future__ import annotations

from groupx_tui.state.watching import ADVICE, pairs_in, watching
from support.fake_session import CODEX, GUIDE, KIMI, message, turn
from support.watched import PAIR, advice, blocks, paired


def test_each_side_has_what_it_was_asked_its_turns_and_the_advice() -> None:
    found = watching(blocks(), PAIR)
    assert [block.block_id for block in found.worker] == [
        "msg:evt_1", "turn:turn_w", "msg:evt_6", "turn:turn_w2",
    ]  # fmt: skip
    assert [block.block_id for block in found.observer] == ["msg:evt_2", "msg:evt_6", "turn:turn_o"]


def test_turns_of_other_messages_and_other_agents_are_in_neither() -> None:
    others = (
        turn("turn_x", CODEX, "other", root_id="corr_2", queued_seq=9),
        turn("turn_y", GUIDE, "other", root_id="corr_1", queued_seq=9),
        turn("turn_z", CODEX, "before", root_id="corr_1", queued_seq=2),
        message(9, "by another", kind=ADVICE),
    )
    found = watching((*blocks(), *others), PAIR)
    shown = {block.block_id for block in (*found.worker, *found.observer)}
    assert not shown & {block.block_id for block in others}


def test_a_pair_is_open_while_one_of_its_turns_is() -> None:
    assert watching(blocks(), PAIR).is_open
    ended = tuple(
        turn(name, agent, "x", order_seq=seq, phase="completed", root_id="corr_1")
        for name, agent, seq in (("turn_w", CODEX, 7), ("turn_o", KIMI, 8))
    )
    assert not watching(ended, PAIR).is_open


def test_pairs_are_found_in_the_room_in_their_order() -> None:
    assert pairs_in((message(1, "x"), paired(3), advice(6))) == [PAIR]
