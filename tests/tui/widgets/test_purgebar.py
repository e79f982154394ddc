"""The line about a purge says what is so, and only that."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, get_args
from unittest.mock import patch

import pytest
from textual.app import App, ComposeResult

from groupx_shared.purgewords import STAGE_WORDS
from groupx_shared.wire.forgetting import PurgeStage as Told
from groupx_tui.state.model import ClientView, PurgeStage, PurgeView
from groupx_tui.widgets import workline
from groupx_tui.widgets.purgebar import PurgeBar, purge_sentence

STAGES: tuple[PurgeStage, ...] = get_args(PurgeStage)[:-2]
NOW = datetime(2026, 1, 1, 0, 0, 10, tzinfo=UTC)
STARTED, ENDED = "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:03.000Z"


def purge(stage: PurgeStage, **more: Any) -> PurgeView:
    fields: dict[str, Any] = {
        "ref_id": "evt_1", "steps": 0, "is_removed": True, "started_at": STARTED, "ended_at": None,
        "left_in": (), "is_checked": False, "problem": "",
    }  # fmt: skip
    return PurgeView(stage=stage, **(fields | more))


def test_every_stage_that_a_server_tells_has_words_or_is_the_end() -> None:
    assert get_args(Told) == get_args(PurgeStage) == (*STAGE_WORDS, "done", "failed")


@pytest.mark.parametrize("stage", STAGES)
def test_each_stage_has_its_words_and_how_long_it_takes_so_far(stage: PurgeStage) -> None:
    said = purge_sentence(purge(stage, steps=48), NOW, "/removed")
    assert said == f"⟳ {STAGE_WORDS[stage]} · 48 steps · 10 s"


@pytest.mark.parametrize(
    ("ended", "says"),
    [
        ({"stage": "done", "is_checked": True}, "no byte of it is left in the files · 3.0 s"),
        ({"stage": "done"}, "✓ The text is removed; the files are purged · 3.0 s · /removed"),
        ({"stage": "done", "left_in": ("groupx.db",)}, "✗ The text is removed, but still stands"),
        ({"stage": "failed", "problem": "Disk full."}, "its bytes are still in the files: Disk"),
        ({"stage": "failed", "is_removed": False, "problem": "No."}, "✗ Not removed: No."),
    ],
)
def test_the_end_says_what_is_known(ended: dict[str, Any], says: str) -> None:
    assert says in purge_sentence(purge(ended_at=ENDED, **ended), NOW, "/removed")


class _Bar(App[None]):
    def compose(self) -> ComposeResult:
        yield PurgeBar("/removed")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shown", "seconds", "is_there"),
    [
        (purge("index"), 9_999, True),
        (purge("done", ended_at=STARTED, is_checked=True), workline.GOOD_S - 1, True),
        (purge("done", ended_at=STARTED, is_checked=True), workline.GOOD_S + 1, False),
        (purge("failed", ended_at=STARTED), workline.GOOD_S + 1, True),
        (purge("done", ended_at=STARTED, left_in=("a",)), workline.BAD_S + 1, False),
        (None, 0, False),
    ],
)
async def test_it_is_there_while_it_is_news(
    shown: PurgeView | None, seconds: float, is_there: bool
) -> None:
    now = datetime.fromtimestamp(datetime(2026, 1, 1, tzinfo=UTC).timestamp() + seconds, UTC)
    with patch.object(workline, "moment_now", lambda: now):
        async with _Bar().run_test() as pilot:
            bar = pilot.app.query_one(PurgeBar)
            bar.show(ClientView(connection="live", purge=shown))
            await pilot.pause()
            assert bool(bar.display) is is_there


@pytest.mark.slow
async def test_nothing_is_said_while_there_is_no_connection() -> None:
    async with _Bar().run_test() as pilot:
        bar = pilot.app.query_one(PurgeBar)
        bar.show(ClientView(connection="reconnecting", purge=purge("index")))
        await pilot.pause()
        assert bar.sentence == ""
