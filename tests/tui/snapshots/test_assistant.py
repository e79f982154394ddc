"""The assistant's panel as it looks, small and large.

Update with `pytest tests/tui/snapshots/test_assistant.py --snapshot-update` after looking at them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from groupx_shared.paths import user_state_folder
from groupx_shared.wire.assistant import AssistantAct, AssistantFrame, AssistantReply
from groupx_tui.app import GroupXApp
from groupx_tui.preferences import PreferenceFile
from groupx_tui.screens.assistant import AssistantScreen
from groupx_tui.setup import WindowSetup
from groupx_tui.theme import load_themes
from support.fake_session import FakeSession, MemoryDrafts
from support.fake_side import AT, answered, asked

pytestmark = pytest.mark.slow
"""Each opens a window."""

ACTS = (
    AssistantAct(
        act_id="act_1",
        tool="worker_ask",
        summary="to codex: Review the last change of src/parser.py and say what could break",
        occurred_at=AT,
    ),
    AssistantAct(
        act_id="act_2", tool="memory_remember", summary="remembered: a short line", occurred_at=AT
    ),
)
BUSY = AssistantReply(
    enabled=True,
    name="Room assistant",
    status="busy",
    driver="codex",
    open_requests=2,
    running_request_id="side_3",
)
ANSWER = "It found one problem:\n\n1. `parse()` drops the last comment.\n\nI kept that in mind."


@pytest.fixture(autouse=True)
def _same_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times in UTC, colours whatever the caller's terminal wants."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("NO_COLOR", raising=False)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def _talk(pilot: Pilot[int]) -> None:
    """A conversation in the middle of an answer, with a request that waits."""
    app = pilot.app
    assert isinstance(app, GroupXApp)
    session = app.session
    assert isinstance(session, FakeSession)
    await session.started.wait()
    await pilot.press("alt+a")
    session.side.push(AssistantFrame(type="status", assistant=BUSY))
    session.side.say(
        asked("side_1", "Let codex review it.", status="completed", acts=ACTS),
        answered("side_2", "side_1", ANSWER, created_at="2026-11-30T09:16:00.000Z"),
        asked("side_3", "Stop what still runs.", created_at="2026-11-30T09:17:00.000Z"),
        asked("side_4", "Later.", created_at="2026-11-30T09:18:00.000Z", status="queued"),
    )
    session.side.piece("side_3", 0, "I cancel two turns")
    session.side.push(AssistantFrame(type="progress", request_id="side_3", text="turns_cancel"))
    async with asyncio.timeout(5):
        while not _shows_all(app):
            await pilot.pause()
    await pilot.pause()
    await pilot.press(*"Tell")
    await pilot.pause()


def _shows_all(app: GroupXApp) -> bool:
    """The last thing that was pushed has come."""
    panel = app.screen
    return isinstance(panel, AssistantScreen) and panel._view.progress == "turns_cancel"


@pytest.mark.parametrize("size", [(80, 24), (130, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_panel(snap_compare: Callable[..., bool], size: tuple[int, int]) -> None:
    app = GroupXApp(
        FakeSession,
        MemoryDrafts(),
        WindowSetup(load_themes(Path("/nonexistent")), PreferenceFile(user_state_folder())),
    )
    assert snap_compare(app, terminal_size=size, run_before=_talk)
