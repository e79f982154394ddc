"""Which pictures a message or a turn names."""

from __future__ import annotations

import pytest

from groupx_tui.state.model import ToolView
from groupx_tui.state.pictures import pictures_in
from support.fake_session import CODEX, message, turn


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("![a chart](out/chart.png) and ![](./b.JPG)", ["out/chart.png", "./b.JPG"]),
        ("![x](file:///tmp/a.webp)", ["/tmp/a.webp"]),
        ("[image: image/png, 640×480, 12 KB, /tmp/my shot.png]", ["/tmp/my shot.png"]),
        ("[image: image/png, 640×480, 12 KB]", []),
        ("![x](https://example.org/a.png)", []),
        ("![x](notes.md) a.png", []),
        ("![" * 100_000, []),
    ],
)
def test_what_a_text_names(text: str, found: list[str]) -> None:
    assert pictures_in(message(1, text)) == found


def test_what_tools_of_a_turn_looked_at_comes_first_and_each_once() -> None:
    tool = ToolView(
        "call_1", "Look at", "read", "completed", True,
        content=({"type": "text", "text": "[image: image/png, 1 KB, ./b.png]"}, {"type": "diff"}),
        locations=({"path": "/p/a.png"}, {"path": "/p/a.py"}),
    )  # fmt: skip
    block = turn("turn_1", CODEX, "See ![it](/p/a.png) and ![that](c.gif).", tools=(tool,))
    assert pictures_in(block) == ["/p/a.png", "./b.png", "c.gif"]
