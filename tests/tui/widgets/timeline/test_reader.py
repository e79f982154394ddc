"""Reading: position, news, the cursor, copying, going to one's own messages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta

import pytest

from groupx_tui.state.model import Block, TimelineView
from groupx_tui.state.streamtext import StreamText
from groupx_tui.widgets.timeline.document import Scene
from groupx_tui.widgets.timeline.messages import Position
from groupx_tui.widgets.timeline.reader import Reader
from groupx_tui.widgets.timeline.selection import Selection
from support import timelines


def _reader(view: TimelineView, height: int = 20, width: int = 60) -> Reader:
    now = timelines.START + timedelta(minutes=20)
    reader = Reader(Scene(tz=UTC, now=now), lambda: "15:00")
    reader.resize(width, height)
    reader.show(view)
    return reader


def _texts(reader: Reader) -> list[str]:
    return [reader.document.row(ref).strip.text.strip() for ref in reader.viewport.rows]


def _short(count: int, **fields: object) -> TimelineView:
    """A room in which each message takes three rows."""
    blocks = [timelines.message(n, f"message {n}") for n in range(1, count + 1)]
    return timelines.view(*blocks, **fields)


# Position.


def test_the_position_counts_from_the_end_of_the_room() -> None:
    reader = _reader(_short(50, total_messages=1_000), height=9)
    assert reader.position() == Position(998, 1_000, 1_000)
    assert str(reader.position()) == "998–1,000 of 1,000"
    reader.scroll(-9)
    assert reader.position() == Position(995, 997, 1_000)


def test_the_position_counts_from_the_start_when_the_end_is_not_loaded() -> None:
    view = _short(50, total_messages=1_000, has_more_after=True)
    reader = _reader(view, height=9)
    reader.first()
    assert reader.position() == Position(1, 2, 1_000)


def test_the_position_is_an_estimate_in_the_middle_of_the_room() -> None:
    blocks = [timelines.message(n, "x") for n in range(500, 520)]
    view = timelines.view(
        *blocks,
        total_messages=100,
        total_events=1_000,
        has_more_before=True,
        has_more_after=True,
    )
    position = _reader(view, height=9).position()
    assert not position.is_exact
    assert position.last == 52
    assert str(position).startswith("~")


def test_an_empty_room_has_no_position() -> None:
    assert _reader(timelines.view()).position() == Position(0, 0, 0)


# News.


def test_what_comes_while_away_is_counted_and_marked_once() -> None:
    view = _short(30)
    reader = _reader(view)
    reader.scroll(-10)
    assert reader.new_below() == (0, 0)
    blocks: tuple[Block, ...] = view.blocks
    for n in range(31, 34):
        blocks = (*blocks, timelines.message(n, "new", timelines.CODEX))
        reader.show(timelines.view(*blocks))
    assert reader.new_below() == (3, 0)
    reader.scroll(15)
    assert reader.new_below()[0] < 3
    reader.end()
    assert reader.new_below() == (0, 0)
    marks = [text for text in _texts(reader) if "new since" in text]
    assert len(marks) == 1
    assert "new since 15:00" in marks[0]


def test_own_messages_are_not_news() -> None:
    view = _short(30)
    reader = _reader(view)
    reader.scroll(-10)
    reader.show(timelines.view(*view.blocks, timelines.message(31, "mine")))
    assert reader.new_below() == (0, 0)


def test_a_turn_that_grows_below_counts_its_lines() -> None:
    view = _short(30)
    running = timelines.turn(31, "start", "running")
    reader = _reader(timelines.view(*view.blocks, running))
    reader.scroll(-10)
    grown = replace(running, text=running.text.append("word " * 200))
    reader.show(timelines.view(*view.blocks, grown))
    blocks, lines = reader.new_below()
    assert blocks == 0
    assert 15 <= lines <= 25


def test_a_turn_that_was_open_before_is_not_new_when_it_ends() -> None:
    view = _short(30)
    running = timelines.turn(31, "start", "running")
    reader = _reader(timelines.view(*view.blocks, running))
    reader.scroll(-10)
    done = replace(running, order_seq=40, phase="completed")
    newer = timelines.message(41, "new", timelines.CLAUDE)
    reader.show(timelines.view(*view.blocks, done, newer))
    assert reader.new_below()[0] == 1
    assert reader.scene.unread_id == newer.block_id


def test_messages_beyond_the_loaded_part_are_counted() -> None:
    reader = _reader(_short(30))
    reader.scroll(-10)
    reader.show(_short(30, has_more_after=True, new_after=7))
    assert reader.new_below()[0] == 7


def test_unread_can_be_marked_from_what_was_seen_before() -> None:
    reader = _reader(_short(30))
    reader.mark_unread(28, "09:30")
    index = next(n for n, text in enumerate(_texts(reader)) if "new since 09:30" in text)
    assert "message 29" in _texts(reader)[index : index + 4]
    reader.mark_unread(None, "")
    assert not any("new since" in text for text in _texts(reader))


# The cursor.


def test_the_cursor_walks_headers_folds_and_code() -> None:
    reader = _reader(timelines.view(timelines.message(1), _answer()), height=40)
    seen = []
    for _ in range(8):
        reader.move_cursor(1)
        found = reader.cursor.found()
        assert found is not None
        seen.append((found.place.part_key, found.stop.kind))
    assert seen == [
        ("head", "block"),
        ("head", "block"),
        ("reasoning", "fold"),
        ("tool:call_1", "fold"),
        ("tool:call_2", "fold"),
        ("tool:call_3", "fold"),
        ("answer:3", "code"),
        ("answer:3", "code"),  # there is no further stop
    ]
    reader.move_cursor(-1)
    found = reader.cursor.found()
    assert found is not None
    assert found.place.part_key == "tool:call_3"


def _answer() -> Block:
    return timelines.turn(
        2,
        timelines.ANSWER,
        reasoning=StreamText("because"),
        tools=timelines.TOOLS[:3],
    )


def test_the_cursor_does_not_skip_text_that_has_no_stops() -> None:
    long = timelines.message(2, "line\n" * 60, timelines.CODEX)
    reader = _reader(timelines.view(timelines.message(1), long, timelines.message(3)))
    reader.first()
    seen: set[str] = set()
    for _ in range(60):
        seen |= {reader.document.row(ref).text for ref in reader.viewport.rows}
        top = reader.viewport.rows[0]
        reader.move_cursor(1)
        moved = reader.document.offset_of(reader.viewport.rows[0]) - reader.document.offset_of(top)
        assert moved <= 3
    assert reader.viewport.is_at_end


def test_enter_on_a_turn_opens_all_its_folds_and_closes_them_again() -> None:
    reader = _reader(timelines.view(_answer()), height=60)
    found = reader.target()
    assert found is not None
    before = _texts(reader)
    assert reader.toggle(found)
    assert not any(text.startswith("▸") for text in _texts(reader))
    assert reader.toggle(found)
    assert _texts(reader) == before


def test_a_message_has_nothing_to_fold() -> None:
    reader = _reader(timelines.view(timelines.message(1)))
    found = reader.target()
    assert found is not None
    assert not reader.toggle(found)


def test_toggling_inside_an_open_fold_closes_it() -> None:
    reader = _reader(timelines.view(_answer()), height=60)
    reader.set_folds(("tool",), is_open=True)
    inside = next(
        found
        for ref in reader.viewport.rows
        if (found := reader.cursor.at(ref)) is not None
        and found.place.part_key.startswith("tool:call_2")
        and found.stop.kind == "code"
    )
    assert reader.toggle(inside)
    assert any(text.startswith("▸ ✓ Edit") for text in _texts(reader))
    assert any(text.startswith("▾ ✓ Read") for text in _texts(reader))


# Copying.


@pytest.mark.parametrize(
    ("part_key", "what", "start"),
    [
        ("head", "answer", "The test fails because `parse_line` drops the **last** row."),
        ("reasoning", "reasoning", "because"),
        ("tool:call_2", "answer", "The test fails"),
        ("answer:3", "code", "def close(self) -> list[str]:\n    "),
    ],
)
def test_copying_gives_the_text_as_it_was_written(part_key: str, what: str, start: str) -> None:
    reader = _reader(timelines.view(_answer()), height=60, width=30)
    found = next(
        found
        for ref in reader.viewport.rows
        if (found := reader.cursor.at(ref)) is not None and found.place.part_key == part_key
    )
    text, named = reader.text_of(found)
    assert named == what
    assert text.startswith(start)


def test_the_last_code_block_on_the_screen_is_found() -> None:
    text = "```\none\n```\n\ntext\n\n```\ntwo\n```\n" + "\nmore\n" * 30 + "\n```\nthree\n```"
    reader = _reader(timelines.view(timelines.turn(1, text)), height=60)
    reader.first()
    found = reader.code()
    assert found is not None
    assert found.stop.text == "two"
    reader.end()
    found = reader.code()
    assert found is not None
    assert found.stop.text == "three"


def test_a_room_without_code_has_none_to_copy() -> None:
    assert _reader(_short(5)).code() is None


# Going places.


def test_own_messages_can_be_walked() -> None:
    blocks: list[Block] = []
    for n in range(1, 40):
        author = timelines.YOU if n % 10 == 0 else timelines.CODEX
        blocks.append(timelines.message(n, f"message {n}", author))
    reader = _reader(timelines.view(*blocks), height=10)
    seen = []
    for _ in range(4):
        block_id = reader.own_message(-1)
        seen.append(block_id)
        if block_id is not None:
            reader.bring(block_id, y=0)
    assert seen == ["msg:evt_30", "msg:evt_20", "msg:evt_10", None]
    assert reader.own_message(1) == "msg:evt_20"


def test_a_block_that_is_not_loaded_cannot_be_brought() -> None:
    reader = _reader(_short(5))
    assert not reader.bring("msg:other")


def test_the_scrollbar_goes_anywhere() -> None:
    reader = _reader(_short(300))
    reader.scroll_to_share(0)
    assert reader.viewport.rows[0] == reader.document.first()
    reader.scroll_to_share(0.5)
    middle = reader.viewport.rows[0].block
    assert 100 < middle < 200
    reader.scroll_to_share(1)
    assert reader.viewport.is_following


def test_a_room_that_fits_the_window_is_always_at_its_end() -> None:
    reader = _reader(_short(2))
    reader.scroll(-5)
    reader.first()
    assert reader.viewport.is_following


# The selection.


def test_a_selection_is_logical_text_without_gutters_and_wraps() -> None:
    text = "> quoted words that wrap\n\n- item one is long\n- two"
    reader = _reader(timelines.view(timelines.message(1, text, timelines.CODEX)), width=14)
    rows = reader.viewport.rows
    first = next(y for y, ref in enumerate(rows) if reader.document.row(ref).text == "quoted words")
    start, end = reader.point(first, 7), reader.point(len(rows) - 1, 99)
    assert start is not None
    assert end is not None
    selection = Selection(reader.document, end)
    selection.extend(start)  # backwards: the order does not matter
    assert selection.text() == "words that wrap\n\n• item one is long\n• two"
    spans = selection.spans(rows)
    assert spans[rows[first]] == (7, 12)


def test_a_selection_over_blocks_leaves_days_and_rules_out() -> None:
    reader = _reader(_short(2))
    start, end = reader.point(0, 0), reader.point(99, 99)
    assert start is not None
    assert end is not None
    selection = Selection(reader.document, start)
    selection.extend(end)
    assert selection.text() == "You · 14:04\nmessage 1\nYou · 14:05\nmessage 2"
