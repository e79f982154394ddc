"""Tool calls: live and recorded parts of one call become one view, in any order."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from groupx_shared.wire.bodies import ToolProgressBody
from groupx_tui.state.model import ToolView
from groupx_tui.state.tools import recorded_only, tool_view, with_tool
from support.room_events import tool_body


def call(name: str, seq: int = 0, *, ended: bool = True, **details: Any) -> ToolView:
    return tool_view(
        ToolProgressBody.model_validate(tool_body("t", name, ended=ended, **details)), seq
    )


def merged(*calls: ToolView) -> tuple[ToolView, ...]:
    tools: tuple[ToolView, ...] = ()
    for each in calls:
        tools = with_tool(tools, each)
    return tools


def test_a_newer_live_state_keeps_what_it_does_not_repeat() -> None:
    start = call("a", ended=False, status="pending", input={"cmd": "ls"}, title="List")
    end = call("a", status="completed", title="", content=[{"type": "text", "text": "x"}])
    (tool,) = merged(start, end)
    assert (tool.title, tool.input, tool.status, tool.has_ended) == (
        "List",
        {"cmd": "ls"},
        "completed",
        True,
    )
    assert tool.content == ({"type": "text", "text": "x"},)


def test_an_ended_call_does_not_start_again() -> None:
    (tool,) = merged(call("a"), call("a", ended=False, status="pending"))
    assert (tool.has_ended, tool.status) == (True, "completed")


def test_a_record_replaces_what_was_live_whichever_comes_first() -> None:
    live = call("a", content=[{"type": "text", "text": "streamed"}])
    record = call("a", 7, title="Recorded")
    assert merged(live, record) == merged(record, live) == (record,)


RECORDS = (
    call("a", 5, ended=False, input={"cmd": "ls"}, status="in_progress"),
    call("a", 6, content=[{"type": "text", "text": "out"}], duration_ms=12),
    call("b", 7),
)


@pytest.mark.parametrize("order", list(permutations(RECORDS)))
def test_records_of_a_start_and_an_end_are_one_call_in_any_order(
    order: tuple[ToolView, ...],
) -> None:
    tools = merged(*order)
    assert tools == merged(*RECORDS)
    assert merged(*order, *order) == tools
    first = tools[0]
    assert (first.input, first.status, first.duration_ms) == ({"cmd": "ls"}, "completed", 12)
    assert [tool.call_id for tool in tools] == ["a", "b"]


def test_calls_known_only_live_stand_after_the_recorded_ones() -> None:
    tools = merged(call("live1"), call("live2"), call("late", 9), call("early", 3))
    assert [tool.call_id for tool in tools] == ["early", "late", "live1", "live2"]
    assert [tool.call_id for tool in recorded_only(tools)] == ["early", "late"]


def test_nothing_new_gives_the_same_tuple() -> None:
    tools = merged(*RECORDS)
    assert with_tool(tools, RECORDS[1]) is tools
    assert recorded_only(tools) is tools
