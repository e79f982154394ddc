"""The widget in a terminal: what it tells the app, keys' actions, the mouse, colours, idleness."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Input

from groupx_tui.render.palette import Palette
from groupx_tui.render.row import Layout
from groupx_tui.state.model import TimelineView
from groupx_tui.state.streamtext import StreamText
from groupx_tui.widgets.timeline.messages import Position, TimelineMessage
from groupx_tui.widgets.timeline.parts import Draw, Part
from groupx_tui.widgets.timeline.widget import Timeline
from support import timelines

pytestmark = pytest.mark.slow  # each starts an app

Counter = Callable[[], int]
T = TypeVar("T", bound=TimelineMessage)


@pytest.fixture
def count_layouts(monkeypatch: pytest.MonkeyPatch) -> Counter:
    """Return how many parts were laid out since the test began."""
    drawn = 0
    original = Part.__init__

    def counting(part: Part, key: str, inputs: Hashable, draw: Draw, **options: Any) -> None:
        def count(width: int, palette: Palette) -> Layout:
            nonlocal drawn
            drawn += 1
            return draw(width, palette)

        original(part, key, inputs, count, **options)

    monkeypatch.setattr(Part, "__init__", counting)
    return lambda: drawn


class Stage(App[None]):
    """An app that keeps what the timeline tells it."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.now = timelines.START + timedelta(minutes=20)
        self.timeline = Timeline(clock=self.time, tz=UTC, id="timeline", **options)
        self.told: list[TimelineMessage] = []

    def time(self) -> datetime:
        return self.now

    def compose(self) -> ComposeResult:
        yield self.timeline
        yield Input()

    def lines(self) -> list[str]:
        height = self.timeline.size.height
        return [self.timeline.render_line(y).text.rstrip() for y in range(height)]

    def line_of(self, text: str) -> int:
        return next(y for y, line in enumerate(self.lines()) if text in line)


@asynccontextmanager
async def _stage(
    view: TimelineView, size: tuple[int, int] = (60, 23), **options: Any
) -> AsyncIterator[tuple[Stage, Pilot[None]]]:
    app = Stage(**options)

    def keep(message: Message) -> None:
        if isinstance(message, TimelineMessage):
            app.told.append(message)

    async with app.run_test(size=size, message_hook=keep) as pilot:
        app.timeline.focus()
        app.timeline.show(view)
        await pilot.pause()
        yield app, pilot


def _told(app: Stage, kind: type[T]) -> list[T]:
    """Return the messages of a kind that reached the app, each once."""
    unique = {id(message): message for message in app.told if isinstance(message, kind)}
    return list(unique.values())


def _long(count: int = 100, **fields: Any) -> TimelineView:
    return replace(timelines.long_room(count), **fields)


# What the app is told.


async def test_the_position_and_the_following_are_told_and_readable() -> None:
    async with _stage(_long()) as (app, pilot):
        assert app.timeline.position == Position(97, 100, 100)
        app.timeline.action_page_up()
        await pilot.pause()
        last = _told(app, Timeline.PositionChanged)[-1]
        assert (last.is_following, last.side) == (False, "end")
        assert last.position == app.timeline.position
        assert last.position.last < 100
        app.timeline.action_first()
        await pilot.pause()
        assert _told(app, Timeline.PositionChanged)[-1].side == "start"


async def test_the_page_before_is_asked_for_once_near_the_top() -> None:
    async with _stage(_long(first_seq=50, has_more_before=True)) as (app, pilot):
        assert _told(app, Timeline.NeedBefore) == []
        app.timeline.scroll_lines(-10_000)
        app.timeline.scroll_lines(2)
        app.timeline.scroll_lines(-2)
        await pilot.pause()
        (asked,) = _told(app, Timeline.NeedBefore)
        assert (asked.room_id, asked.before_seq) == ("room:main", 50)
        app.timeline.show(_long(first_seq=20, has_more_before=True))
        await pilot.pause()
        assert [message.before_seq for message in _told(app, Timeline.NeedBefore)] == [50, 20]


async def test_going_on_at_the_edge_asks_again() -> None:
    async with _stage(_long(first_seq=50, has_more_before=True)) as (app, pilot):
        app.timeline.scroll_lines(-10_000)
        app.timeline.scroll_lines(-1)
        app.timeline.action_first()
        await pilot.pause()
        assert [message.before_seq for message in _told(app, Timeline.NeedBefore)] == [50, 50, 50]


async def test_the_page_after_is_asked_for_near_the_bottom_of_what_is_loaded() -> None:
    async with _stage(_long()) as (app, pilot):
        app.timeline.action_first()
        app.timeline.show(_long(last_seq=77, has_more_after=True))
        await pilot.pause()
        assert _told(app, Timeline.NeedAfter) == []
        app.timeline.scroll_lines(10_000)
        await pilot.pause()
        (asked,) = _told(app, Timeline.NeedAfter)
        assert asked.after_seq == 77
        assert not app.timeline.is_following


