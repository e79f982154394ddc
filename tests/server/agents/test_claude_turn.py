"""One turn of Claude Code: when it begins, what belongs to it, how it ends."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents.claude_plan import PlanBook
from groupx_server.agents.claude_turn import ClaudeTurn
from groupx_server.agents.claude_usage import CostBook, TurnUsage
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    ToolProgress,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    UsageReported,
    Waiting,
)
from groupx_shared.errors import ErrorCode


def new_turn() -> ClaudeTurn:
    return ClaudeTurn("Claude Code", "mine", PlanBook(), CostBook(is_new=True))


def at_work() -> ClaudeTurn:
    turn = new_turn()
    turn.lifecycle("mine", "queued")
    turn.lifecycle("mine", "started")
    return turn


def phase(turn: ClaudeTurn) -> str:
    return turn.phase


def said(turn: ClaudeTurn, text: str, **line: Any) -> list[NativeEvent]:
    content = [{"type": "text", "text": text}]
    return turn.take({"type": "assistant", "message": {"id": "m", "content": content}, **line})


def ended(turn: ClaudeTurn, **result: Any) -> list[NativeEvent]:
    turn.take({"type": "result", **result})
    assert phase(turn) == "answered"
    return turn.finish()


# --- the beginning ---------------------------------------------------------------------------


def test_a_message_that_is_known_has_begun_the_turn() -> None:
    turn = new_turn()
    assert [turn.has_started, turn.lifecycle("mine", "queued")] == [False, [TurnStarted("mine")]]
    assert turn.has_started
    assert turn.lifecycle("mine", "started") == []


def test_a_version_that_tells_nothing_of_messages_begins_with_its_turn() -> None:
    turn = new_turn()
    assert turn.began() == [TurnStarted("mine")]
    assert turn.began() == []
    assert not turn.takes_more


def test_what_comes_before_ours_begins_belongs_to_another_turn() -> None:
    turn = new_turn()
    assert said(turn, "not ours") == []
    turn.lifecycle("mine", "queued")
    assert turn.began() == []
    assert said(turn, "not ours") == []
    turn.take({"type": "result", "result": "not ours"})
    assert phase(turn) == "queued"
    turn.lifecycle("mine", "started")
    assert said(turn, "ours") == [ContentDelta("ours", "m/0")]


def test_a_message_taken_for_begun_too_early_waits_again() -> None:
    turn = new_turn()
    turn.began()  # of another turn, as it turns out
    turn.lifecycle("mine", "queued")
    turn.take({"type": "result", "result": "not ours"})
    assert phase(turn) == "queued"


# --- the middle ------------------------------------------------------------------------------


def test_a_sub_agents_words_are_no_answer_but_its_calls_are_shown() -> None:
    turn = at_work()
    content = [
        {"type": "text", "text": "I think"},
        {"type": "tool_use", "id": "t", "name": "Edit", "input": {"file_path": "/a"}},
    ]
    line = {"type": "assistant", "message": {"content": content}, "parent_tool_use_id": "task"}
    [shown] = turn.take(line)
    assert isinstance(shown, ToolProgress)
    assert shown.call.title == "Edit /a"
    event = {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": "x"},
    }
    assert turn.take({"type": "stream_event", "event": event, "parent_tool_use_id": "task"}) == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            {"subtype": "api_retry", "attempt": 2, "max_retries": 9, "retry_delay_ms": 1500},
            "it tries its model again in 1.5 s (2 of 9): an error",
        ),
        (
            {"subtype": "api_retry", "error": "overloaded", "error_status": 529},
            "it tries its model again: overloaded, HTTP 529",
        ),
        ({"subtype": "status", "status": "compacting"}, "it makes its context smaller"),
    ],
)
def test_what_it_waits_for_is_told(line: dict[str, Any], reason: str) -> None:
    assert at_work().take({"type": "system", **line}) == [Waiting(0.0, reason)]


@pytest.mark.parametrize(
    "line",
    [
        {"type": "system", "subtype": "status", "status": "requesting"},
        {"type": "system", "subtype": "thinking_tokens"},
        {"type": "user", "message": {"content": [{"type": "text", "text": "[Request"}]}},
        {"type": "keep_alive"},
    ],
)
def test_what_means_nothing_to_a_reader_is_not_told(line: dict[str, Any]) -> None:
    assert at_work().take(line) == []


# --- the end ---------------------------------------------------------------------------------


def test_a_result_ends_the_turn_with_its_usage() -> None:
    turn = at_work()
    said(turn, "hi")
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 2, "output_tokens": 4}
    events = ended(turn, result="hi", stop_reason="max_tokens", usage=usage, total_cost_usd=0.5)
    assert events == [
        TurnCompleted(
            stop_reason="max_tokens",
            usage={
                "inputTokens": 5,
                "outputTokens": 4,
                "cachedTokens": 0,
                "totalTokens": 9,
                "costAmount": 0.5,
                "costCurrency": "USD",
            },
        )
    ]


def test_nothing_that_comes_after_the_result_is_told() -> None:
    turn = at_work()
    said(turn, "hi")
    turn.take({"type": "result", "result": "hi"})
    assert said(turn, "late") == []
    assert turn.lifecycle("mine", "completed") == []
    assert phase(turn) == "answered"


def test_an_answer_that_came_only_with_the_result_is_told() -> None:
    turn = at_work()
    assert turn.take({"type": "result", "result": "hi"}) == [ContentDelta("hi")]
    assert turn.finish() == [TurnCompleted()]


@pytest.mark.parametrize("reason", ["aborted_streaming", "aborted_tools"])
def test_a_confirmed_cancel_is_a_cancelled_turn_with_its_usage(reason: str) -> None:
    turn = at_work()
    turn.cancel_asked = True
    usage = {"input_tokens": 1}
    events = ended(turn, is_error=True, terminal_reason=reason, usage=usage)
    assert [type(event) for event in events] == [UsageReported, TurnCancelled]


def test_an_answer_that_was_finished_before_the_cancel_counts() -> None:
    turn = at_work()
    said(turn, "hi")
    turn.cancel_asked = True
    assert ended(turn, result="hi", terminal_reason="completed") == [TurnCompleted()]


def test_a_cancel_before_any_word_is_a_cancelled_turn() -> None:
    turn = at_work()
    turn.cancel_asked = True
    assert ended(turn, result="") == [TurnCancelled()]


def test_a_turn_that_broke_off_by_itself_is_interrupted() -> None:
    [failure] = ended(at_work(), is_error=True, terminal_reason="aborted_streaming")
    assert isinstance(failure, TurnFailed)
    assert failure.code is ErrorCode.TURN_INTERRUPTED


@pytest.mark.parametrize(
    ("stop_reason", "code"),
    [("end_turn", ErrorCode.EMPTY_ANSWER), ("refusal", ErrorCode.AGENT_ERROR)],
)
def test_an_end_without_a_word_is_a_failure(stop_reason: str, code: ErrorCode) -> None:
    [failure] = ended(at_work(), result="", stop_reason=stop_reason)
    assert isinstance(failure, TurnFailed)
    assert failure.code is code


def test_an_error_of_the_model_is_no_part_of_the_answer() -> None:
    turn = at_work()
    assert said(turn, "API Error: 500", is_api_error_message=True, error="server_error") == []
    [failure] = ended(turn, subtype="success", is_error=True, result="API Error: 500")
    assert isinstance(failure, TurnFailed)
    assert failure.message == "Claude Code reported an error: API Error: 500."


def test_open_calls_end_with_the_turn() -> None:
    for fields, status in (({"result": "x"}, "cancelled"), ({"is_error": True}, "failed")):
        turn = at_work()
        content = [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]
        turn.take({"type": "assistant", "message": {"id": "m", "content": content}})
        assert turn.has_open_tool
        first, *_ = ended(turn, **fields)
        assert isinstance(first, ToolProgress)
        assert first.call.status == status


def test_a_turn_that_never_began_is_failed_without_a_beginning() -> None:
    gone = TurnFailed(ErrorCode.SESSION_NOT_AVAILABLE, "gone")
    assert new_turn().fail(gone) == [gone]


def test_a_turn_that_dies_keeps_what_it_said() -> None:
    turn = at_work()
    event = {"type": "message_start", "message": {"id": "m"}}
    turn.take({"type": "stream_event", "event": event})
    delta = {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": "a"},
    }
    turn.take({"type": "stream_event", "event": delta})
    gone = TurnFailed(ErrorCode.SESSION_NOT_AVAILABLE, "gone")
    assert turn.fail(gone) == [gone]


def test_the_first_verdict_counts_whatever_the_end() -> None:
    turn = at_work()
    said(turn, "hi")
    turn.ask("", "a permission", "rm -rf /", "can_use_tool")
    turn.ask("", "an answer", "really?", "elicitation")
    assert turn.was_asked
    [failure] = ended(turn, result="hi")
    assert isinstance(failure, TurnFailed)
    assert failure.code is ErrorCode.UNEXPECTED_NATIVE_INTERACTION
    assert failure.details == {"title": "rm -rf /", "kind": "can_use_tool"}
    assert turn.interaction_failure(session_lost=True).session_lost


def test_a_question_is_named_by_the_call_it_is_for() -> None:
    turn = at_work()
    content = [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "rm x"}}]
    turn.take({"type": "assistant", "message": {"id": "m", "content": content}})
    turn.ask("t", "a permission", "", "can_use_tool")
    assert turn.interaction_failure().details["title"] == "rm x"


def test_a_further_message_that_is_withdrawn_after_the_result_lets_the_turn_end() -> None:
    turn = at_work()
    turn.further("more")
    said(turn, "hi")
    turn.take({"type": "result", "terminal_reason": "aborted_streaming", "is_error": True})
    assert phase(turn) == "running"
    turn.cancel_asked = True
    turn.lifecycle("more", "cancelled")
    assert phase(turn) == "answered"
    assert turn.finish() == [TurnCancelled()]


# --- errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [[401], {"code": 401}, "401", True])
def test_a_status_that_is_no_number_means_nothing(status: object) -> None:
    [failure] = ended(at_work(), is_error=True, api_error_status=status, result="no")
    assert isinstance(failure, TurnFailed)
    assert "status" not in failure.details
    assert "authRequired" not in failure.details


@pytest.mark.parametrize(
    ("error", "fields", "flag"),
    [
        ("authentication_failed", {}, "authRequired"),
        ("", {"api_error_status": 401}, "authRequired"),
        ("", {"result": "Not logged in · Please run /login"}, "authRequired"),
        ("rate_limit", {}, "rateLimited"),
        ("", {"api_error_status": 429}, "rateLimited"),
        ("billing_error", {}, "rateLimited"),
    ],
)
def test_sign_in_and_limits_are_told_apart(error: str, fields: dict[str, Any], flag: str) -> None:
    turn = at_work()
    said(turn, "API Error", is_api_error_message=True, error=error)
    [failure] = ended(turn, is_error=True, **{"result": "API Error", **fields})
    assert isinstance(failure, TurnFailed)
    assert failure.code is ErrorCode.AGENT_ERROR
    assert failure.details[flag] is True
    assert not failure.session_lost


def test_when_a_limit_ends_is_told() -> None:
    turn = new_turn()
    info = {"status": "rejected", "resetsAt": 1_800_000_000, "rateLimitType": "five_hour"}
    turn.take({"type": "rate_limit_event", "rate_limit_info": info})
    turn.began()
    [failure] = ended(turn, is_error=True, api_error_status=429, result="limit")
    assert isinstance(failure, TurnFailed)
    assert failure.details["resetsAt"] == 1_800_000_000


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"subtype": "error_max_turns"}, "its limit of model requests"),
        ({"subtype": "error_during_execution", "errors": ["[ede_diagnostic] x", "boom"]}, "boom"),
        ({"subtype": "error_new_kind"}, "error_new_kind"),
        ({"terminal_reason": "odd\x1b[31m"}, "odd␛[31m"),
        ({}, "an error without a text"),
    ],
)
def test_the_most_telling_reason_is_told(result: dict[str, Any], reason: str) -> None:
    [failure] = ended(at_work(), is_error=True, **result)
    assert isinstance(failure, TurnFailed)
    assert reason in failure.message


@pytest.mark.parametrize("state", ["discarded", "refused"])
def test_a_message_that_is_refused_fails_the_turn(state: str) -> None:
    turn = new_turn()
    turn.lifecycle("mine", state)
    assert phase(turn) == "answered"
    failure = turn.finish()[-1]
    assert isinstance(failure, TurnFailed)
    assert f"message_{state}" in failure.message


# --- usage -----------------------------------------------------------------------------------


def test_a_turn_with_two_results_tells_their_sum() -> None:
    turn = at_work()
    turn.further("more")
    turn.take({"type": "result", "usage": {"input_tokens": 1}, "total_cost_usd": 0.25})
    turn.lifecycle("more", "started")
    said(turn, "hi")
    events = ended(turn, result="hi", usage={"input_tokens": 2}, total_cost_usd=0.75)
    last = events[-1]
    assert isinstance(last, TurnCompleted)
    assert (last.usage["inputTokens"], last.usage["costAmount"]) == (3, 0.75)


@pytest.mark.parametrize(
    ("is_new", "results", "cost"),
    [
        (True, [{"total_cost_usd": 0.5}], 0.5),
        (False, [{"total_cost_usd": 0.5}], None),
        (False, [{"total_cost_usd": 0.5}, {"total_cost_usd": 0.75}], 0.25),
        (True, [{"total_cost_usd": 0.5}, {"total_cost_usd": 0.25}], None),
        (
            False,
            [{"total_cost_usd": 9, "model_usage_since_last_result": {"m": {"costUSD": 0.125}}}],
            0.125,
        ),
        (True, [{}], None),
    ],
)
def test_the_cost_of_a_turn_is_what_was_spent_since_the_last_one(
    is_new: bool, results: list[dict[str, Any]], cost: float | None
) -> None:
    book = CostBook(is_new=is_new)
    assert [book.since_last(result) for result in results][-1] == cost


def test_the_context_is_that_of_the_last_request() -> None:
    usage = TurnUsage(CostBook(is_new=True))
    usage.saw_message({"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1})
    usage.saw_message({"input_tokens": 20, "cache_read_input_tokens": 5, "output_tokens": 7})
    usage.saw_message({})
    usage.saw_result({"modelUsage": {"a": {"contextWindow": 100}, "b": {"contextWindow": 200}}})
    assert usage.total() == {"contextUsed": 32, "contextSize": 200}
