"""Pictures of what tells how the room is summed up, and of what agents are told.

Update on purpose with `pytest tests/tui/test_context_snapshots.py --snapshot-update`, and look.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from groupx_tui.state.model import UpkeepView
from groupx_tui.widgets import workline
from tui.test_snapshots import Compare, pressing, window

pytestmark = pytest.mark.slow
"""Each opens a window."""

SMALL, LARGE = (80, 24), (160, 45)
RUNNING = UpkeepView(
    operation_id="op_1",
    phase="started",
    step="summary",
    part=2,
    parts=3,
    messages=240,
    characters=118_300,
    summary_characters=0,
    writer="Codex",
    attempt=1,
    started_at="2026-11-30T09:15:00.000Z",
    ended_at=None,
    has_no_writer=False,
    problem="",
)
ENDED = "2026-11-30T09:15:10.000Z"
FAILED = replace(
    RUNNING,
    phase="failed",
    ended_at=ENDED,
    problem="The room's history is too long for one packet and could not be summed up: codex: "
    "there is no credit left. Nothing was changed and nothing was sent. Make an agent ready and "
    "retry the turn.",
)
DONE = replace(RUNNING, phase="completed", ended_at=ENDED, summary_characters=6_120)


@pytest.fixture(autouse=True)
def _same_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times in UTC, colours whatever the caller's terminal wants, and always the same moment."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("NO_COLOR", raising=False)
    now = datetime(2026, 11, 30, 9, 15, 12, tzinfo=UTC)
    monkeypatch.setattr(workline, "moment_now", lambda: now)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("upkeep", [RUNNING, DONE, FAILED], ids=["running", "done", "failed"])
def test_how_a_summing_up_stands(
    snap_compare: Compare, upkeep: UpkeepView, size: tuple[int, int]
) -> None:
    assert snap_compare(window(upkeep=upkeep), terminal_size=size, run_before=pressing())


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
def test_what_an_agent_would_be_told(snap_compare: Compare, size: tuple[int, int]) -> None:
    keys = pressing(*"/context", "space", *"@codex", "enter")
    assert snap_compare(window(), terminal_size=size, run_before=keys)


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
def test_what_sums_the_room_up(snap_compare: Compare, size: tuple[int, int]) -> None:
    keys = pressing(*"/context", "space", *"@codex", "enter", "alt+u")
    assert snap_compare(window(), terminal_size=size, run_before=keys)
