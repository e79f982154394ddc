"""Who works and who watches, as it looks: beside each other, and one below the other.

Update with `pytest tests/tui/snapshots/test_watching.py --snapshot-update` after looking at them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot

from groupx_shared.paths import user_state_folder
from groupx_tui.app import GroupXApp
from groupx_tui.preferences import PreferenceFile
from groupx_tui.screens.watching import WatchScreen
from groupx_tui.setup import WindowSetup
from groupx_tui.theme import load_themes
from support.fake_session import FakeSession, MemoryDrafts
from support.watched import watched_view

pytestmark = pytest.mark.slow
"""Each opens a window."""


NOW = datetime(2026, 11, 30, 9, 15, 42, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _same_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times in UTC, colours whatever the caller's terminal wants."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("NO_COLOR", raising=False)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("theme", ["groupx-dark", "groupx-light"])
@pytest.mark.parametrize("size", [(80, 24), (130, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_both_sides(snap_compare: Callable[..., bool], size: tuple[int, int], theme: str) -> None:
    app = GroupXApp(
        lambda: FakeSession(watched_view()),
        MemoryDrafts(),
        WindowSetup(load_themes(Path("/nonexistent")), PreferenceFile(user_state_folder())),
    )

    async def open_it(pilot: Pilot[int]) -> None:
        session = app.session
        assert isinstance(session, FakeSession)
        await session.started.wait()
        app.theme = theme
        await pilot.press("alt+w")
        await pilot.pause()
        assert isinstance(app.screen, WatchScreen)
        for lines in app.screen.sides.values():
            lines._clock = lambda: NOW
        app.draw_view()
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=open_it)
