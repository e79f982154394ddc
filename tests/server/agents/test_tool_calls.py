"""The latest state of each tool call, whatever protocol tells it."""

from __future__ import annotations

from dataclasses import replace

from groupx_server.agents.tool_calls import MAX_TRACKED_CALLS, ToolCalls
from groupx_server.domain.native import ToolCall, ToolProgress

RUNNING = ToolCall("a", title="ls", status="in_progress")


def test_a_call_starts_changes_and_ends() -> None:
    calls = ToolCalls()
    changed, done = replace(RUNNING, title="ls -l"), replace(RUNNING, status="completed")
    assert calls.put(RUNNING) == [ToolProgress(RUNNING, "started")]
    assert calls.open_ids == ["a"]
    assert calls.put(changed) == [ToolProgress(changed, "updated")]
    assert calls.put(done) == [ToolProgress(done, "ended")]
    assert calls.open_ids == []
    assert not calls.has_open


def test_a_call_first_heard_of_at_its_end_starts_too() -> None:
    done = replace(RUNNING, status="failed")
    assert ToolCalls().put(done) == [ToolProgress(RUNNING, "started"), ToolProgress(done, "ended")]


def test_what_did_not_change_is_not_told() -> None:
    calls = ToolCalls()
    calls.put(RUNNING)
    assert calls.put(RUNNING) == []


def test_a_change_after_the_end_is_an_end_again() -> None:
    calls = ToolCalls()
    calls.put(replace(RUNNING, status="completed"))
    late = replace(RUNNING, status="completed", title="late")
    assert calls.put(late) == [ToolProgress(late, "ended")]


def test_open_calls_are_ended_together_and_once() -> None:
    calls = ToolCalls()
    calls.put(RUNNING)
    calls.put(replace(RUNNING, call_id="b", status="completed"))
    assert calls.end_all("cancelled") == [
        ToolProgress(replace(RUNNING, status="cancelled"), "ended")
    ]
    assert calls.end_all("failed") == []


def test_a_runaway_forgets_its_oldest_calls() -> None:
    calls = ToolCalls()
    for number in range(MAX_TRACKED_CALLS + 3):
        calls.put(replace(RUNNING, call_id=str(number)))
    assert calls.find("2") is None
    assert calls.find("3") is not None
    assert calls.find(3) is None
