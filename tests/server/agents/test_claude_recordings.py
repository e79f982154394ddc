"""Recorded conversations with Claude Code, as our client understands them."""

from __future__ import annotations

import pytest

from groupx_server.domain.native import TurnCancelled, TurnCompleted, TurnFailed
from groupx_shared.errors import ErrorCode
from server.agents.claude_dialogue import RECORDINGS, Played, Player, check_shape

ALL = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))
HELLO = "Hello from the fake model. This text is streamed in small pieces."
EARLY_ENDS = [
    "00-root-without-sandbox",
    "00b-root-dangerously",
    "05c-session-id-again",
    "05e-resume-unknown",
]


def play(name: str) -> Played:
    return Player().play(name)


# --- all recordings --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_every_recorded_turn_has_the_shape_of_a_turn(name: str) -> None:
    played = play(name)
    assert played.stray == []
    for turn in played.turns:
        if turn.is_over:
            check_shape(turn)


@pytest.mark.parametrize("name", ALL)
def test_an_answer_is_told_once(name: str) -> None:
    for turn in play(name).turns:
        if isinstance(turn.events[-1] if turn.events else None, TurnCompleted):
            assert turn.text.count(HELLO) <= 1
            assert turn.text


@pytest.mark.parametrize("name", ALL)
def test_a_recording_that_stops_anywhere_can_be_ended_from_our_side(name: str) -> None:
    for turn in play(name).turns:
        if not turn.is_over:
            ended = turn.turn.fail(TurnFailed(ErrorCode.SESSION_NOT_AVAILABLE, "gone"))
            assert isinstance(ended[-1], TurnFailed)


def test_the_model_is_known_once_a_turn_has_begun() -> None:
    assert play("01-text").model == "claude-opus-5-5"
    assert play("05e-resume-unknown").model == ""


# --- each recording --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["01-text", "05a-session-id", "05d-resume-other-cwd", "05f-fork", "14-bare"]
)
def test_text_is_streamed_and_told_once(name: str) -> None:
    turn = play(name).turns[0]
    assert turn.streamed == turn.text == HELLO
    assert turn.terminal == TurnCompleted(usage=turn.usage)
    assert turn.usage["outputTokens"] == 20
    assert turn.usage["contextSize"] == 1_000_000
    assert turn.usage["costAmount"] == 0.000802


def test_reasoning_is_no_part_of_the_answer() -> None:
    turn = play("02-initialize-reason-tool").turns[0]
    assert turn.reasoning == "I think about the question step by step."
    assert turn.text == "After thinking, the answer is 42."


def test_a_command_is_shown_with_its_output_and_exit_code() -> None:
    turn = play("02-initialize-reason-tool").turns[1]
    [call] = turn.calls
    assert (call.title, call.kind) == ("echo hi; pwd; echo err >&2; exit 3", "execute")
    assert call.status == "failed"
    assert call.content == ({"type": "terminal", "output": "hi\n/workspace\nerr", "exitCode": 3},)
    assert [event.phase for event in turn.progress] == ["started", "updated", "ended"]
    assert turn.usage["totalTokens"] == 260
    assert turn.usage["costAmount"] == 0.001604


def test_interrupts_end_turns_as_cancelled_and_the_next_turn_works() -> None:
    played = play("03-interrupt")
    kinds = [type(turn.terminal) for turn in played.turns]
    assert kinds == [TurnCancelled, TurnCompleted, TurnCancelled, TurnCompleted]
    assert played.turns[0].text == "tick 0 tick 1 tick 2 tick 3 "
    [call] = played.turns[2].calls
    assert call.status == "cancelled"
    assert call.content == ()


def test_a_message_of_somebody_else_during_a_turn_does_not_leak_into_the_next() -> None:
    played = play("04-steer")
    assert played.turns[0].text.startswith("tick 0 tick 1")
    assert HELLO not in played.turns[0].text
    assert played.turns[1].text.startswith("Tool said: cmd-done")
    assert played.turns[2].failure.code is ErrorCode.TURN_INTERRUPTED


def test_a_resumed_session_repeats_nothing() -> None:
    turn = play("05b-resume").turns[0]
    assert turn.text == "Tool said: resumed | last user text: ''"
    assert turn.usage["costAmount"] == 0.001604


