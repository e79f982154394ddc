"""What people complain of in other programs and no other test here would catch.

docs/COMPLAINTS.md has the whole table.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from textual import events

from groupx_tui.render.markdown.chunk import layout_chunk
from groupx_tui.render.markdown.scanner import BlockScanner
from groupx_tui.render.palette import PLAIN
from groupx_tui.state.model import ClientView, UpkeepView
from groupx_tui.state.reduce import apply_bootstrap, apply_event
from support.fake_session import FakeSession, sample_view
from support.room_events import RoomScript
from support.window import open_window

TABLE = "| 名字 | n |\n|:--|--:|\n| 中文 | 1 |\n| 🎉 party | 22 |\n| 很长很长的名字 | 333 |\n"


def test_a_table_of_wide_characters_is_aligned_at_every_moment_of_its_coming() -> None:
    head = TABLE.index("\n| 中文")
    for end in range(head + 1, len(TABLE) + 1):
        scanner = BlockScanner()
        chunks = [*scanner.feed(TABLE[:end]), *scanner.open_chunks()]
        lines = [row.strip.text for chunk in chunks for row in layout_chunk(chunk, 60, PLAIN).rows]
        bars = {cell_len(line[: line.index("│")]) for line in lines if "│" in line}
        assert len(bars) == 1, f"after {TABLE[:end]!r}: {lines}"


async def test_several_characters_that_come_at_once_are_all_written() -> None:
    """As an input method commits them: one burst of keys."""
    async with open_window() as window:
        for letter in "你好世界":
            window.app.post_message(events.Key(letter, letter))
        await window.settle()
        assert window.text == "你好世界"


async def test_the_wheel_over_the_composer_recalls_no_message() -> None:
    async with open_window() as window:
        await window.type("first")
        await window.press("enter")
        await window.type("second")
        editor = window.app.room.composer.editor
        wheel = {"delta_x": 0, "delta_y": -1, "button": 0, "shift": False, "meta": False}
        for _ in range(3):
            editor.post_message(
                events.MouseScrollUp(editor, 1, 0, ctrl=False, **wheel)  # type: ignore[arg-type]
            )
        await window.settle()
        assert window.text == "second"


async def test_a_chip_behind_wide_characters_stays_one_thing() -> None:
    async with open_window() as window:
        pasted = "\n".join(f"行 {number}" for number in range(400))
        await window.press("你", "好")
        window.app.room.composer.editor.post_message(events.Paste(pasted))
        await window.settle()
        await window.press("space", "吗", "left", "left", "left", "backspace")
        assert window.text == f"你{pasted} 吗"


def _compaction(phase: str) -> dict[str, Any]:
    return {
        "operationId": "op_1", "phase": phase, "step": "summary", "part": 1, "parts": 1,
        "attempt": 1, "messages": 9, "characters": 9_000, "summaryCharacters": 90,
    }  # fmt: skip


@pytest.mark.parametrize("phase", ["started", "completed", "failed"])
def test_summing_up_takes_nothing_from_what_people_see(phase: str) -> None:
    script = RoomScript()
    for number in range(9):
        script.say(f"message {number}")
    view = apply_bootstrap(ClientView(connection="live"), script.bootstrap())
    event = script.stream(f"context.compaction.{phase}", _compaction(phase), "codex")
    after = apply_event(view, event)
    said = [block for block in after.timeline.blocks if block.block_id.startswith("msg:")]
    assert said == list(view.timeline.blocks)


async def test_while_a_room_is_summed_up_messages_are_written_and_sent() -> None:
    upkeep = UpkeepView(
        "op_1", "started", "summary", 1, 1, 9, 9_000, 0, "Codex", 1, None, None, False, ""
    )
    async with open_window(FakeSession(replace(sample_view(), upkeep=upkeep))) as window:
        await window.type("hi")
        await window.press("enter")
        assert [sent[1] for sent in window.asked("send")] == ["hi"]
