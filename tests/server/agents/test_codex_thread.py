"""The order of things in a Codex turn: starts, interrupts, ends, as they may cross."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents.codex_requests import Question
from groupx_server.agents.codex_thread import CodexThread
from groupx_server.agents.jsonrpc import ErrorResponse
from groupx_server.agents.signals import Activity, InteractionRefused, PromptAnswered
from groupx_server.domain.native import (
    NativeEvent,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
)
from groupx_shared.errors import AgentError, ErrorCode

NO_TURN = ErrorResponse(0, "turn/interrupt", -32600, "no active turn to interrupt")
COMMAND = {"type": "commandExecution", "id": "c", "command": "sleep 9", "status": "inProgress"}


class Desk:
    """A thread with its outbox."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.thread = CodexThread("t", self._call)
        self.signals: list[Any] = []

    def _call(self, method: str, params: dict[str, Any]) -> int:
        self.sent.append((method, params))
        return len(self.sent)

    def prompt(self) -> None:
        self.thread.prompt("Codex", "hi")

    def running(self) -> Desk:
        self.prompt()
        self.answer("turn/start", {"turn": {"id": "1"}})
        self.say("turn/started", turn={"id": "1"})
        return self

    def answer(self, method: str, answer: Any) -> list[Any]:
        call_id = max(n for n, (sent, _) in enumerate(self.sent, 1) if sent == method)
        return self._keep(self.thread.answered(call_id, answer))

    def say(self, method: str, turn_id: str = "1", **params: Any) -> list[Any]:
        return self._keep(self.thread.notified(method, {"turnId": turn_id, **params}))

    def complete(self, status: str = "completed") -> list[Any]:
        return self.say("turn/completed", turn={"id": "1", "status": status})

    def _keep(self, signals: list[Any]) -> list[Any]:
        self.signals += signals
        return signals

    @property
    def methods(self) -> list[str]:
        return [method for method, _ in self.sent]

    def is_over(self) -> bool:
        return PromptAnswered("t") in self.signals

    @property
    def events(self) -> list[NativeEvent]:
        return [e for s in self.signals if isinstance(s, Activity) for e in s.events]


def test_the_answer_to_the_prompt_starts_the_turn() -> None:
    desk = Desk().running()
    assert desk.events == [TurnStarted("1")]
    assert desk.sent[0] == (
        "turn/start",
        {"threadId": "t", "input": [{"type": "text", "text": "hi"}]},
    )


def test_a_turn_that_is_told_before_its_answer_starts_once() -> None:
    desk = Desk()
    desk.prompt()
    desk.say("turn/started", turn={"id": "1"})
    desk.answer("turn/start", {"turn": {"id": "1"}})
    assert desk.events == [TurnStarted("1")]


def test_a_second_prompt_is_refused_while_a_turn_is_in_flight() -> None:
    desk = Desk().running()
    with pytest.raises(AgentError) as refused:
        desk.prompt()
    assert refused.value.code is ErrorCode.SESSION_NOT_AVAILABLE
    desk.complete()
    with pytest.raises(AgentError):
        desk.prompt()
    desk.thread.finish(None)
    desk.prompt()


def test_only_the_turns_own_end_ends_it() -> None:
    desk = Desk().running()
    desk.say("error", error={"message": "gone"}, willRetry=False)
    desk.say("thread/status/changed", status={"type": "idle"})
    desk.say("turn/completed", turn={"id": "other", "status": "completed"})
    desk.say("item/completed", item=COMMAND)
    assert not desk.is_over()
    desk.complete("failed")
    assert desk.is_over()
    failure = desk.thread.finish(None)[-1]
    assert isinstance(failure, TurnFailed)
    assert failure.details["reason"] == "gone"


def test_an_older_turn_still_speaking_changes_nothing() -> None:
    desk = Desk().running()
    before = len(desk.events)
    desk.say("item/agentMessage/delta", "0", itemId="m", delta="late")
    assert len(desk.events) == before
    assert desk.signals[-1] == Activity("t")


def test_an_interrupt_waits_for_the_id_of_the_turn() -> None:
    desk = Desk()
    desk.prompt()
    desk.thread.cancel()
    assert desk.methods == ["turn/start"]
    desk.answer("turn/start", {"turn": {"id": "1"}})
    assert desk.sent[1] == ("turn/interrupt", {"threadId": "t", "turnId": "1"})
    desk.say("turn/started", turn={"id": "1"})
    desk.thread.cancel()
    assert desk.methods.count("turn/interrupt") == 1


def test_an_interrupt_that_came_too_early_is_sent_again() -> None:
    desk = Desk()
    desk.prompt()
    desk.answer("turn/start", {"turn": {"id": "1"}})
    desk.thread.cancel()
    desk.answer("turn/interrupt", NO_TURN)
    assert not desk.is_over()
    desk.say("turn/started", turn={"id": "1"})
    assert desk.methods.count("turn/interrupt") == 2
    desk.answer("turn/interrupt", {})
    desk.complete("interrupted")
    assert desk.thread.finish(None)[-1] == TurnCancelled()