@pytest.mark.parametrize("name", EARLY_ENDS)
def test_a_program_that_refuses_to_start_ends_no_turn(name: str) -> None:
    played = play(name)
    assert played.turns[0].events == []
    assert played.stderr


@pytest.mark.parametrize("name", ["06a-default-mode-no-prompt-tool", "06b-can-use-tool"])
def test_a_mode_that_asks_fails_the_turn_as_blocked(name: str) -> None:
    failure = play(name).turns[0].failure
    assert failure.code is ErrorCode.NATIVE_POLICY_BLOCKED
    assert failure.session_lost
    assert "the permission mode default" in failure.message


def test_a_forbidden_mode_is_told_with_its_code() -> None:
    [refused] = play("24-mode-forbidden").refused
    assert refused.method == "set_permission_mode"
    assert refused.data == {"code": "bypass_disabled"}


def test_a_permission_is_denied_with_an_interrupt() -> None:
    replies = play("06b-can-use-tool").replies()
    assert len(replies) == 5
    for reply in replies:
        assert reply["subtype"] == "success"
        assert reply["response"]["behavior"] == "deny"
        assert reply["response"]["interrupt"] is True


def test_a_question_fails_its_turn_and_not_the_next() -> None:
    turns = play("07a-bypass-ask-user").turns
    assert turns[0].failure.code is ErrorCode.UNEXPECTED_NATIVE_INTERACTION
    assert turns[0].failure.details == {"title": "AskUserQuestion", "kind": "can_use_tool"}
    assert not turns[0].failure.session_lost
    assert isinstance(turns[1].terminal, TurnCompleted)


def test_a_question_without_a_way_to_ask_is_a_failed_call() -> None:
    turn = play("07b-bypass-ask-user-no-prompt-tool").turns[0]
    assert isinstance(turn.terminal, TurnCompleted)
    assert turn.calls[0].status == "failed"
    [item] = turn.calls[0].content
    assert item["content"]["text"].startswith("Error: No such tool available")


@pytest.mark.parametrize(
    "name", ["07c-bypass-elicitation", "07d-bypass-elicitation-no-prompt-tool"]
)
def test_a_question_of_a_tool_server_is_cancelled_and_fails_the_turn(name: str) -> None:
    played = play(name)
    failure = played.turns[0].failure
    assert failure.code is ErrorCode.UNEXPECTED_NATIVE_INTERACTION
    assert failure.details == {"title": "Please confirm: really", "kind": "elicitation"}
    assert played.replies()[0]["response"] == {"action": "cancel"}
    assert {"subtype": "interrupt", "cancel_queued": True} in [
        message["request"] for message in played.sent if message["type"] == "control_request"
    ]


@pytest.mark.parametrize("name", ["08-mcp-stdio", "08c-mcp-alwaysload", "09-mcp-http"])
def test_a_tool_of_the_room_is_named_with_its_server(name: str) -> None:
    [call] = play(name).turns[0].calls
    assert (call.title, call.kind, call.status) == ("room: room_say", "other", "completed")
    [item] = call.content
    assert "room heard" in item["content"]["text"]


def test_a_search_for_tools_is_shown_with_what_it_found() -> None:
    [call] = play("08b-mcp-deferred").turns[1].calls
    assert call.kind == "search"
    [item] = call.content
    assert item["content"]["text"] == "mcp__room__room_say"


def test_a_tool_server_that_refuses_is_told() -> None:
    played = play("09b-mcp-http-wrong-token")
    [answer] = played.answers
    assert answer["mcpServers"][0]["status"] == "failed"
    assert isinstance(played.turns[0].terminal, TurnCompleted)


def test_errors_of_the_model_fail_the_turn_with_their_reason_and_the_session_goes_on() -> None:
    turns = play("10-errors").turns
    codes = [400, 401, 429, 500]
    failures = [turn.failure for turn in turns[:4]]
    assert [failure.details["status"] for failure in failures] == codes
    assert {failure.code for failure in failures} == {ErrorCode.AGENT_ERROR}
    assert failures[1].details["authRequired"] is True
    assert failures[2].details["rateLimited"] is True
    assert not any(failure.session_lost for failure in failures)
    assert all(turn.text == "" for turn in turns[:4])
    assert all(isinstance(turn.terminal, TurnCompleted) for turn in turns[4:])


