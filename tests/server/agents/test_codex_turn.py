"""Notifications of one Codex turn, each by itself: text, reasoning, tools, plans, ends."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents import codex_answer
from groupx_server.agents.codex_answer import CodexAnswer
from groupx_server.agents.codex_turn import LIVE_OUTPUT_CHARS, MAX_PLAN_ENTRIES, CodexTurn
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    PlanUpdated,
    ReasoningDelta,
    ToolCall,
    ToolProgress,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    Waiting,
)
from groupx_shared.errors import ErrorCode

COMMAND = {"type": "commandExecution", "id": "c", "command": "make", "status": "inProgress"}
RETRY = {"error": {"message": "Reconnecting... 1/5"}, "willRetry": True}


class Told:
    """A turn and all it gave."""

    def __init__(self) -> None:
        self.turn = CodexTurn("Codex")
        self.events: list[NativeEvent] = self.turn.begin("1")

    def hear(self, method: str, **params: Any) -> list[NativeEvent]:
        events = self.turn.notice(method, params)
        self.events += events
        return events

    def say(self, item_id: str, text: str) -> list[NativeEvent]:
        return self.hear("item/agentMessage/delta", itemId=item_id, delta=text)

    def item(self, phase: str, **item: Any) -> list[NativeEvent]:
        return self.hear(f"item/{phase}", item=item)

    def end(self, **turn: Any) -> list[NativeEvent]:
        events = self.turn.finish(turn, None)
        self.events += events
        return events

    @property
    def calls(self) -> list[ToolCall]:
        return [event.call for event in self.events if isinstance(event, ToolProgress)]


def test_a_turn_that_ends_before_it_was_told_still_starts_first() -> None:
    turn = CodexTurn("Codex")
    turn.notice("item/agentMessage/delta", {"itemId": "m", "delta": "x"})
    events = turn.finish({"status": "completed"}, None)
    assert events == [TurnStarted(None), TurnCompleted()]


# --- text ------------------------------------------------------------------------------------


def test_a_message_that_was_not_streamed_is_given_at_its_end() -> None:
    told = Told()
    assert told.item("completed", type="agentMessage", id="m", text="all of it") == [
        ContentDelta("all of it", "m")
    ]
    assert told.end(status="completed")[-1] == TurnCompleted()


def test_what_the_stream_left_out_of_a_message_is_given_at_its_end() -> None:
    told = Told()
    told.say("m", "half")
    assert told.item("completed", type="agentMessage", id="m", text="half and half") == [
        ContentDelta(" and half", "m")
    ]


def test_a_message_whose_end_differs_from_its_stream_replaces_it() -> None:
    told = Told()
    told.say("m", "draft")
    assert told.item("completed", type="agentMessage", id="m", text="Final.") == []
    told.say("n", "And more.")
    assert told.end(status="completed")[-1] == TurnCompleted("Final.\n\nAnd more.")


def test_a_message_is_not_given_twice() -> None:
    told = Told()
    told.item("completed", type="agentMessage", id="m", text="once")
    assert told.item("completed", type="agentMessage", id="m", text="once") == []
    assert told.say("m", "again") == []


def test_a_retry_drops_only_what_was_open() -> None:
    told = Told()
    told.item("completed", type="agentMessage", id="a", text="First.")
    told.say("b", "lost beg")
    assert told.hear("error", **RETRY) == [Waiting(0.0, "Reconnecting... 1/5")]
    told.say("c", "Second.")
    assert told.end(status="completed")[-1] == TurnCompleted("First.\n\nSecond.")


@pytest.mark.parametrize("status", ["interrupted", "failed"])
def test_the_replaced_text_goes_with_every_end(status: str) -> None:
    told = Told()
    told.say("a", "lost")
    told.hear("error", **RETRY)
    told.say("b", "kept")
    told.turn.cancel_asked = True
    last = told.end(status=status, error={"message": "x"})[-1]
    assert isinstance(last, TurnCancelled | TurnFailed)
    assert last.content == "kept"


def test_a_turn_ended_from_our_side_keeps_the_replaced_text() -> None:
    told = Told()
    told.say("a", "lost")
    told.hear("error", **RETRY)
    failure = TurnFailed(ErrorCode.TURN_IDLE_TIMEOUT, "silent", session_lost=True)
    last = told.turn.fail(failure)[-1]
    assert isinstance(last, TurnFailed)
    assert (last.code, last.content) == (ErrorCode.TURN_IDLE_TIMEOUT, "")


def test_a_huge_answer_is_not_kept_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codex_answer, "MAX_KEPT_CHARS", 10)
    answer = CodexAnswer()
    assert answer.grow("m", "x" * 20) == [ContentDelta("x" * 20, "m")]
    assert answer.complete("m", "x" * 20) == []
    answer.drop_open()
    assert answer.replacement() is None


# --- reasoning -------------------------------------------------------------------------------


def test_parts_of_the_reasoning_are_apart() -> None:
    told = Told()
    for item_id, index, delta in (
        ("r", 0, "one"),
        ("r", 0, " more"),
        ("r", 1, "two"),
        ("s", 0, "3"),
    ):
        told.hear(
            "item/reasoning/summaryTextDelta", itemId=item_id, delta=delta, summaryIndex=index
        )
    told.hear("item/reasoning/textDelta", itemId="s", delta="raw", contentIndex=0)
    text = "".join(event.text for event in told.events if isinstance(event, ReasoningDelta))
    assert text == "one more\n\ntwo\n\n3\n\nraw"


def test_reasoning_that_was_not_streamed_is_given_at_its_end_and_once() -> None:
    told = Told()
    item = {"type": "reasoning", "id": "r", "summary": ["a", "b"], "content": ["c"]}
    given = told.item("completed", **item)
    assert given == [ReasoningDelta("a"), ReasoningDelta("\n\nb"), ReasoningDelta("\n\nc")]
    assert told.item("completed", **item) == []


def test_reasoning_alone_is_no_answer() -> None:
    told = Told()
    told.hear("item/reasoning/summaryTextDelta", itemId="r", delta="hm", summaryIndex=0)
    failure = told.end(status="completed")[-1]
    assert isinstance(failure, TurnFailed)
    assert failure.code is ErrorCode.EMPTY_ANSWER


# --- tools -----------------------------------------------------------------------------------


def test_of_a_running_command_the_last_output_is_shown() -> None:
    told = Told()
    told.item("started", **COMMAND)
    told.hear("item/commandExecution/outputDelta", itemId="c", delta="x" * LIVE_OUTPUT_CHARS)
    told.hear("item/commandExecution/outputDelta", itemId="c", delta="end")
    shown = told.calls[-1].content[0]["output"]
    assert len(shown) == LIVE_OUTPUT_CHARS
    assert shown.endswith("xend")
    told.item("completed", **{**COMMAND, "status": "completed", "aggregatedOutput": "whole"})
    assert told.calls[-1].content == ({"type": "terminal", "output": "whole"},)


def test_a_command_without_a_whole_output_keeps_what_was_seen() -> None:
    told = Told()
    told.item("started", **COMMAND)
    told.hear("item/commandExecution/outputDelta", itemId="c", delta="seen")
    told.item("completed", **{**COMMAND, "status": "completed"})
    assert told.calls[-1].content == ({"type": "terminal", "output": "seen"},)


def test_output_of_an_unknown_command_is_nothing() -> None:
    told = Told()
    assert told.hear("item/commandExecution/outputDelta", itemId="zzz", delta="x") == []


def test_a_command_that_outlives_a_finished_turn_says_so() -> None:
    told = Told()
    told.item("started", **COMMAND)
    assert told.turn.has_open_command
    told.say("m", "It runs.")
    events = told.end(status="completed")
    assert [type(event) for event in events] == [ToolProgress, TurnCompleted]
    assert told.calls[-1].status == "completed"
    assert told.calls[-1].content == ({"type": "text", "text": "It goes on in the background."},)


@pytest.mark.parametrize(("status", "expected"), [("completed", "cancelled"), ("failed", "failed")])
def test_other_open_tools_are_closed_with_the_turn(status: str, expected: str) -> None:
    told = Told()
    told.item("started", type="mcpToolCall", id="t", server="s", tool="x", status="inProgress")
    assert not told.turn.has_open_command
    told.end(status=status)
    assert told.calls[-1].status == expected
    assert not told.turn.has_open_tool


def test_a_patch_that_grows_shows_its_latest_state() -> None:
    told = Told()
    told.item("started", type="fileChange", id="p", changes=[], status="inProgress")
    changes = [{"path": "/a", "kind": {"type": "add"}, "diff": "new\n"}]
    told.hear("item/fileChange/patchUpdated", itemId="p", changes=changes)
    assert told.calls[-1].content[0]["newText"] == "new\n"
    assert told.hear("item/fileChange/patchUpdated", itemId="zzz", changes=changes) == []


def test_a_tool_says_how_far_it_is() -> None:
    told = Told()
    told.item("started", type="mcpToolCall", id="t", server="s", tool="x", status="inProgress")
    told.hear("item/mcpToolCall/progress", itemId="t", message="half done")
    assert told.calls[-1].content == ({"type": "text", "text": "half done"},)
    assert told.hear("item/mcpToolCall/progress", itemId="t", message="") == []


def test_a_plan_comes_whole_and_bounded() -> None:
    told = Told()
    plan = [{"step": "a", "status": "inProgress"}, {"step": "b"}, {"step": "c"} | {"status": 3}]
    [event] = told.hear("turn/plan/updated", plan=plan)
    assert event == PlanUpdated(
        (
            {"content": "a", "priority": "medium", "status": "in_progress"},
            {"content": "b", "priority": "medium", "status": "pending"},
            {"content": "c", "priority": "medium", "status": "pending"},
        )
    )
    [long] = told.hear("turn/plan/updated", plan=[{"step": "x"}] * (MAX_PLAN_ENTRIES + 9))
    assert isinstance(long, PlanUpdated)
    assert len(long.entries) == MAX_PLAN_ENTRIES


@pytest.mark.parametrize(
    "method", ["warning", "turn/diff/updated", "hook/started", "model/rerouted", "no/such"]
)
def test_other_notifications_mean_nothing(method: str) -> None:
    assert Told().hear(method, message="x") == []


# --- ends ------------------------------------------------------------------------------------


def test_a_turn_that_codex_interrupts_by_itself_is_no_cancel() -> None:
    failure = Told().end(status="interrupted")[-1]
    assert isinstance(failure, TurnFailed)
    assert failure.code is ErrorCode.TURN_INTERRUPTED


def test_an_empty_turn_after_a_cancel_is_cancelled() -> None:
    told = Told()
    told.turn.cancel_asked = True
    assert told.end(status="completed")[-1] == TurnCancelled()


def test_a_failed_turn_without_a_reason_takes_the_last_error() -> None:
    told = Told()
    told.hear("error", error={"message": "no luck"}, willRetry=False)
    failure = told.end(status="failed")[-1]
    assert isinstance(failure, TurnFailed)
    assert failure.message == "Codex reported an error: no luck."


def test_a_question_without_words_is_still_named() -> None:
    told = Told()
    told.turn.ask("", "question")
    failure = told.end(status="completed")[-1]
    assert isinstance(failure, TurnFailed)
    assert failure.details["title"] == "something it did not name"
    assert told.turn.interaction_failure(session_lost=True).session_lost


def test_a_failure_before_the_start_invents_no_start() -> None:
    failure = TurnFailed(ErrorCode.TURN_FIRST_EVENT_TIMEOUT, "silent")
    assert CodexTurn("Codex").fail(failure) == [failure]
