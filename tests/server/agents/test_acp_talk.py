"""Small conversations with our ACP client, and hostile ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.agents.acp import AcpClient
from groupx_server.agents.signals import (
    Activity,
    CallEnded,
    InteractionRefused,
    PromptAnswered,
)
from groupx_server.domain.native import (
    ToolProgress,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    UsageReported,
)
from groupx_shared.errors import AgentError, ErrorCode


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