async def test_the_end_is_asked_for_when_it_is_not_loaded() -> None:
    async with _stage(_long(has_more_after=True)) as (app, pilot):
        app.timeline.action_end()
        await pilot.pause()
        assert len(_told(app, Timeline.NeedEnd)) == 1


async def test_a_block_without_folds_is_activated() -> None:
    async with _stage(timelines.view(timelines.message(7))) as (app, pilot):
        app.timeline.action_toggle_block()
        await pilot.pause()
        (activated,) = _told(app, Timeline.BlockActivated)
        assert activated.block_id == "msg:evt_7"


async def test_copying_sends_the_text_to_the_app() -> None:
    async with _stage(timelines.view(timelines.turn(1, timelines.ANSWER)), (60, 40)) as (
        app,
        pilot,
    ):
        app.timeline.action_copy()
        app.timeline.action_copy_block()
        app.timeline.action_copy_code()
        await pilot.pause()
        copied = [(message.what, message.text) for message in _told(app, Timeline.CopyRequested)]
        assert copied[:2] == [("answer", timelines.ANSWER)] * 2
        assert copied[2][0] == "code"
        assert copied[2][1].startswith("def close")


async def test_jumping_to_a_block_puts_the_cursor_there() -> None:
    async with _stage(_long()) as (app, pilot):
        assert app.timeline.jump_to("msg:evt_20")
        await pilot.pause()
        assert app.lines()[1].startswith("❯ ")
        assert not app.timeline.is_following
        assert not app.timeline.jump_to("msg:evt_999")


# The mouse.


async def test_a_click_on_a_fold_opens_it() -> None:
    view = timelines.view(timelines.turn(1, "text", tools=timelines.TOOLS))
    async with _stage(view) as (app, pilot):
        await pilot.click("#timeline", offset=(6, app.line_of("Edit reader.py")))
        assert app.lines()[app.line_of("Edit reader.py")].startswith("❯ ▾")
        assert any("+return" in line for line in app.lines())
        await pilot.click("#timeline", offset=(6, app.line_of("Edit reader.py")))
        assert not any("+return" in line for line in app.lines())


async def test_the_wheel_scrolls_and_leaves_the_end() -> None:
    async with _stage(_long()) as (app, pilot):
        before = app.lines()
        await _wheel(app, up=True)
        await pilot.pause()
        assert app.lines()[3:10] == before[0:7]
        assert not app.timeline.is_following
        await _wheel(app, up=False)
        await _wheel(app, up=False)
        await pilot.pause()
        assert app.timeline.is_following


async def _wheel(app: Stage, *, up: bool) -> None:
    kind = events.MouseScrollUp if up else events.MouseScrollDown
    app.timeline.post_message(kind(app.timeline, 5, 5, 0, 0, 0, False, False, False))


async def test_the_badge_counts_what_is_new_and_a_click_goes_to_the_end() -> None:
    view = _long()
    async with _stage(view) as (app, pilot):
        app.timeline.action_page_up()
        assert " end ↓ " in app.lines()[-1]
        app.timeline.show(
            timelines.view(*view.blocks, timelines.message(101, "x", timelines.CODEX))
        )
        assert app.timeline.new_count == 1
        assert " 1 new ↓" in app.lines()[-1]
        await pilot.click("#timeline", offset=(54, 19))
        assert app.timeline.is_following
        assert app.timeline.new_count == 0
        assert "new ↓" not in app.lines()[-1]


async def test_a_drag_selects_logical_text() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve thirteen"
    async with _stage(timelines.view(timelines.message(1, text))) as (app, pilot):
        y = app.line_of("one two")
        await pilot.mouse_down("#timeline", offset=(6, y))
        await pilot.hover("#timeline", offset=(8, y + 1))
        await pilot.mouse_up("#timeline", offset=(8, y + 1))
        (made,) = _told(app, Timeline.SelectionMade)
        assert made.text == app.timeline.selected_text()
        assert made.text.startswith("two three four")
        assert "\n" not in made.text
        app.timeline.action_copy()
        await pilot.pause()
        assert _told(app, Timeline.CopyRequested)[0].what == "selection"
        assert app.timeline.clear_selection()
        assert not app.timeline.clear_selection()


async def test_the_scrollbar_can_be_dragged() -> None:
    async with _stage(_long()) as (app, pilot):
        await pilot.mouse_down("#timeline", offset=(59, 0))
        assert "start of the room" in app.lines()[0]
        await pilot.hover("#timeline", offset=(59, 10))
        middle = app.timeline.position
        assert 20 < middle.first < 80
        await pilot.hover("#timeline", offset=(59, 19))
        await pilot.mouse_up("#timeline", offset=(59, 19))
        assert app.timeline.is_following


# Drawing.