def test_a_retry_is_told_with_its_reason() -> None:
    assert play("10-errors").turns[4].waits == [
        "it tries its model again in 0.6 s (1 of 2): overloaded, HTTP 529"
    ]


def test_what_was_streamed_before_a_retry_is_no_part_of_the_answer() -> None:
    turns = play("10-errors").turns
    assert turns[5].streamed == "partial partial "
    assert [turn.text for turn in turns[5:9]] == ["partial ", "this will be cut off", HELLO, HELLO]
    assert turns[8].terminal.content is None


def test_a_turn_goes_on_after_the_end_of_stdin() -> None:
    assert isinstance(play("11a-stdin-close-mid-turn").turns[0].terminal, TurnCompleted)


def test_a_turn_that_ends_with_its_process_has_no_end_of_its_own() -> None:
    turn = play("11b-sigterm-mid-tool").turns[0]
    assert not turn.is_over
    assert turn.calls[0].content == ({"type": "terminal", "output": "", "exitCode": 137},)


def test_a_turn_that_somebody_else_interrupted_is_no_cancel_of_ours() -> None:
    turn = play("11c-sigint-mid-turn").turns[0]
    assert turn.failure.code is ErrorCode.TURN_INTERRUPTED
    assert turn.text == "tick 0 tick 1 "


def test_an_unknown_request_is_refused_and_nothing_else_happens() -> None:
    played = play("12a-protocol-errors")
    assert [error.data for error in played.refused] == [{"code": "unsupported_request"}]
    assert played.turns[0].text == HELLO


def test_a_line_that_is_no_json_ends_the_program() -> None:
    assert "Error parsing streaming input" in play("12b-bad-json").stderr


def test_an_older_version_works_without_telling_of_messages() -> None:
    turns = play("13-version-2-1-197").turns
    kinds = [type(turn.terminal) for turn in turns]
    assert kinds == [TurnCompleted, TurnCompleted, TurnCancelled, TurnCompleted]
    assert not turns[0].turn.is_tracked
    assert turns[1].usage["costAmount"] == 0.00201


def test_a_further_message_is_answered_in_the_same_turn() -> None:
    first, second = play("20-further-message").turns
    assert first.streamed == f"tick 0 {HELLO}"
    assert first.terminal.content is None
    assert isinstance(first.terminal, TurnCompleted)
    assert second.calls[0].status == "completed"
    assert isinstance(second.terminal, TurnCompleted)


def test_an_interrupt_ends_a_turn_with_a_further_message() -> None:
    [turn] = play("21-further-message-and-interrupt").turns
    assert isinstance(turn.terminal, TurnCancelled)
    assert turn.text == "tick 0 "


def test_what_a_sub_agent_says_is_its_tasks_result_and_not_the_answer() -> None:
    [turn] = play("22-sub-agent").turns
    assert HELLO not in turn.text
    assert turn.calls[0].title == "Task sub"
    assert turn.calls[0].status == "completed"


def test_a_turn_that_nobody_asked_for_is_not_taken_for_ours() -> None:
    first, second = play("23-a-turn-of-its-own").turns
    assert "Command running in background" in first.text
    assert second.text == HELLO
    assert "tick" not in second.streamed


def test_edits_are_shown_as_they_were_made() -> None:
    turns = play("25-edits").turns
    [read], [edit], [write] = (turn.calls for turn in turns[:3])
    assert (read.kind, read.locations) == ("read", ({"path": "/workspace/e.txt"},))
    assert edit.content == (
        {
            "type": "diff",
            "path": "/workspace/e.txt",
            "oldText": "one\ntwo\nthree",
            "newText": "one\nTWO\nthree",
        },
    )
    assert edit.locations == ({"path": "/workspace/e.txt", "line": 1},)
    assert write.content == (
        {"type": "diff", "path": "/workspace/new.txt", "oldText": None, "newText": "a\nb\n"},
    )
    assert turns[4].text.startswith("Estimated cost")  # its own command, when it comes as one


def test_a_plan_is_kept_from_turn_to_turn() -> None:
    turns = play("26-plan-2-1-197").turns
    [first], [second] = turns[0].plans, turns[1].plans
    assert [entry["status"] for entry in first.entries] == ["pending"]
    assert [entry["status"] for entry in second.entries] == ["in_progress"]
    assert turns[2].plans == []
    assert turns[0].calls == []
