"""Our end of the conversation with Claude Code, and what it may say at its worst."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.agents.claude import ClaudeClient
from groupx_server.agents.jsonrpc import ErrorResponse, Noise
from groupx_server.agents.signals import Activity, CallEnded, InteractionRefused, PromptAnswered
from groupx_server.domain.native import ContentDelta, TurnCancelled, TurnCompleted, TurnFailed
from groupx_shared.errors import AgentError, ErrorCode
from server.agents.claude_dialogue import RECORDINGS

ALL = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))


class Wire:
    """A client and what it sent."""

    def __init__(self) -> None:
        self.client = ClaudeClient("s", Path("/w"), is_new=True)

    def sent(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.client.data_to_send().splitlines()]

    def hear(self, **message: Any) -> list[Any]:
        return list(self.client.receive(json.dumps(message).encode()))

    def begin(self, text: str = "hi") -> str:
        """Send a message that Claude Code works on; returns its id."""
        self.client.prompt("s", text)
        message_id: str = self.sent()[-1]["uuid"]
        self.lifecycle(message_id, "queued")
        self.lifecycle(message_id, "started")
        self.hear(
            type="system",
            subtype="init",
            session_id="s",
            cwd="/w",
            permissionMode="bypassPermissions",
        )
        return message_id

    def lifecycle(self, message_id: str, state: str) -> list[Any]:
        return self.hear(type="command_lifecycle", command_uuid=message_id, state=state)


def test_a_message_that_looks_like_a_command_is_sent_as_words() -> None:
    wire = Wire()
    wire.client.prompt("s", "/clear")
    assert wire.sent()[0]["message"]["content"] == [{"type": "text", "text": " /clear"}]


def test_a_lone_surrogate_is_sent_as_a_replacement() -> None:
    wire = Wire()
    wire.client.prompt("s", "a\ud800b")
    assert wire.sent()[0]["message"]["content"][0]["text"] == "a?b"


def test_one_message_at_a_time_and_only_in_this_session() -> None:
    wire = Wire()
    wire.client.prompt("s", "one")
    for session in ("s", "other"):
        with pytest.raises(AgentError) as refused:
            wire.client.prompt(session, "two")
        assert refused.value.code is ErrorCode.SESSION_NOT_AVAILABLE


def test_an_interrupt_is_not_repeated_before_it_was_answered() -> None:
    wire = Wire()
    wire.begin()
    wire.client.cancel("s")
    wire.client.cancel("s")
    [interrupt] = wire.sent()
    assert interrupt["request"] == {"subtype": "interrupt", "cancel_queued": True}
    wire.hear(
        type="control_response",
        response={"subtype": "success", "request_id": interrupt["request_id"], "response": {}},
    )
    wire.client.cancel("s")
    assert len(wire.sent()) == 1


def test_without_a_turn_there_is_nothing_to_cancel_or_to_finish() -> None:
    wire = Wire()
    wire.client.cancel("s")
    assert wire.sent() == []
    assert wire.client.finish("s") == []


def test_a_cancel_that_comes_before_the_turn_begins_is_asked_again_when_it_does() -> None:
    wire = Wire()
    wire.client.prompt("s", "hi")
    message_id = wire.sent()[0]["uuid"]
    wire.lifecycle(message_id, "queued")
    wire.client.cancel("s")
    [first] = wire.sent()
    answer = {"subtype": "success", "request_id": first["request_id"], "response": {}}
    wire.hear(type="control_response", response=answer)
    wire.lifecycle(message_id, "started")
    assert [message["request"]["subtype"] for message in wire.sent()] == ["interrupt"]


def test_a_turn_of_its_own_that_crosses_our_message_is_not_taken_for_ours() -> None:
    wire = Wire()
    wire.begin()
    wire.hear(type="result", subtype="success", result="one")
    wire.client.finish("s")
    wire.client.prompt("s", "two")
    message_id = wire.sent()[-1]["uuid"]
    wire.hear(type="system", subtype="init", session_id="s", cwd="/w")
    own = wire.hear(type="result", subtype="success", result="not asked for")
    assert own == [Activity("s")]
    wire.lifecycle(message_id, "queued")
    wire.lifecycle(message_id, "started")
    ended = wire.hear(type="result", subtype="success", result="two")
    assert PromptAnswered("s") in ended


def test_a_message_that_was_withdrawn_before_its_turn_is_a_cancelled_turn() -> None:
    wire = Wire()
    wire.client.prompt("s", "hi")
    message_id = wire.sent()[0]["uuid"]
    wire.lifecycle(message_id, "queued")
    wire.client.cancel("s")
    assert PromptAnswered("s") in wire.lifecycle(message_id, "cancelled")
    assert wire.client.finish("s")[-1] == TurnCancelled()


def test_a_further_message_goes_beside_a_running_tool_else_in_the_middle() -> None:
    wire = Wire()
    wire.begin()
    call_id = wire.client.steer("more")
    [urgent] = wire.sent()
    assert urgent["priority"] == "now"
    assert CallEnded(call_id or 0, "queued") in wire.lifecycle(urgent["uuid"], "queued")
    wire.hear(
        type="assistant",
        message={"id": "m", "content": [{"type": "tool_use", "id": "t", "name": "Bash"}]},
    )
    assert wire.client.steer("and more") is not None
    assert wire.sent()[0]["priority"] == "next"


def test_a_turn_does_not_end_while_a_further_message_waits() -> None:
    wire = Wire()
    wire.begin()
    wire.client.steer("more")
    further = wire.sent()[0]["uuid"]
    wire.lifecycle(further, "queued")
    assert PromptAnswered("s") not in wire.hear(type="result", terminal_reason="aborted_streaming")
    wire.lifecycle(further, "started")
    assert PromptAnswered("s") in wire.hear(type="result", result="both")
    assert wire.client.finish("s")[-1] == TurnCompleted()


def test_a_further_message_that_nobody_heard_of_is_not_waited_for() -> None:
    wire = Wire()
    wire.begin()
    call_id = wire.client.steer("more")
    assert call_id is not None
    wire.client.abandon(call_id)
    assert PromptAnswered("s") in wire.hear(type="result", result="one")


@pytest.mark.parametrize("prepare", ["idle", "sent", "cancelled"])
def test_a_turn_that_is_not_at_work_takes_no_further_message(prepare: str) -> None:
    wire = Wire()
    if prepare == "sent":
        wire.client.prompt("s", "hi")
    if prepare == "cancelled":
        wire.begin()
        wire.client.cancel("s")
    assert wire.client.steer("more") is None


@pytest.mark.parametrize(
    ("subtype", "answer"),
    [
        ("can_use_tool", {"behavior": "deny"}),
        ("elicitation", {"action": "cancel"}),
        ("request_user_dialog", {"behavior": "cancelled"}),
    ],
)
def test_a_question_is_answered_at_once_and_fails_the_turn(
    subtype: str, answer: dict[str, Any]
) -> None:
    wire = Wire()
    wire.begin()
    signals = wire.hear(type="control_request", request_id="q", request={"subtype": subtype})
    assert InteractionRefused("s") in signals
    reply, interrupt = wire.sent()
    assert reply["response"]["request_id"] == "q"
    assert reply["response"]["response"].items() >= answer.items()
    assert interrupt["request"]["subtype"] == "interrupt"
    wire.hear(type="result", is_error=True, terminal_reason="aborted_tools")
    failure = wire.client.finish("s")[-1]
    assert isinstance(failure, TurnFailed)
    assert failure.code is ErrorCode.UNEXPECTED_NATIVE_INTERACTION


def test_a_question_of_an_unknown_kind_is_refused_and_fails_the_turn() -> None:
    wire = Wire()
    wire.begin()
    signals = wire.hear(type="control_request", request_id="q", request={"subtype": "vote"})
    assert InteractionRefused("s") in signals
    assert wire.sent()[0]["response"]["subtype"] == "error"
    wire.hear(type="result", is_error=True, terminal_reason="aborted_streaming")
    failure = wire.client.finish("s")[-1]
    assert isinstance(failure, TurnFailed)
    assert "something unknown, vote" in failure.message


@pytest.mark.parametrize("request_id", ["q", 7, None, {"a": 1}])
def test_what_a_host_may_offer_is_refused_and_the_turn_goes_on(request_id: Any) -> None:
    wire = Wire()
    wire.begin()
    request = {"subtype": "mcp_message"}
    signals = wire.hear(type="control_request", request_id=request_id, request=request)
    assert signals == [Activity("s")]
    [reply] = wire.sent()
    assert reply["response"]["subtype"] == "error"
    assert reply["response"]["request_id"] == request_id


def test_a_question_outside_a_turn_is_answered_too() -> None:
    wire = Wire()
    request = {"subtype": "elicitation"}
    assert wire.hear(type="control_request", request_id="q", request=request) == [Activity("s")]
    assert len(wire.sent()) == 1


def test_another_session_or_folder_than_asked_for_loses_the_session() -> None:
    for wrong in ({"session_id": "x", "cwd": "/w"}, {"session_id": "s", "cwd": "/x"}):
        wire = Wire()
        wire.client.prompt("s", "hi")
        signals = wire.hear(
            type="system", subtype="init", permissionMode="bypassPermissions", **wrong
        )
        assert InteractionRefused("s") in signals
        wire.hear(type="result", is_error=True, terminal_reason="aborted_streaming")
        failure = wire.client.finish("s")[-1]
        assert isinstance(failure, TurnFailed)
        assert failure.code is ErrorCode.PROTOCOL_INVALID_MESSAGE
        assert failure.session_lost


def test_a_folder_that_changes_later_is_the_agents_own_affair() -> None:
    wire = Wire()
    wire.begin()
    wire.hear(type="result", result="one")
    wire.client.finish("s")
    wire.client.prompt("s", "two")
    init = {"session_id": "s", "cwd": "/w/sub", "permissionMode": "bypassPermissions"}
    assert InteractionRefused("s") not in wire.hear(type="system", subtype="init", **init)


def test_a_mode_that_the_model_changed_is_set_back_before_the_next_message() -> None:
    wire = Wire()
    wire.begin()
    wire.hear(type="system", subtype="status", permissionMode="plan")
    wire.hear(type="result", result="planned")
    wire.client.finish("s")
    wire.client.prompt("s", "go on")
    mode, message = wire.sent()
    assert mode["request"] == {"subtype": "set_permission_mode", "mode": "bypassPermissions"}
    assert message["type"] == "user"


def test_the_reason_of_a_refused_mode_is_told() -> None:
    wire = Wire()
    call_id = wire.client.request("set_permission_mode", mode="bypassPermissions")
    error = {"subtype": "error", "request_id": f"groupx-{call_id}", "error": "no way"}
    [ended, _] = wire.hear(type="control_response", response=error)
    assert isinstance(ended.answer, ErrorResponse)
    wire.client.prompt("s", "hi")
    wire.hear(type="system", subtype="init", session_id="s", cwd="/w", permissionMode="default")
    wire.hear(type="result", is_error=True)
    failure = wire.client.finish("s")[-1]
    assert isinstance(failure, TurnFailed)
    assert failure.code is ErrorCode.NATIVE_POLICY_BLOCKED
    assert "no way" in failure.message


@pytest.mark.parametrize("line", [b"", b"no", b"[1]", b"7", b"{}", b'{"type": 3}', b"\xff\xfe"])
def test_a_line_that_is_no_message_is_noise(line: bytes) -> None:
    [signal] = ClaudeClient("s", Path("/w"), is_new=True).receive(line)
    assert isinstance(signal, Noise)


def test_an_answer_to_nothing_is_noise() -> None:
    for request_id in ("groupx-9", "req", "", None, 3):
        [signal] = Wire().hear(
            type="control_response", response={"subtype": "success", "request_id": request_id}
        )
        assert isinstance(signal, Noise)


# --- hostile ---------------------------------------------------------------------------------

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
_WORDS = st.sampled_from(
    [
        "system", "init", "assistant", "user", "result", "stream_event", "control_request",
        "control_response", "command_lifecycle", "rate_limit_event", "message_start",
        "content_block_start", "content_block_delta", "content_block_stop", "text_delta",
        "thinking_delta", "input_json_delta", "text", "thinking", "tool_use", "tool_result",
        "can_use_tool", "elicitation", "interrupt", "started", "queued", "cancelled", "Bash",
        "Edit", "MultiEdit", "Write", "TodoWrite", "TaskCreate", "TaskUpdate", "api_retry",
        "status", "success", "error", "aborted_tools", "bypassPermissions", "plan", "groupx-1",
    ]
)  # fmt: skip
_KEYS = st.sampled_from(
    [
        "type", "subtype", "event", "message", "content", "content_block", "delta", "index", "id",
        "name", "input", "text", "thinking", "partial_json", "tool_use_id", "is_error", "request",
        "request_id", "response", "command_uuid", "state", "usage", "result", "terminal_reason",
        "total_cost_usd", "modelUsage", "model_usage_since_last_result", "errors", "todos",
        "edits", "tool_use_result", "structuredPatch", "lines", "filePath", "file_path",
        "permissionMode", "session_id", "cwd", "parent_tool_use_id", "tool_result_meta", "uuid",
        "rate_limit_info", "resetsAt", "error_status", "retry_delay_ms", "stop_reason",
    ]
)  # fmt: skip
_JSON = st.recursive(
    _SCALARS | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=8,
)
_MESSAGES = st.dictionaries(_KEYS, _JSON, max_size=5).map(
    lambda message: {"type": "assistant", **message}
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(_MESSAGES | st.binary(max_size=40), max_size=5), st.booleans())
def test_nothing_that_it_says_raises(messages: list[Any], running: bool) -> None:
    wire = Wire()
    if running:
        wire.begin()
    for message in messages:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        for signal in wire.client.receive(line):
            if isinstance(signal, PromptAnswered):
                ended = wire.client.finish("s")
                assert sum(isinstance(e, TurnCompleted | TurnCancelled | TurnFailed) for e in ended)
    wire.client.data_to_send()


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.sampled_from(ALL), st.data())
def test_a_recording_with_broken_lines_never_raises(name: str, data: st.DataObject) -> None:
    lines = (RECORDINGS / f"{name}.jsonl").read_bytes().splitlines()
    told = [json.loads(line)["msg"] for line in lines if json.loads(line)["from"] == "agent"]
    wire = Wire()
    wire.client.prompt("s", "hi")
    terminals = 0
    for message in told:
        line = json.dumps(message).encode()
        if data.draw(st.integers(0, 9)) == 0:
            cut = data.draw(st.integers(0, len(line)))
            line = line[:cut] + data.draw(st.binary(max_size=3)) + line[cut + 1 :]
        for signal in wire.client.receive(line):
            if isinstance(signal, PromptAnswered):
                terminals += isinstance(
                    wire.client.finish("s")[-1], TurnCompleted | TurnCancelled | TurnFailed
                )
    assert terminals <= 1


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=6), min_size=1, max_size=8), st.booleans())
def test_however_a_text_is_cut_it_is_told_once(pieces: list[str], is_streamed: bool) -> None:
    wire = Wire()
    wire.begin()
    text = "".join(pieces)
    events: list[Any] = []

    def say(**message: Any) -> None:
        for signal in wire.hear(**message):
            events.extend(getattr(signal, "events", ()))

    if is_streamed:
        say(type="stream_event", event={"type": "message_start", "message": {"id": "m"}})
        block = {"type": "text", "text": ""}
        start = {"type": "content_block_start", "index": 0, "content_block": block}
        say(type="stream_event", event=start)
        for piece in pieces:
            delta = {"type": "text_delta", "text": piece}
            say(
                type="stream_event",
                event={"type": "content_block_delta", "index": 0, "delta": delta},
            )
    say(type="assistant", message={"id": "m", "content": [{"type": "text", "text": text}]})
    told = "".join(event.text for event in events if isinstance(event, ContentDelta))
    assert told == text
