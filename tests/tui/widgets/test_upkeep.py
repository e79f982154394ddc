"""How a summing up stands is told while it runs, and for a while when it has ended."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from textual.app import App, ComposeResult

from groupx_tui.state.model import ClientView, UpkeepView
from groupx_tui.widgets import workline
from groupx_tui.widgets.upkeep import UpkeepBar, upkeep_sentence

AT = "2026-11-30T09:15:00.000Z"
NOW = datetime(2026, 11, 30, 9, 15, 12, tzinfo=UTC)
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
    started_at=AT,
    ended_at=None,
    has_no_writer=False,
    problem="",
)


def ended(phase: Any, **more: Any) -> UpkeepView:
    return replace(RUNNING, phase=phase, ended_at="2026-11-30T09:15:10.000Z", **more)


@pytest.mark.parametrize(
    ("upkeep", "sentence"),
    [
        (RUNNING, "⟳ Codex sums up 240 messages · part 2 of 3 · 12 s"),
        (
            replace(RUNNING, step="days", parts=1, writer=""),
            "⟳ Agents write down their days before 240 messages are summed up · 12 s",
        ),
        (
            replace(RUNNING, phase="retrying", attempt=2, parts=1, messages=1),
            "⟳ Codex sums up 1 message · try 2 · 12 s",
        ),
        (
            ended("completed", summary_characters=6_120, messages=40, characters=9_000),
            "✓ Codex summed up 40 messages (9,000 characters) in 6,120 · alt+i shows it",
        ),
        (
            ended("failed", problem="codex: no credit."),
            "✗ Not summed up: codex: no credit. /compact tries again",
        ),
        (
            ended("interrupted", problem="Nothing was kept."),
            "✗ Summing up was interrupted: Nothing was kept. /compact tries again",
        ),
        (
            ended("failed", has_no_writer=True),
            "Nobody here writes summaries: agents are told the newest messages that fit",
        ),
    ],
)
def test_it_says_who_writes_how_far_and_how_it_ended(upkeep: UpkeepView, sentence: str) -> None:
    assert upkeep_sentence(upkeep, NOW, "alt+i") == sentence


class _Window(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.bar = UpkeepBar("alt+i")

    def compose(self) -> ComposeResult:
        yield self.bar


def _is_shown(bar: UpkeepBar) -> bool:
    return bar.display


async def test_it_is_there_while_there_is_something_to_tell_and_goes_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = NOW
    monkeypatch.setattr(workline, "moment_now", lambda: now)
    app = _Window()
    async with app.run_test():
        bar, view = app.bar, ClientView(connection="live")
        bar.show(view)
        assert not _is_shown(bar)
        bar.show(replace(view, upkeep=RUNNING))
        assert _is_shown(bar)
        bar.show(replace(view, upkeep=RUNNING, connection="reconnecting"))
        assert not _is_shown(bar)  # nobody knows how it is
        bar.show(replace(view, upkeep=ended("completed")))
        assert bar.sentence.startswith("✓")
        now = NOW + timedelta(seconds=30)
        bar._say()
        assert not _is_shown(bar)
        bar.show(replace(view, upkeep=ended("failed", problem="No.")))
        assert (_is_shown(bar), bar.has_class("-bad")) == (True, True)
        now = NOW + timedelta(minutes=10)
        bar._say()
        assert not _is_shown(bar)
