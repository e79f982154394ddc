"""What a vendor's habits need, as data of its profile."""

from __future__ import annotations

import re
from typing import Any

import pytest

from groupx_server.agents.acp_tools import AcpToolCalls
from groupx_server.agents.acp_turn import AcpTurn, Quirks, content_text, plan_entries
from groupx_server.agents.acp_usage import usage_of_result, usage_of_update
from groupx_server.agents.jsonrpc import ErrorResponse
from groupx_server.agents.presets import PRESETS
from groupx_server.agents.tool_calls import MAX_TRACKED_CALLS
from groupx_server.domain.native import (
    ContentDelta,
    ReasoningDelta,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
)
from groupx_shared.errors import ErrorCode


def _turn(lost: str = "", aside: str = "", *, lost_on_error: bool = True) -> AcpTurn:
    quirks = Quirks(
        (re.compile(lost),) if lost else (),
        (re.compile(aside),) if aside else (),
        lost_on_error,
    )
    return AcpTurn("Toy", 1, quirks)


def _say(turn: AcpTurn, *texts: str) -> list[Any]:
    events: list[Any] = []
    for text in texts:
        content = {"type": "text", "text": text}
        events += turn.update({"sessionUpdate": "agent_message_chunk", "content": content})
    return events


def test_an_answer_that_is_only_the_words_of_a_broken_session_loses_it() -> None:
    [pattern] = PRESETS["hermes"].options["lost_patterns"]
    turn = _turn(lost=pattern)
    _say(turn, "Queued for the ", "next turn. (1 queued)")
    failure = turn.finish({"stopReason": "end_turn"})[-1]
    assert isinstance(failure, TurnFailed)
    assert failure.code is ErrorCode.SESSION_NOT_AVAILABLE
    assert turn.session_lost


@pytest.mark.parametrize("extra", ["It said: ", "x" * 1_000])
def test_an_answer_that_only_quotes_them_does_not(extra: str) -> None:
    [pattern] = PRESETS["hermes"].options["lost_patterns"]
    turn = _turn(lost=pattern)
    _say(turn, extra, "Queued for the next turn. (1 queued)")
    assert turn.finish({})[-1] == TurnCompleted()


def test_the_programs_own_remarks_are_not_the_answer() -> None:
    turn = _turn(aside="Info: ")
    assert _say(turn, "Info: retrying", "hello")[1:] == [
        ReasoningDelta("Info: retrying"),
        ContentDelta("hello"),
    ]


def test_an_error_after_a_cancel_can_be_declared_harmless() -> None:
    turn = _turn(lost_on_error=False)
    turn.cancel_asked = True
    assert turn.finish(ErrorResponse(1, "session/prompt", -32603, "x"))[-1] == TurnCancelled()
    assert not turn.session_lost


def test_the_protocols_own_cancel_error_is_harmless() -> None:
    turn = _turn()
    turn.cancel_asked = True
    turn.finish(ErrorResponse(1, "session/prompt", -32800, "cancelled"))
    assert not turn.session_lost


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"type": "text", "text": "a"}, "a"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ({"type": "image", "mimeType": "image/png", "data": "…"}, "[image: image/png, damaged]"),
        (
            {
                "type": "image",
                "mimeType": "image/svg+xml",
                "data": "PHN2Zy8+",
                "uri": "file:///a.svg",
            },
            "[image: image/svg+xml, 6 bytes, /a.svg]",
        ),
        ({"type": "resource_link", "name": "n", "uri": "file:///n"}, "[n](file:///n)"),
        ({"type": "resource", "resource": {"text": "inside"}}, "inside"),
        ({"type": "new_thing"}, ""),
        (None, ""),
        ("text", ""),
    ],
)
def test_content_of_every_type_has_a_text(content: Any, text: str) -> None:
    assert content_text(content) == text


def test_a_plan_keeps_only_what_it_should_hold() -> None:
    junk = [{"content": "a", "status": 4}, "b", {"priority": "high"}]
    assert plan_entries(junk) == (
        {"content": "a", "priority": "medium", "status": "pending"},
        {"content": "", "priority": "high", "status": "pending"},
    )
    assert len(plan_entries([{}] * 1_000)) == 200


def test_usage_is_read_in_every_spelling_and_nothing_else() -> None:
    assert usage_of_result({"usage": {"cachedReadTokens": 3, "thoughtTokens": 1.0, "x": 1}}) == {
        "cachedTokens": 3,
        "thoughtTokens": 1,
    }
    told = {"usage": {"inputTokens": 2, "reasoningTokens": 1}, "inputTokens": 9}
    assert usage_of_result({"_meta": told}) == {"inputTokens": 2, "thoughtTokens": 1}
    assert usage_of_result({"usage": {"inputTokens": True, "outputTokens": -1}}) == {}
    assert usage_of_update(
        {"used": 1, "size": "9", "cost": {"amount": 0.5, "currency": "USD" * 9}}
    ) == {"contextUsed": 1, "costAmount": 0.5, "costCurrency": "USDUSDUS"}


def test_a_runaway_agent_does_not_fill_the_memory_with_calls() -> None:
    calls = AcpToolCalls()
    for number in range(MAX_TRACKED_CALLS + 10):
        calls.update({"toolCallId": f"c{number}"})
    assert calls.find("c0") is None
    assert len(calls.end_all("cancelled")) == MAX_TRACKED_CALLS


def test_an_ended_call_is_not_opened_again() -> None:
    calls = AcpToolCalls()
    calls.update({"toolCallId": "c", "status": "completed"})
    [again] = calls.update({"toolCallId": "c", "status": "in_progress", "title": "late"})
    assert (again.phase, again.call.status, again.call.title) == ("ended", "completed", "late")
    assert calls.update({"toolCallId": "c", "title": "late"}) == []
