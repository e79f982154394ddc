"""The tree of who asked whom: every block once, below what led to it, whatever is missing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.state.lineage import tree_of
from groupx_tui.state.model import Author, MessageBlock, NoticeBlock, TurnBlock
from support.timelines import CLAUDE, CODEX, message, notice, turn

ROOT = "corr_1"


def asked(seq: int, by: int, parent: int | None, author: Author = CLAUDE) -> TurnBlock:
    return turn(
        seq, "x", author=author, root_id=ROOT, source_event_id=f"evt_{by}",
        parent_turn_id=None if parent is None else f"turn_{parent}",
    )  # fmt: skip


def talk() -> tuple[MessageBlock | TurnBlock | NoticeBlock, ...]:
    return (
        message(1, root_id=ROOT),
        message(3, author=CODEX, root_id=ROOT),
        asked(4, by=3, parent=2),
        message(5, author=CODEX, root_id=ROOT),
        asked(6, by=5, parent=2),
        asked(2, by=1, parent=None, author=CODEX),
        notice(7, root_id=ROOT),
        message(8, root_id="another"),
    )


def test_each_stands_below_what_led_to_it() -> None:
    found = [(branch.depth, branch.block.block_id) for branch in tree_of(talk(), ROOT)]
    assert found == [
        (0, "msg:evt_1"),
        (1, "turn:turn_2"),
        (2, "msg:evt_3"),
        (3, "turn:turn_4"),
        (2, "msg:evt_5"),
        (3, "turn:turn_6"),
    ]


@given(st.sets(st.integers(0, 7)))
def test_whatever_is_not_loaded_the_rest_stands_in_it_once(missing: set[int]) -> None:
    blocks = [block for index, block in enumerate(talk()) if index not in missing]
    wanted = {b.block_id for b in blocks if b.root_id == ROOT and not isinstance(b, NoticeBlock)}
    found = [branch.block.block_id for branch in tree_of(blocks, ROOT)]
    assert sorted(found) == sorted(wanted)


def test_a_ring_of_calls_ends() -> None:
    ring = (asked(1, by=2, parent=1), message(2, author=CODEX, root_id=ROOT))
    assert len(tree_of(ring, ROOT)) == 2
