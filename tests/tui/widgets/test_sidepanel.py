"""The side panel tells rooms and agents as they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupx_shared.wire.replies import AgentState
from groupx_tui.widgets.sidepanel import STATUS_MARKS, panel_rows
from support.fake_session import CODEX, ROOMS, FakeSession, sample_view
from support.window import open_window


def test_every_status_of_the_server_has_its_mark() -> None:
    assert set(STATUS_MARKS) == set(AgentState.__args__)  # type: ignore[attr-defined]


def test_rooms_tell_what_is_new_and_agents_their_true_word() -> None:
    rows = [(row.content.plain, row.right.plain.strip()) for row in panel_rows(sample_view(), 20)]
    assert ("› Main", "") in rows
    assert ("  Ideas", "3") in rows
    assert ("  Work on the parser", "▸") in rows
    assert ("✗ Kimi", "failed") in rows
    assert all("Done things" not in left for left, _ in rows)


def test_waiting_turns_are_counted_beside_the_status() -> None:
    busy = replace(CODEX, status="working", queued_turns=2)
    rows = panel_rows(replace(sample_view(), agents=(busy,)), 20)
    assert rows[-1].right.plain.strip() == "working +2"


def test_a_status_of_a_newer_server_is_shown_as_it_is() -> None:
    odd = replace(CODEX, status="meditating")
    row = panel_rows(replace(sample_view(), agents=(odd,)), 20)[-1]
    assert row.right.plain.strip() == "meditating"


def test_the_shown_room_is_listed_even_when_archived() -> None:
    rows = panel_rows(replace(sample_view(), room_id="room:done"), 20)
    assert "› Done things" in [row.content.plain for row in rows]


@pytest.mark.slow
async def test_a_click_goes_to_the_room() -> None:
    async with open_window(size=(120, 30)) as window:
        await window.pilot.click("SidePanel", offset=(4, 2))
        await window.settle()
        assert window.asked("switch_room") == [("switch_room", "room:ideas")]


@pytest.mark.slow
async def test_a_long_list_moves_with_the_mark_and_the_agents_stay() -> None:
    many = tuple(replace(ROOMS[0], room_id=f"room:r{n}", title=f"Room {n}") for n in range(60))
    session = FakeSession(replace(sample_view(), rooms=many, room_id="room:r0"))
    async with open_window(session, size=(120, 30)) as window:
        await window.press("shift+tab", *["down"] * 50)
        assert "Room 50" in window.screen_text()
        assert "Room 1 " not in window.screen_text()
        assert "Kimi" in window.screen_text()
        assert "more)" in window.screen_text()
        for _ in range(60):
            window.app.room.panel.on_mouse_scroll_up()
        await window.settle()
        assert "Room 1 " in window.screen_text()
        window.app.room.panel.on_mouse_scroll_down()
        await window.press("enter")
        assert window.asked("switch_room") == [("switch_room", "room:r1")]


@pytest.mark.parametrize("height", [0, 5, 9, 12, 40])
def test_all_agents_are_listed_whatever_the_height(height: int) -> None:
    many = tuple(replace(ROOMS[0], room_id=f"room:r{n}") for n in range(30))
    rows = panel_rows(replace(sample_view(), rooms=many), height, "room:r29")
    assert len([row for row in rows if row.key.startswith("agent:")]) == 4
    assert "room:r29" in [row.key for row in rows]
    assert len(rows) <= max(height, 10)
