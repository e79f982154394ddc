"""Recorded conversations with real agents, played against our client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.agents.acp import AcpClient
from groupx_server.agents.acp_turn import Quirks
from groupx_server.agents.signals import (
    Activity,
    CallEnded,
    InteractionRefused,
    PromptAnswered,
)
from groupx_server.domain.native import (
    PlanUpdated,
    ToolProgress,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    UsageReported,
)
from groupx_shared.errors import AgentError, ErrorCode
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


# --- our own small conversations -------------------------------------------------------------


class Talk:
    """A client with one open session `s`."""

    def __init__(self) -> None:
        self.client = AcpClient("Toy")
        self.client.adopt("s")

    def update(self, session_id: str = "s", **update: Any) -> list[Any]:
        params = {"sessionId": session_id, "update": update}
        return self.receive({"method": "session/update", "params": params})

    def receive(self, message: Any) -> list[Any]:
        return list(self.client.receive(json.dumps(message).encode()))

    def sent(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.client.data_to_send().splitlines()]

    def end(self, result: Any = None) -> list[Any]:
        [sent] = [m for m in self.sent() if m.get("method") == "session/prompt"]
        answer = {"stopReason": "end_turn"} if result is None else result
        assert self.receive({"id": sent["id"], "result": answer}) == [PromptAnswered("s")]
        return list(self.client.finish("s"))


def _text(text: str) -> dict[str, Any]:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


def test_a_second_prompt_in_one_session_is_refused() -> None:
    talk = Talk()
    talk.client.prompt("s", "one")
    with pytest.raises(AgentError, match="already has a turn"):
        talk.client.prompt("s", "two")
    assert [m["method"] for m in talk.sent()] == ["session/prompt"]


def test_two_sessions_of_one_process_do_not_mix() -> None:
    talk = Talk()
    talk.client.adopt("t")
    talk.client.prompt("s", "one")
    talk.client.prompt("t", "two")
    first = talk.update("t", **_text("for t"))[0]
    second = talk.update("s", **_text("for s"))[0]
    assert (first.session_id, first.events[-1].text) == ("t", "for t")
    assert (second.session_id, second.events[-1].text) == ("s", "for s")
    assert talk.update("unknown", **_text("x")) == []


def test_notices_of_the_session_do_not_prove_that_the_prompt_arrived() -> None:
    talk = Talk()
    turn = talk.client.prompt("s", "hi")
    assert talk.update(sessionUpdate="available_commands_update") == [Activity("s")]
    assert talk.update(sessionUpdate="usage_update", used=3, size=9) == [Activity("s")]
    assert not turn.has_started
    [proof] = talk.update(**_text("hi"))
    assert [type(event) for event in proof.events[:2]] == [TurnStarted, UsageReported]


def test_text_after_the_end_belongs_to_no_turn() -> None:
    talk = Talk()
    talk.client.prompt("s", "hi")
    talk.update(**_text("answer"))
    talk.end()
    assert talk.update(**_text("late")) == [Activity("s")]


def test_cancel_goes_out_once_and_only_for_a_turn() -> None:
    talk = Talk()
    talk.client.cancel("s")
    assert talk.sent() == []
    talk.client.prompt("s", "hi")
    talk.client.cancel("s")
    talk.client.cancel("s")
    assert [m["method"] for m in talk.sent()] == ["session/prompt", "session/cancel"]


def test_a_permission_is_answered_before_the_cancel_goes_out() -> None:
    talk = Talk()
    talk.client.prompt("s", "hi")
    talk.sent()
    events = talk.receive(
        {
            "id": 0,
            "method": "session/request_permission",
            "params": {"sessionId": "s", "toolCall": {"toolCallId": "c", "title": "rm -rf /"}},
        }
    )
    assert events[-1] == InteractionRefused("s")
    answer, cancel = talk.sent()
    assert answer["id"] == 0
    assert cancel["method"] == "session/cancel"


def test_a_permission_without_a_turn_is_only_refused() -> None:
    talk = Talk()
    params = {"sessionId": "s", "toolCall": None}
    assert talk.receive({"id": 5, "method": "session/request_permission", "params": params}) == []
    assert [m.get("id") for m in talk.sent()] == [5]


@pytest.mark.parametrize("method", ["fs/read_text_file", "terminal/create", "vendor/thing"])
def test_other_requests_of_the_agent_are_refused_and_count_as_activity(method: str) -> None:
    talk = Talk()
    talk.client.prompt("s", "hi")
    talk.sent()
    request = {"id": "x", "method": method, "params": {"sessionId": "s"}}
    assert talk.receive(request) == [Activity("s")]
    [answer] = talk.sent()
    assert (answer["id"], answer["error"]["code"]) == ("x", -32601)


@pytest.mark.parametrize("stop", ["refusal", "max_tokens", "max_turn_requests", "vendor_thing"])
def test_an_unusual_stop_reason_with_text_is_completed_and_kept(stop: str) -> None:
    talk = Talk()
    talk.client.prompt("s", "hi")
    talk.update(**_text("part of an answer"))
    assert talk.end({"stopReason": stop})[-1] == TurnCompleted(stop_reason=stop)


@pytest.mark.parametrize(
    ("stop", "code"),
    [("refusal", ErrorCode.AGENT_ERROR), ("max_tokens", ErrorCode.EMPTY_ANSWER)],
)
def test_an_unusual_stop_reason_without_text_is_a_failure(stop: str, code: ErrorCode) -> None:
    talk = Talk()
    talk.client.prompt("s", "hi")
    failure = talk.end({"stopReason": stop})[-1]
    assert isinstance(failure, TurnFailed)
    assert failure.code is code
    assert failure.details == {"stopReason": stop}


def test_a_cancel_that_nobody_asked_for_is_a_failure() -> None:
    talk = Talk()
    talk.client.prompt("s", "hi")
    failure = talk.end({"stopReason": "cancelled"})[-1]
    assert isinstance(failure, TurnFailed)
    assert failure.code is ErrorCode.TURN_INTERRUPTED


def test_an_end_after_our_cancel_without_text_is_a_cancel() -> None:
    talk = Talk()
    talk.client.prompt("s", "hi")
    talk.client.cancel("s")
    assert talk.end()[-1] == TurnCancelled()


def test_a_session_that_is_gone_is_lost() -> None:
    talk = Talk()
    turn = talk.client.prompt("s", "hi")
    error = {"code": -32602, "message": "Session not found: s"}
    assert talk.receive({"id": 1, "error": error}) == [PromptAnswered("s")]
    failure = talk.client.finish("s")[-1]
    assert isinstance(failure, TurnFailed)
    assert failure.code is ErrorCode.SESSION_NOT_AVAILABLE
    assert failure.session_lost
    assert turn.session_lost


def test_an_update_for_an_unknown_call_creates_it() -> None:
    talk = Talk()
    talk.client.prompt("s", "hi")
    [seen] = talk.update(sessionUpdate="tool_call_update", toolCallId="c", status="completed")
    progress = [event for event in seen.events if isinstance(event, ToolProgress)]
    assert [(p.phase, p.call.status) for p in progress] == [
        ("started", "in_progress"),
        ("ended", "completed"),
    ]


def test_vendor_data_is_the_content_of_a_call_that_has_no_other() -> None:
    talk = Talk()
    talk.client.prompt("s", "hi")
    [seen] = talk.update(
        sessionUpdate="tool_call_update",
        toolCallId="c",
        status="failed",
        rawOutput={"stdout": "boom"},
    )
    assert seen.events[-1].call.content[0]["content"]["text"] == "boom"


def test_a_prompt_with_a_lone_surrogate_can_be_sent() -> None:
    talk = Talk()
    talk.client.prompt("s", "a\ud800b")
    assert talk.sent()[0]["params"]["prompt"][0]["text"] == "a?b"


def test_meta_is_sent_and_never_read_as_fields() -> None:
    client = AcpClient("Toy")
    client.open_session("session/new", Path("/w"), [], meta={"x": 1})
    assert json.loads(client.data_to_send())["params"]["_meta"] == {"x": 1}
    talk = Talk()
    talk.client.prompt("s", "hi")
    assert talk.update(_meta={"update": 5, "sessionId": "t"}, **_text("ok"))[0].session_id == "s"


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4) | st.just("s"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
_UPDATE = st.fixed_dictionaries(
    {
        "sessionUpdate": st.sampled_from(
            [
                "agent_message_chunk",
                "agent_thought_chunk",
                "user_message_chunk",
                "tool_call",
                "tool_call_update",
                "plan",
                "usage_update",
                "anything",
            ]
        )
        | _VALUES
    },
    optional=dict.fromkeys(
        (
            "content",
            "toolCallId",
            "status",
            "title",
            "kind",
            "rawInput",
            "rawOutput",
            "locations",
            "entries",
            "used",
            "size",
            "cost",
            "messageId",
            "_meta",
        ),
        _VALUES,
    ),
)
_MESSAGES = st.one_of(
    st.builds(
        lambda u: {"method": "session/update", "params": {"sessionId": "s", "update": u}}, _UPDATE
    ),
    st.builds(lambda p: {"method": "session/update", "params": p}, _VALUES),
    st.builds(
        lambda c, i: {
            "id": i,
            "method": "session/request_permission",
            "params": {"sessionId": "s", "toolCall": c},
        },
        _VALUES,
        _VALUES,
    ),
    st.builds(lambda r: {"id": 1, "result": r}, _VALUES | st.just({"stopReason": "end_turn"})),
    st.builds(lambda e: {"id": 1, "error": e}, _VALUES),
)


@pytest.mark.slow
@given(st.lists(_MESSAGES, max_size=12))
def test_no_field_of_any_type_breaks_a_turn(messages: list[Any]) -> None:
    talk = Talk()
    talk.client.prompt("s", "hi")
    for message in messages:
        for event in talk.receive(message):
            if isinstance(event, PromptAnswered):
                ended = talk.client.finish("s")
                assert isinstance(ended[-1], TurnCompleted | TurnCancelled | TurnFailed)
            else:
                assert not isinstance(event, CallEnded)