async def test_lines_are_as_wide_as_the_widget_at_any_size() -> None:
    async with _stage(timelines.every_kind()) as (app, pilot):
        app.timeline.action_unfold_all()
        for size in ((20, 8), (33, 50), (200, 50), (21, 3)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            for _ in range(6):
                app.timeline.action_page_up()
                lines = [app.timeline.render_line(y) for y in range(app.timeline.size.height)]
                assert {line.cell_length for line in lines} == {app.timeline.size.width}


async def test_the_cursor_shows_only_with_the_focus() -> None:
    async with _stage(_long()) as (app, pilot):
        app.timeline.action_cursor_previous()
        assert any(line.startswith("❯") for line in app.lines())
        app.query_one(Input).focus()
        await pilot.pause()
        assert not any(line.startswith("❯") for line in app.lines())


async def test_another_theme_redraws_in_its_colours() -> None:
    async with _stage(timelines.every_kind()) as (app, pilot):
        before = [app.timeline.render_line(y) for y in range(10)]
        app.theme = "textual-light"
        await pilot.pause()
        after = [app.timeline.render_line(y) for y in range(10)]
        assert [line.text for line in after] == [line.text for line in before]
        assert all(new != old for new, old in zip(after, before, strict=True))


async def test_an_empty_room_says_so() -> None:
    async with _stage(timelines.view()) as (app, _pilot):
        assert app.lines()[0].strip().startswith("No messages yet. Write below")


async def test_a_delta_redraws_only_the_lines_that_changed() -> None:
    text = StreamText("first paragraph\n\nsecond")
    async with _stage(_streaming(text)) as (app, _pilot):
        redrawn = _spy_refresh(app.timeline)
        app.timeline.show(_streaming(text.append(" word")))
        assert [region.height for region in redrawn] == [1]
        app.timeline.show(_streaming(text.append(" word")))
        assert len(redrawn) == 1  # the same again: nothing to draw


def _streaming(text: StreamText) -> TimelineView:
    return timelines.view(timelines.message(1), timelines.turn(2, text, "running"))


def _spy_refresh(timeline: Timeline) -> list[Region]:
    regions: list[Region] = []
    refresh = timeline.refresh

    def spy(*areas: Region, **options: bool) -> Timeline:
        regions.extend(areas)
        return refresh(*areas, **options)

    timeline.refresh = spy  # type: ignore[method-assign]  # to see what is redrawn
    return regions


async def test_the_clock_of_an_open_turn_ticks_while_it_is_on_the_screen() -> None:
    async with _stage(_streaming(StreamText("x"))) as (app, _pilot):
        header = app.line_of("codex · working")
        before = app.lines()[header]
        app.now += timedelta(seconds=5)
        redrawn = _spy_refresh(app.timeline)
        app.timeline._tick()
        assert app.lines()[header] != before
        assert [region.height for region in redrawn] == [1]


async def test_the_clock_stands_when_nothing_runs() -> None:
    async with _stage(_streaming(StreamText("x"))) as (app, _pilot):
        assert _ticks(app)
        app.timeline.show(timelines.view(timelines.message(1), timelines.turn(2, "x")))
        assert not _ticks(app)


async def test_without_a_connection_the_clock_stands_and_says_so() -> None:
    view = _streaming(StreamText("x"))
    async with _stage(view) as (app, _pilot):
        assert _ticks(app)
        app.timeline.show(view, is_live=False)
        assert "codex · working · when it was last heard of" in "\n".join(app.lines())
        assert not _ticks(app)
        app.timeline.show(view)
        assert "last heard" not in "\n".join(app.lines())
        assert _ticks(app)


async def test_without_a_live_clock_nothing_ticks() -> None:
    async with _stage(_streaming(StreamText("x")), has_live_clock=False) as (app, _pilot):
        assert not _ticks(app)


def _ticks(app: Stage) -> bool:
    ticker = app.timeline._ticker
    return ticker is not None and ticker._active.is_set()


# Cost.


async def test_a_large_room_is_laid_out_only_where_one_looks(count_layouts: Counter) -> None:
    async with _stage(timelines.long_room(10_000)) as (app, _pilot):
        assert count_layouts() < 60
        app.timeline.action_page_up()
        assert count_layouts() < 120
        app.timeline.action_first()
        assert count_layouts() < 180
        view = app.timeline._reader.view
        app.timeline.show(timelines.view(*view.blocks, timelines.message(10_001)))
        assert count_layouts() < 185


async def test_a_delta_lays_out_the_open_end_only(count_layouts: Counter) -> None:
    text = StreamText(timelines.ANSWER * 50)
    async with _stage(_streaming(text)) as (app, _pilot):
        for _ in range(20):
            text = text.append("word ")
            before = count_layouts()
            app.timeline.show(_streaming(text))
            assert count_layouts() - before <= 1


async def test_a_megabyte_answer_is_laid_out_only_where_one_looks(count_layouts: Counter) -> None:
    text = StreamText((timelines.ANSWER + "\n") * 2_500)
    async with _stage(_streaming(text)) as (app, _pilot):
        assert count_layouts() < 40
        app.timeline.action_first()
        assert count_layouts() < 80
