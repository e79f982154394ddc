"""The tool calls of a turn, and the plan among them."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents.claude_calls import ClaudeCalls
from groupx_server.agents.claude_plan import MAX_ENTRIES, PlanBook
from groupx_server.agents.tool_calls import MAX_TRACKED_CALLS
from groupx_server.domain.native import NativeEvent, PlanUpdated, ToolProgress


def result(call_id: str, text: str = "ok", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text, **fields}


def take(calls: ClaudeCalls, *blocks: Any, cancelled: bool = False, **line: Any) -> list[Any]:
    return calls.results(blocks, line, cancelled=cancelled)


def phases(events: list[NativeEvent]) -> list[tuple[str, str]]:
    return [(e.phase, e.call.status) for e in events if isinstance(e, ToolProgress)]


def test_a_call_is_shown_from_its_first_mention_to_its_result() -> None:
    calls = ClaudeCalls(PlanBook())
    events = [
        *calls.announce("t", "Bash"),
        *calls.announce("t", "Bash"),
        *calls.call("t", "Bash", {"command": "ls"}),
        *take(calls, result("t"), tool_use_result={"stdout": "ok"}),
    ]
    assert phases(events) == [
        ("started", "pending"),
        ("updated", "in_progress"),
        ("ended", "completed"),
    ]
    assert not calls.has_open
    assert calls.title("t") == "ls"


def test_a_call_that_was_not_announced_starts_all_the_same() -> None:
    calls = ClaudeCalls(PlanBook())
    assert phases(calls.call("t", "Read", {"file_path": "/a"})) == [("started", "in_progress")]
    assert phases(take(calls, result("other", is_error=True))) == [
        ("started", "in_progress"),
        ("ended", "failed"),
    ]
    assert calls.has_open


def test_a_call_without_an_id_is_no_call() -> None:
    calls = ClaudeCalls(PlanBook())
    assert calls.announce("", "Bash") == calls.call("", "Bash", {}) == []
    assert take(calls, result(""), {"type": "text", "text": "x"}, 7) == []


def test_a_call_that_our_cancel_ended_says_so_without_words_for_the_model() -> None:
    calls = ClaudeCalls(PlanBook())
    calls.call("t", "Bash", {"command": "make"})
    meta = [{"id": "t", "non_execution_kind": "user-rejected"}]
    [ended] = take(calls, result("t", "STOP what"), cancelled=True, tool_result_meta=meta)
    assert ended.call.status == "cancelled"
    assert ended.call.content == ()


def test_a_call_that_was_broken_off_is_cancelled_whoever_did_it() -> None:
    calls = ClaudeCalls(PlanBook())
    calls.call("t", "Bash", {"command": "make"})
    [ended] = take(calls, result("t", "x", is_error=True), tool_use_result={"interrupted": True})
    assert ended.call.status == "cancelled"


def test_a_call_that_succeeded_before_the_cancel_keeps_its_result() -> None:
    calls = ClaudeCalls(PlanBook())
    calls.call("t", "Read", {"file_path": "/a"})
    [ended] = take(calls, result("t", "text"), cancelled=True)
    assert ended.call.status == "completed"


def test_several_results_in_one_line_keep_their_own_content() -> None:
    calls = ClaudeCalls(PlanBook())
    for call_id in ("a", "b"):
        calls.call(call_id, "Bash", {"command": call_id})
    events = take(calls, result("a", "one"), result("b", "two"), tool_use_result={"stdout": "no"})
    assert [event.call.content[0]["output"] for event in events] == ["one", "two"]


def test_what_is_left_open_is_ended_with_the_turn() -> None:
    calls = ClaudeCalls(PlanBook())
    calls.announce("t", "Bash")
    assert phases(calls.end_all("failed")) == [("ended", "failed")]
    assert calls.end_all("failed") == []


def test_calls_without_end_are_forgotten_oldest_first() -> None:
    calls = ClaudeCalls(PlanBook())
    for number in range(MAX_TRACKED_CALLS + 10):
        calls.announce(f"t{number}", "Bash")
    assert len(calls._given) == MAX_TRACKED_CALLS


# --- plans -----------------------------------------------------------------------------------


def plan_of(events: list[Any]) -> list[tuple[str, str]]:
    [event] = events
    assert isinstance(event, PlanUpdated)
    return [(entry["content"], entry["status"]) for entry in event.entries]


def test_a_list_is_a_plan_and_no_call() -> None:
    calls = ClaudeCalls(PlanBook())
    todos = [{"content": "a", "status": "pending"}, {"content": "b", "status": "completed"}, 7]
    assert calls.announce("t", "TodoWrite") == calls.call("t", "TodoWrite", {"todos": todos}) == []
    assert not calls.has_open
    assert plan_of(take(calls, result("t"))) == [
        ("a", "pending"),
        ("b", "completed"),
        ("", "pending"),
    ]


def test_a_list_that_was_refused_is_no_plan() -> None:
    calls = ClaudeCalls(PlanBook())
    calls.call("t", "TodoWrite", {"todos": [{"content": "a"}]})
    assert take(calls, result("t", is_error=True)) == []


def test_entries_that_are_made_one_by_one_outlive_a_turn() -> None:
    book = PlanBook()
    first = ClaudeCalls(book)
    for number, subject in enumerate(("a", "b"), 1):
        first.call(f"t{number}", "TaskCreate", {"subject": subject})
        made = {"task": {"id": str(number), "subject": subject}}
        told = plan_of(take(first, result(f"t{number}"), tool_use_result=made))
    assert told == [("a", "pending"), ("b", "pending")]
    second = ClaudeCalls(book)
    second.call("t3", "TaskUpdate", {"taskId": "1", "status": "completed", "subject": "A"})
    assert plan_of(take(second, result("t3"))) == [("A", "completed"), ("b", "pending")]
    second.call("t4", "TaskUpdate", {"taskId": "2", "status": "deleted"})
    assert plan_of(take(second, result("t4"))) == [("A", "completed")]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("TaskUpdate", {"taskId": "9", "status": "completed"}),
        ("TaskCreate", {"subject": "x"}),
        ("TaskList", {}),
        ("TodoWrite", {"todos": "none"}),
    ],
)
def test_what_changes_nothing_is_not_told(name: str, given: dict[str, Any]) -> None:
    calls = ClaudeCalls(PlanBook())
    calls.call("t", name, given)
    assert take(calls, result("t")) == []


def test_a_plan_without_end_is_cut() -> None:
    book = PlanBook()
    todos = [{"content": str(number)} for number in range(MAX_ENTRIES + 1)]
    entries = book.apply("TodoWrite", {"todos": todos}, None)
    assert entries is not None
    assert len(entries) == MAX_ENTRIES
    assert book.apply("TaskCreate", {"subject": "x"}, {"task": {"id": "new"}}) is None
