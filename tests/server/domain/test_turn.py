"""The transition tables: what may follow what."""

from __future__ import annotations

import pytest

from groupx_server.domain.turn import (
    OPEN,
    PHASES,
    TERMINAL,
    TRANSITIONS,
    Certainty,
    Phase,
    TransitionError,
    TurnStatus,
    check_phase,
    check_transition,
    may_complete,
    may_requeue,
)


def test_every_state_is_in_the_tables() -> None:
    assert set(TRANSITIONS) == set(TurnStatus)
    assert set(PHASES) == set(Phase)
    assert set(TurnStatus) == OPEN | TERMINAL


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_nothing_follows_a_terminal_state(status: TurnStatus) -> None:
    for target in TurnStatus:
        with pytest.raises(TransitionError):
            check_transition(status, target)


def test_a_running_turn_never_goes_back_to_the_queue() -> None:
    with pytest.raises(TransitionError):
        check_transition(TurnStatus.RUNNING, TurnStatus.QUEUED)
    check_transition(TurnStatus.DISPATCHING, TurnStatus.QUEUED)


def test_every_open_state_reaches_a_terminal_one() -> None:
    for status in OPEN:
        assert TRANSITIONS[status] & TERMINAL


def test_an_attempt_goes_forward_only() -> None:
    order = list(Phase)
    for current in Phase:
        for target in PHASES[current]:
            assert order.index(target) > order.index(current)
    with pytest.raises(TransitionError):
        check_phase(Phase.PREPARED, Phase.NATIVE_STARTED)


def test_only_what_provably_never_left_may_be_queued_again() -> None:
    allowed = [
        (status, phase, certainty)
        for status in TurnStatus
        for phase in Phase
        for certainty in Certainty
        if may_requeue(status, phase, certainty)
    ]
    assert allowed == [(TurnStatus.DISPATCHING, Phase.PREPARED, Certainty.NOT_DELIVERED)]


def test_only_a_delivered_turn_completes() -> None:
    assert [certainty for certainty in Certainty if may_complete(certainty)] == [
        Certainty.DELIVERED
    ]
