"""The line under the reader's eye: nothing but his own scrolling moves it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_tui.state.model import Block, TurnBlock
from groupx_tui.widgets.timeline.document import Scene
from groupx_tui.widgets.timeline.folds import TOOL_BODY
from groupx_tui.widgets.timeline.reader import Reader
from support import timelines

_PARAGRAPH = "Some *prose* with `code` in it, long enough to wrap at any width that is tried. "


@dataclass(frozen=True)
class Eye:
    """The first line of content on the screen."""

    y: int
    block_id: str
    part: str
    at: int
    text: str


class Room:
    """A reader with a room that can change in all the ways a room changes."""

    def __init__(self, count: int = 30) -> None:
        self.reader = Reader(Scene(width=60), lambda: "14:03")
        self.first = 1_000
        self.next = self.first
        self.closed: list[Block] = []
        self.open: list[TurnBlock] = [
            timelines.turn(5_000, "start", "running"),
            timelines.turn(5_001, "", "running", author=timelines.CLAUDE),
        ]
        for _ in range(count):
            self.append(draw=False)
        self.reader.resize(60, 20)
        self.draw()

    def draw(self) -> None:
        blocks = [*self.closed, *self.open]
        self.reader.show(timelines.view(*blocks, has_more_before=True))

    def append(self, *, draw: bool = True) -> None:
        text = timelines.ANSWER if self.next % 3 == 0 else _PARAGRAPH * (self.next % 5 + 1)
        author = timelines.YOU if self.next % 2 else timelines.CODEX
        self.closed.append(timelines.message(self.next, text, author))
        self.next += 1
        if draw:
            self.draw()

    def prepend(self, count: int) -> None:
        new = [
            timelines.message(n, _PARAGRAPH * (n % 4 + 1))
            for n in range(self.first - count, self.first)
        ]
        self.first -= count
        self.closed[:0] = new
        self.draw()

    def stream(self, which: int, text: str) -> None:
        turn = self.open[which]
        self.open[which] = replace(turn, text=turn.text.append(text))
        self.draw()

    def think(self, which: int) -> None:
        turn = self.open[which]
        tools = (*turn.tools, replace(timelines.TOOLS[1], call_id=f"call_{len(turn.tools)}"))
        self.open[which] = replace(turn, reasoning=turn.reasoning.append("hm "), tools=tools)
        self.draw()

    def eye(self) -> Eye:
        document = self.reader.document
        rows = self.reader.viewport.rows
        return self.seen(next(y for y, ref in enumerate(rows) if document.part(ref).is_content))

    def seen(self, y: int) -> Eye:
        """Return what is drawn in a row of the screen."""
        document = self.reader.document
        ref = self.reader.viewport.rows[y]
        row, part = document.row(ref), document.part(ref)
        return Eye(y, document.blocks[ref.block].block_id, part.key, row.at, row.text)

    def is_following(self) -> bool:
        return self.reader.viewport.is_following


_EVENTS = st.one_of(
    st.tuples(st.just("append"), st.just(0)),
    st.tuples(st.just("prepend"), st.integers(1, 12)),
    st.tuples(st.just("stream0"), st.sampled_from([0, 1, 2, 3])),
    st.tuples(st.just("stream1"), st.sampled_from([0, 1, 2, 3])),
    st.tuples(st.just("think"), st.integers(0, 1)),
)
_STREAMED = ["word ", "\n\n# New\n\n", "```py\nx = 1\n```\n", "| a | b |\n|---|---|\n| 1 | 2 |\n"]


def _happen(room: Room, event: tuple[str, int]) -> None:
    name, number = event
    if name == "append":
        room.append()
    elif name == "prepend":
        room.prepend(number)
    elif name == "think":
        room.think(number)
    else:
        room.stream(int(name[-1]), _STREAMED[number])


@pytest.mark.slow
@given(
    st.lists(st.one_of(_EVENTS, st.tuples(st.just("scroll"), st.integers(-40, 25))), max_size=25)
)
@settings(max_examples=60, deadline=None)
def test_nothing_that_happens_moves_the_line_under_the_eye(events: list[tuple[str, int]]) -> None:
    room = Room()
    room.reader.scroll(-30)
    for event in events:
        if event[0] == "scroll":
            room.reader.scroll(event[1])
        elif room.is_following():
            _happen(room, event)
            assert room.reader.viewport.is_at_end
        else:
            before = room.eye()
            _happen(room, event)
            assert room.seen(before.y) == before


@pytest.mark.slow
@given(
    st.integers(40, 200),
    st.lists(st.tuples(st.integers(24, 120), st.integers(5, 40)), min_size=1, max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_a_resize_keeps_the_text_at_the_eye_and_back_again(
    lines: int, sizes: list[tuple[int, int]]
) -> None:
    room = Room(60)
    room.reader.scroll(-lines)
    before = room.eye()
    for width, height in sizes:
        room.reader.resize(width, height)
        anchor = room.reader.viewport.anchor
        assert anchor is not None
        held = room.reader.viewport.rows[min(anchor.y, height - 1)]
        document = room.reader.document
        assert document.blocks[held.block].block_id == anchor.block_id == before.block_id
        row = document.row(held)
        assert row.at <= anchor.at
        following = document.down(held)
        if following is not None and following[:2] == held[:2]:
            assert document.row(following).at > anchor.at
    room.reader.resize(60, 20)
    assert room.eye() == before


@pytest.mark.slow
@given(st.lists(st.integers(-30, 30).filter(bool), min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_scrolling_moves_by_exactly_so_many_lines(steps: list[int]) -> None:
    room = Room()
    room.reader.scroll(-60)
    document = room.reader.document
    for step in steps:
        top, bottom = room.reader.viewport.rows[0], room.reader.viewport.rows[-1]
        wanted = top if step < 0 else bottom
        for _ in range(abs(step)):
            moved = document.up(wanted) if step < 0 else document.down(wanted)
            if moved is None:
                break
            wanted = moved
        room.reader.scroll(step)
        edge = room.reader.viewport.rows[0 if step < 0 else -1]
        assert edge == wanted


def test_the_end_is_left_by_scrolling_up_and_kept_left_by_what_comes() -> None:
    room = Room()
    assert room.is_following()
    room.reader.scroll(-1)
    assert not room.is_following()
    for _ in range(5):
        room.append()
        room.stream(0, "more text\n\n")
    assert not room.is_following()
    room.reader.end()
    room.stream(1, "and more\n\n" * 30)
    assert room.reader.viewport.is_at_end


def test_a_page_put_before_the_very_first_line_leaves_it_where_it_is() -> None:
    room = Room()
    room.reader.first()
    top = room.reader.document.row(room.reader.viewport.rows[0]).text
    assert "earlier messages" in top
    before = room.eye()
    room.prepend(10)
    assert room.seen(before.y) == before
    shown = [room.reader.document.row(ref).text for ref in room.reader.viewport.rows]
    assert not any("earlier messages" in text for text in shown)


def test_scrolling_on_at_the_very_end_follows_again() -> None:
    room = Room()
    room.reader.scroll(-5)
    room.reader.scroll(5)
    assert (room.reader.viewport.is_at_end, room.is_following()) == (True, False)
    room.reader.scroll(1)
    assert room.is_following()


def test_the_end_of_what_is_loaded_is_not_followed_while_there_is_more() -> None:
    room = Room()
    blocks = room.closed
    room.reader.scroll(-5)
    room.reader.show(timelines.view(*blocks, has_more_after=True))
    room.reader.scroll(500)
    assert not room.is_following()


def test_a_fold_opens_below_its_header_which_stays_where_it_is() -> None:
    room = Room()
    room.think(0)
    room.reader.end()
    rows, document = room.reader.viewport.rows, room.reader.document
    y, ref = next((y, r) for y, r in enumerate(rows) if document.part(r).key == "tool:call_0")
    found = room.reader.cursor.at(ref)
    assert found is not None
    room.reader.toggle(found)
    assert document.part(room.reader.viewport.rows[y]).key == "tool:call_0"
    assert any(
        document.part(r).key.startswith("tool:call_0" + TOOL_BODY)
        for r in room.reader.viewport.rows
    )
    room.reader.toggle(found)
    assert document.part(room.reader.viewport.rows[y]).key == "tool:call_0"
    assert room.is_following()


def test_folding_everything_keeps_the_header_of_the_fold_at_the_eye() -> None:
    room = Room()
    for _ in range(6):
        room.think(0)
    room.reader.set_folds(("tool",), is_open=True)
    room.reader.end()
    room.reader.scroll(-12)
    eye = room.eye()
    assert TOOL_BODY in eye.part
    room.reader.set_folds(("tool",), is_open=False)
    rows, document = room.reader.viewport.rows, room.reader.document
    keys = [document.part(ref).key for ref in rows]
    assert eye.part.partition(TOOL_BODY)[0] in keys


def test_when_the_block_at_the_eye_disappears_the_next_one_takes_its_place() -> None:
    room = Room()
    room.reader.scroll(-60)
    eye = room.eye()
    index = next(n for n, block in enumerate(room.closed) if block.block_id == eye.block_id)
    del room.closed[index]
    room.draw()
    assert room.eye().block_id in (room.closed[index - 1].block_id, room.closed[index].block_id)
    assert not room.is_following()


def test_each_room_keeps_its_own_place() -> None:
    room = Room()
    room.reader.scroll(-40)
    eye = room.eye()
    room.reader.show(timelines.view(timelines.message(1), room_id="room:other"))
    assert room.is_following()
    room.draw()
    assert room.eye() == eye
