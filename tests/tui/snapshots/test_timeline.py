"""The timeline as it looks: one picture for each way of looking at it.

Update with `pytest tests/tui/snapshots/test_timeline.py --snapshot-update` after looking at them.
"""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Protocol

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from groupx_tui.widgets.timeline.widget import Timeline
from support import timelines

pytestmark = pytest.mark.slow  # each draws an app


class Compare(Protocol):
    """The fixture `snap_compare`."""

    def __call__(
        self, app: App[None], *, terminal_size: tuple[int, int], run_before: object
    ) -> bool: ...


class Picture(App[None]):
    """An app that shows the timeline alone."""

    def __init__(self, theme: str = "textual-dark") -> None:
        super().__init__()
        self.timeline = Timeline(
            clock=lambda: timelines.START + timedelta(minutes=13, seconds=25),
            tz=UTC,
            has_live_clock=False,
        )
        self._wanted_theme = theme

    def compose(self) -> ComposeResult:
        yield self.timeline

    def on_mount(self) -> None:
        self.theme = self._wanted_theme
        self.timeline.focus()


async def _every_kind(pilot: Pilot[None]) -> None:
    await pilot.pause()
    _timeline(pilot).show(timelines.every_kind())
    await pilot.pause()


async def _unfolded_at_the_start(pilot: Pilot[None]) -> None:
    await _every_kind(pilot)
    timeline = _timeline(pilot)
    timeline.action_unfold_all()
    timeline.action_first()
    timeline.action_cursor_next()
    timeline.action_cursor_next()
    await pilot.pause()


async def _away_with_news(pilot: Pilot[None]) -> None:
    await _every_kind(pilot)
    timeline = _timeline(pilot)
    timeline.action_page_up()
    blocks = timelines.every_kind().blocks
    timeline.show(timelines.view(*blocks, timelines.message(20, "news", timelines.CLAUDE)))
    await pilot.pause()


def _timeline(pilot: Pilot[None]) -> Timeline:
    return pilot.app.query_one(Timeline)


def test_every_kind_of_block_folded(snap_compare: Compare) -> None:
    assert snap_compare(Picture(), terminal_size=(80, 70), run_before=_every_kind)


def test_unfolded_records_in_a_light_theme(snap_compare: Compare) -> None:
    app = Picture("textual-light")
    assert snap_compare(app, terminal_size=(100, 64), run_before=_unfolded_at_the_start)


def test_a_narrow_terminal_with_news_below(snap_compare: Compare) -> None:
    assert snap_compare(Picture(), terminal_size=(26, 24), run_before=_away_with_news)


def test_without_colours_everything_can_still_be_told_apart(
    snap_compare: Compare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(Picture(), terminal_size=(80, 40), run_before=_unfolded_at_the_start)


def test_old_and_new_of_a_file_beside_each_other(snap_compare: Compare) -> None:
    assert snap_compare(Picture(), terminal_size=(130, 40), run_before=_unfolded_at_the_start)
