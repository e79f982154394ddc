"""Recorded conversations with real agents, played against our client."""

from __future__ import annotations

import pytest

from groupx_server.agents.acp_turn import Quirks
from groupx_server.domain.native import (
    PlanUpdated,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    UsageReported,
)
from groupx_shared.errors import ErrorCode
from server.agents.dialogue import RECORDINGS, Player

ALL = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))
HELLO = "Hello from the fake model, this is plain streamed text."


@pytest.mark.parametrize("name", ALL)
def test_every_recorded_turn_starts_once_and_ends_once(name: str) -> None:
    played = Player().play(name)
    assert played.stray == []
    assert played.turns
    for turn in played.turns:
        kinds = [type(event) for event in turn.events]
        assert kinds[0] is TurnStarted
        assert kinds.count(TurnStarted) == 1
        terminals = [k for k in kinds if k in (TurnCompleted, TurnCancelled, TurnFailed)]
        assert terminals == kinds[-1:]


@pytest.mark.parametrize("name", ALL)
def test_every_recorded_tool_call_starts_once_and_ends(name: str) -> None:
    for turn in Player().play(name).turns:
        phases: dict[str, list[str]] = {}
        for tool in turn.tools:
            phases.setdefault(tool.call.call_id, []).append(tool.phase)
        for seen in phases.values():
            assert seen[0] == "started"
            assert seen.count("started") == 1
            assert seen[-1] == "ended"
            assert "updated" not in seen[seen.index("ended") :]


NEWER = ["grok", "goose", "cline"]
"""Recorded with other words: each says hello, thinks, runs a command, is cancelled, and goes on."""


@pytest.mark.parametrize(
    "agent", ["kimi", "hermes", "opencode", "gemini", "qwen", "copilot", *NEWER]
)
def test_a_plain_answer_is_the_streamed_text(agent: str) -> None:
    turn = Player().play(f"{agent}-basic").turns[0]
    assert turn.text == HELLO
    assert isinstance(turn.terminal, TurnCompleted)
    assert turn.terminal.stop_reason == "end_turn"


@pytest.mark.parametrize("agent", ["kimi", "hermes", "opencode", "qwen", "claude", "vibe"])
def test_reasoning_is_kept_apart_from_the_answer(agent: str) -> None:
    turn = Player().play(f"{agent}-basic").turns[1]
    assert turn.text == "Answer after thinking."
    assert turn.reasoning == "First I consider the question. Then I decide."


@pytest.mark.parametrize("agent", NEWER)
def test_a_whole_conversation_is_understood(agent: str) -> None:
    _, thought, worked, cancelled, last = Player().play(f"{agent}-basic").turns
    assert (thought.reasoning, thought.text) == ("First this, then that.", "Thought.")
    assert worked.text.startswith("The tool said:")
    assert "echo hi" in worked.tools[-1].call.title
    assert (worked.tools[0].phase, worked.tools[-1].call.status) == ("started", "completed")
    assert isinstance(cancelled.terminal, TurnCancelled)
    assert cancelled.text == "This goes on and on"
    assert last.text == "Still here."


def test_groks_usage_version_and_tools_are_found_where_it_puts_them() -> None:
    player = Player(Quirks(tools_ready="_x.ai/mcp_initialized"))
    assert not player.client.has_tools("session-1")
    played = player.play("grok-basic")
    assert player.client.has_tools("session-1")
    assert played.capabilities.version == "1.0.41"
    terminal = played.turns[0].terminal
    assert isinstance(terminal, TurnCompleted)
    assert (terminal.usage["inputTokens"], terminal.usage["outputTokens"]) == (11, 4)


def test_geminis_empty_thought_headings_are_dropped() -> None:
    assert "****" not in Player().play("gemini-basic").turns[1].reasoning


def test_a_tool_call_without_a_status_is_in_progress() -> None:
    tools = Player().play("hermes-basic").turns[2].tools
    assert tools[0].call.status == "in_progress"
    assert tools[0].call.title == "terminal: echo hi-from-shell"
    assert tools[-1].call.status == "completed"


def test_the_latest_title_and_late_arguments_replace_the_first() -> None:
    last = Player().play("opencode-basic").turns[2].tools[-1].call
    assert last.title == "echo hi-from-shell"
    assert last.raw_input == {"command": "echo hi-from-shell", "cwd": "/workspace"}
    assert last.content[0]["content"]["text"] == "hi-from-shell\n"


