"""The life of a turn and of its attempts, as tables (contract §6).

A *turn* is one agent's work on one message. An *attempt* is one try to hand it to the agent.
A terminal status never changes. What was possibly delivered is never sent again: only an attempt
in `prepared/not_delivered` may go back to the queue.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal

from groupx_shared.errors import ErrorCode, GroupXError


class TurnStatus(StrEnum):
    """Durable status of a turn."""

    QUEUED = "queued"
    DISPATCHING = "dispatching"
    RUNNING = "running"
    CANCELLING = "cancelling"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


class Phase(StrEnum):
    """How far an attempt got."""

    PREPARED = "prepared"
    PROMPT_INVOKED = "prompt_invoked"
    NATIVE_STARTED = "native_started"
    TERMINAL = "terminal"


class Certainty(StrEnum):
    """Did the agent get the prompt?"""

    NOT_DELIVERED = "not_delivered"
    UNKNOWN = "unknown"
    DELIVERED = "delivered"


Recollection = Literal["end", "arrival"]
"""What an agent's own record can tell of a turn that a killed server left: how it ended, or only
whether the agent had it."""
NO_RECOLLECTION: Final[Mapping[str, Recollection]] = MappingProxyType({})

TERMINAL: Final = frozenset(
    {TurnStatus.COMPLETED, TurnStatus.FAILED, TurnStatus.CANCELLED, TurnStatus.INTERRUPTED}
)
OPEN: Final = frozenset(TurnStatus) - TERMINAL

TRANSITIONS: Final[dict[TurnStatus, frozenset[TurnStatus]]] = {
    TurnStatus.QUEUED: frozenset({TurnStatus.DISPATCHING, TurnStatus.CANCELLED, TurnStatus.FAILED}),
    # Back to queued only while nothing left for the agent (see `may_requeue`).
    TurnStatus.DISPATCHING: frozenset(
        {TurnStatus.QUEUED, TurnStatus.RUNNING, TurnStatus.CANCELLING, *TERMINAL}
    ),
    TurnStatus.RUNNING: frozenset({TurnStatus.CANCELLING, *TERMINAL}),
    TurnStatus.CANCELLING: TERMINAL,
    **{status: frozenset() for status in TERMINAL},
}

PHASES: Final[dict[Phase, frozenset[Phase]]] = {
    Phase.PREPARED: frozenset({Phase.PROMPT_INVOKED, Phase.TERMINAL}),
    Phase.PROMPT_INVOKED: frozenset({Phase.NATIVE_STARTED, Phase.TERMINAL}),
    Phase.NATIVE_STARTED: frozenset({Phase.TERMINAL}),
    Phase.TERMINAL: frozenset(),
}


class TransitionError(GroupXError):
    """A turn or attempt was asked for a step that its state does not allow."""

    default_code = ErrorCode.STORE_CONFLICT


def check_transition(current: TurnStatus, target: TurnStatus) -> None:
    """Raises: TransitionError unless `current` may become `target`."""
    if target not in TRANSITIONS[current]:
        raise TransitionError(f"A turn that is {current} cannot become {target}.")


def check_phase(current: Phase, target: Phase) -> None:
    """Raises: TransitionError unless an attempt in `current` may go to `target`."""
    if target not in PHASES[current]:
        raise TransitionError(f"An attempt that is {current} cannot go to {target}.")


def may_requeue(status: TurnStatus, phase: Phase, certainty: Certainty) -> bool:
    """True when a claimed turn provably never reached the agent and nobody cancelled it."""
    return (
        status is TurnStatus.DISPATCHING
        and phase is Phase.PREPARED
        and certainty is Certainty.NOT_DELIVERED
    )


def may_complete(certainty: Certainty) -> bool:
    """A turn completes only when the agent provably had it."""
    return certainty is Certainty.DELIVERED
