"""Agents: listed truly, addressed, restarted."""

from __future__ import annotations

import pytest

from support.does import does
from support.window import open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


@does("agent.list")
async def test_the_list_tells_status_and_why_and_enter_addresses() -> None:
    async with open_window(size=(100, 30)) as window:
        await window.press("f3")
        shown = window.screen_text()
        assert "kimi is not installed" in shown
        assert "failed" in shown
        await window.type("kimi")
        await window.press("enter")
        assert window.text == "@kimi-k2 "


@does("agent.restart")
async def test_an_agent_is_restarted_by_name() -> None:
    async with open_window() as window:
        await window.type("/restart @codex")
        await window.press("enter")
        assert window.asked("restart_agent") == [("restart_agent", "agent:codex")]
        assert "Codex is being restarted" in window.toasts[-1]


async def test_without_a_name_one_chooses() -> None:
    async with open_window() as window:
        await window.type("/restart")
        await window.press("enter")
        await window.press("down", "enter")
        assert window.asked("restart_agent") == [("restart_agent", "agent:codex")]


async def test_an_unknown_agent_is_answered_with_the_nearest() -> None:
    async with open_window() as window:
        await window.type("/restart codx")
        await window.press("escape", "enter")
        assert "“codex”" in window.toasts[-1]
        assert window.asked("restart_agent") == []
