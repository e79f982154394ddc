"""A few pictures of the whole window; a change of one is a change that people see.

Update on purpose with `pytest tests/tui/test_snapshots.py --snapshot-update`, and look at them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from groupx_shared.paths import user_state_folder
from groupx_tui.app import GroupXApp
from groupx_tui.preferences import PreferenceFile
from groupx_tui.setup import WindowSetup
from groupx_tui.theme import load_themes
from support.fake_session import CODEX, GUIDE, KIMI, OFF, FakeSession, MemoryDrafts, sample_view

pytestmark = pytest.mark.slow
"""Each opens a window."""

Compare = Callable[..., bool]


@pytest.fixture(autouse=True)
def _same_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times in UTC, colours whatever the caller's terminal wants."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("NO_COLOR", raising=False)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def window(**changes: Any) -> GroupXApp:
    """The app on a fake session whose view has these changes."""
    return GroupXApp(
        lambda: FakeSession(replace(sample_view(), **changes)),
        MemoryDrafts(),
        WindowSetup(load_themes(Path("/nonexistent")), PreferenceFile(user_state_folder())),
    )


def pressing(*keys: str) -> Callable[[Pilot[int]], Any]:
    """Wait until the view is drawn, then press keys."""

    async def run(pilot: Pilot[int]) -> None:
        assert isinstance(pilot.app, GroupXApp)
        session = pilot.app.session
        assert isinstance(session, FakeSession)
        await session.started.wait()
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()

    return run


def test_the_room_on_a_small_terminal(snap_compare: Compare) -> None:
    assert snap_compare(window(), terminal_size=(80, 24), run_before=pressing())


def test_the_room_with_panel_and_candidates(snap_compare: Compare) -> None:
    busy = replace(CODEX, status="working", active_turn_id="turn_9", queued_turns=2)
    app = window(agents=(GUIDE, busy, KIMI, OFF))
    assert snap_compare(app, terminal_size=(120, 40), run_before=pressing("h", "i", "space", "@"))


def test_the_palette(snap_compare: Compare) -> None:
    assert snap_compare(window(), terminal_size=(80, 24), run_before=pressing("ctrl+p", "r", "o"))


def test_without_a_connection(snap_compare: Compare) -> None:
    app = window(connection="reconnecting", connection_detail="No answer. Next try in 2.0 s.")
    assert snap_compare(app, terminal_size=(80, 24), run_before=pressing())
