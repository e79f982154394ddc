"""One of a few is chosen by arrows, space, a click or a first letter."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from groupx_tui.widgets.pick import Pick

pytestmark = pytest.mark.slow
OPTIONS = [("a", "Main"), ("b", "Ideas"), ("c", "Work"), ("d", "Money")]


class _Form(App[None]):
    def compose(self) -> ComposeResult:
        yield Pick("whose", OPTIONS)


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        (["right"], "b"),
        (["left"], "d"),
        (["space", "space"], "c"),
        (["w"], "c"),
        (["W"], "c"),
        (["m"], "d"),
        (["m", "m"], "a"),
        (["x"], "a"),
    ],
)
async def test_it_is_chosen_by_key(keys: list[str], chosen: str) -> None:
    async with _Form().run_test() as pilot:
        pick = pilot.app.query_one(Pick)
        pick.focus()
        await pilot.press(*keys)
        assert pick.key == chosen