def test_a_plan_is_given_whole() -> None:
    plans = [
        event
        for turn in Player().play("hermes-basic").turns
        for event in turn.events
        if isinstance(event, PlanUpdated)
    ]
    assert [entry["content"] for entry in plans[-1].entries] == ["step content", "second step"]


@pytest.mark.parametrize(
    ("name", "usage"),
    [
        ("gemini-basic", {"inputTokens": 11, "outputTokens": 7}),
        ("opencode-basic", {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18}),
    ],
)
def test_usage_of_the_result_is_in_our_spelling(name: str, usage: dict[str, int]) -> None:
    terminal = Player().play(name).turns[0].terminal
    assert isinstance(terminal, TurnCompleted)
    assert terminal.usage == usage


def test_usage_that_comes_after_the_answer_still_belongs_to_the_turn() -> None:
    events = Player().play("kimi-basic").turns[0].events
    assert isinstance(events[-2], UsageReported)
    assert events[-2].usage == {"contextUsed": 18, "contextSize": 262144}


def test_qwens_usage_on_an_empty_chunk_is_found() -> None:
    events = Player().play("qwen-basic").turns[0].events
    usages = [event.usage for event in events if isinstance(event, UsageReported)]
    assert usages[-1]["totalTokens"] == 18


def test_an_end_without_a_word_is_a_failure() -> None:
    failure = Player().play("kimi-errors").turns[0].failure
    assert failure.code is ErrorCode.EMPTY_ANSWER
    assert not failure.session_lost


@pytest.mark.parametrize("name", ["kimi-errors", "gemini-errors", "claude-noauth", "vibe-errors"])
def test_a_missing_login_says_so(name: str) -> None:
    failure = Player().play(name).turns[-1].failure
    assert failure.code is ErrorCode.AGENT_ERROR
    assert failure.details["authRequired"] is True
    assert "signed in" in failure.message


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("opencode-errors", "fake error 400"),
        ("gemini-errors", "fake error 400"),
        ("codex-errors", "fake error 400"),
        ("claude-errors", "API Error: 400 fake error 400"),
    ],
)
def test_the_real_reason_is_dug_out_of_the_error(name: str, reason: str) -> None:
    failure = Player().play(name).turns[0].failure
    assert failure.details["reason"] == reason
    assert failure.message == f"the agent reported an error: {reason}."


@pytest.mark.parametrize(
    "name", ["kimi-cancel", "gemini-cancel", "claude-cancel", "codex-cancel", "opencode-cancel"]
)
def test_a_cancel_is_confirmed_and_the_next_prompt_works(name: str) -> None:
    turns = Player().play(name).turns
    assert turns[0].terminal == TurnCancelled()
    assert not turns[0].turn.session_lost
    assert all(isinstance(turn.terminal, TurnCompleted) for turn in turns[1:])


def test_an_error_instead_of_cancelled_is_a_cancel_that_loses_the_session() -> None:
    turn = Player().play("hermes-cancelstuck").turns[0]
    assert turn.terminal == TurnCancelled()
    assert turn.turn.session_lost
    assert turn.tools[-1].call.status == "cancelled"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("kimi-perm", "Bash"),
        ("hermes-perm", "Approve edit: /workspace/w-rejected.txt"),
        ("gemini-perm", "touch perm-cancelled.txt"),
        ("vibe-perm", "bash: touch perm-cancelled.txt"),
    ],
)
def test_a_permission_request_is_refused_and_fails_the_turn(name: str, title: str) -> None:
    failure = Player().play(name).turns[0].failure
    assert failure.code is ErrorCode.UNEXPECTED_NATIVE_INTERACTION
    assert failure.details["title"] == title
    assert set(failure.details) == {"title", "kind"}
    assert not failure.session_lost


@pytest.mark.parametrize("name", ["gemini-load", "codex-load", "copilot-load", "hermes-resume"])
def test_a_replay_is_swallowed_until_our_own_prompt(name: str) -> None:
    played = Player().play(name)
    assert len(played.turns) == 1
    assert "I saw" in played.turns[0].text
    assert played.turns[0].tools == []
    assert played.facts.modes


def test_unknown_requests_of_a_vendor_are_refused_and_it_carries_on() -> None:
    assert "craft/drainMidTurnQueue" in (RECORDINGS / "qwen-basic.jsonl").read_text("utf-8")
    assert "FINAL after tool" in Player().play("qwen-basic").turns[2].text