def test_no_active_turn_is_as_good_as_interrupted() -> None:
    desk = Desk().running()
    desk.thread.cancel()
    desk.answer("turn/interrupt", NO_TURN)
    assert desk.is_over()
    assert desk.thread.finish(None)[-1] == TurnCancelled()


def test_another_refusal_of_the_interrupt_ends_nothing() -> None:
    desk = Desk().running()
    desk.thread.cancel()
    desk.answer("turn/interrupt", ErrorResponse(0, "turn/interrupt", -32600, "not now"))
    assert not desk.is_over()


def test_an_end_that_crosses_the_interrupt_counts() -> None:
    desk = Desk().running()
    desk.say("item/agentMessage/delta", itemId="m", delta="done")
    desk.thread.cancel()
    desk.complete()
    desk.answer("turn/interrupt", NO_TURN)
    assert desk.signals.count(PromptAnswered("t")) == 1
    assert desk.thread.finish(None)[-1] == TurnCompleted()


def test_commands_that_an_interrupt_left_are_ended_before_the_turn_is_over() -> None:
    desk = Desk().running()
    desk.say("item/started", item=COMMAND)
    desk.thread.cancel()
    desk.complete("interrupted")
    assert desk.methods[-1] == "thread/backgroundTerminals/clean"
    assert not desk.is_over()
    desk.answer("thread/backgroundTerminals/clean", {})
    assert desk.is_over()
    desk.say("item/completed", item={**COMMAND, "status": "failed", "exitCode": -1})
    events = [*desk.events, *desk.thread.finish(None)]
    statuses = [event.call.status for event in events if hasattr(event, "call")]
    assert statuses == ["in_progress", "cancelled"]
    assert events[-1] == TurnCancelled()


def test_a_refused_cleaning_holds_nothing_up() -> None:
    desk = Desk().running()
    desk.say("item/started", item=COMMAND)
    desk.thread.cancel()
    desk.complete("interrupted")
    desk.answer(
        "thread/backgroundTerminals/clean",
        ErrorResponse(0, "thread/backgroundTerminals/clean", -32600, "requires experimentalApi"),
    )
    assert desk.is_over()


def test_commands_of_earlier_turns_are_left_alone() -> None:
    desk = Desk().running()
    desk.thread.cancel()
    desk.complete("interrupted")
    assert desk.is_over()
    assert "thread/backgroundTerminals/clean" not in desk.methods


def test_a_question_interrupts_the_turn_and_fails_it() -> None:
    desk = Desk().running()
    signals = desk.thread.asked(Question("t", "rm -r /", "command approval"))
    assert signals == [Activity("t"), InteractionRefused("t")]
    assert desk.methods[-1] == "turn/interrupt"
    desk.thread.asked(Question("t", "something else", "question"))
    desk.complete("interrupted")
    failure = desk.thread.finish(None)[-1]
    assert isinstance(failure, TurnFailed)
    assert failure.code is ErrorCode.UNEXPECTED_NATIVE_INTERACTION
    assert failure.details == {"title": "rm -r /", "kind": "command approval"}


def test_a_question_between_turns_fails_nothing() -> None:
    desk = Desk()
    assert desk.thread.asked(Question("t", "x", "question")) == [Activity("t")]
    desk.running().complete()
    assert desk.thread.asked(Question("t", "x", "question")) == [Activity("t")]
    assert isinstance(desk.thread.finish(None)[-1], TurnFailed)  # empty, not asked


@pytest.mark.parametrize(
    ("text", "code", "lost"),
    [
        ("thread not found: t", ErrorCode.SESSION_NOT_AVAILABLE, True),
        ("Invalid request: missing field `input`", ErrorCode.AGENT_ERROR, False),
    ],
)
def test_a_refused_prompt_fails_without_having_started(
    text: str, code: ErrorCode, lost: bool
) -> None:
    desk = Desk()
    desk.prompt()
    turn = desk.thread.turn
    assert turn is not None
    desk.answer("turn/start", ErrorResponse(1, "turn/start", -32600, text))
    assert desk.is_over()
    [failure] = desk.thread.finish(None)
    assert isinstance(failure, TurnFailed)
    assert (failure.code, failure.session_lost) == (code, lost)
    assert turn.process_is_fine is lost


def test_only_a_running_turn_can_be_steered() -> None:
    desk = Desk()
    assert desk.thread.steer_params("x") is None
    desk.prompt()
    assert desk.thread.steer_params("x") is None
    desk.answer("turn/start", {"turn": {"id": "1"}})
    desk.say("turn/started", turn={"id": "1"})
    assert desk.thread.steer_params("x") == {
        "threadId": "t",
        "expectedTurnId": "1",
        "input": [{"type": "text", "text": "x"}],
    }
    desk.thread.cancel()
    assert desk.thread.steer_params("x") is None
    desk.complete("interrupted")
    assert desk.thread.steer_params("x") is None


def test_answers_to_an_earlier_turn_mean_nothing_to_the_next() -> None:
    desk = Desk().running()
    desk.thread.cancel()
    desk.complete("interrupted")
    desk.thread.finish(None)
    desk.signals.clear()
    desk.prompt()
    desk.thread.answered(2, {})
    assert not desk.is_over()
    assert desk.events == []
