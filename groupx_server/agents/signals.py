"""What a sans-IO protocol tells the code that runs it, the same for every vendor.

Owns the vocabulary between a protocol client (`acp.AcpClient`, `codex.CodexClient`) and the
neutral layer above it: `connection.py` moves the bytes and dispatches the signals, `flight.py`
holds a turn's limits, `turn_session.py` its stream. Invariant: a client does no I/O, reads no
clock and never raises for what the agent sends; one turn at a time is in flight per session.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from groupx_server.agents.jsonrpc import Noise
from groupx_server.domain.native import NativeEvent, TurnFailed


@dataclass(frozen=True, slots=True)
class CallEnded:
    """One of our requests was answered; `answer` is the result or the `ErrorResponse`."""

    call_id: int
    answer: Any


@dataclass(slots=True)
class Activity:
    """The session gave a sign of life, with what it meant (often nothing)."""

    session_id: str
    events: Sequence[NativeEvent] = ()


@dataclass(frozen=True, slots=True)
class InteractionRefused:
    """The agent asked a question; it was answered and a cancel was sent."""

    session_id: str


@dataclass(frozen=True, slots=True)
class PromptAnswered:
    """The agent ended the turn; call `finish` once no late update is expected."""

    session_id: str


Signal = CallEnded | Activity | InteractionRefused | PromptAnswered | Noise


class NativeTurn(Protocol):
    """The turn in flight, as its protocol understands it."""

    cancel_asked: bool
    session_lost: bool
    """Set by `finish`: the session takes no more prompts."""
    process_is_fine: bool
    """Only the session is lost: another one can be opened in the same process."""

    @property
    def has_started(self) -> bool:
        """True once something proved that the agent has the prompt."""
        ...

    @property
    def has_open_tool(self) -> bool:
        """True while a tool runs; agents are silent for long then."""
        ...

    @property
    def was_asked(self) -> bool:
        """True once the agent put a question that nobody can answer here."""
        ...

    def fail(self, failure: TurnFailed) -> list[NativeEvent]:
        """End the turn from our side."""
        ...

    def interaction_failure(self, *, session_lost: bool = False) -> TurnFailed:
        """The failure for the question that the agent put."""
        ...


class ProtocolClient(Protocol):
    """The protocol state of one connection."""

    agent_name: str
    """Used in sentences."""

    def receive(self, line: bytes) -> Sequence[Signal]:
        """Read one line of the agent's stdout."""
        ...

    def data_to_send(self) -> bytes:
        """Take the bytes that are due for the agent's stdin."""
        ...

    def abandon(self, call_id: int) -> None:
        """Stop waiting for a call; a late answer is noise."""
        ...

    def prompt(self, session_id: str, text: str) -> NativeTurn:
        """Send a prompt and return its turn. Raises: AgentError (SESSION_NOT_AVAILABLE) when the
        session is unknown or has a turn in flight."""
        ...

    def cancel(self, session_id: str) -> None:
        """Ask the agent to end the turn in flight; twice is once, without a turn nothing."""
        ...

    def finish(self, session_id: str) -> list[NativeEvent]:
        """End the answered turn: its last events, the terminal last; nothing when it has ended."""
        ...

    def forget(self, session_id: str) -> None:
        """Drop a session; what the agent still says of it is ignored."""
        ...

    def close_session(self, session_id: str) -> int:
        """Ask the agent to close the session; returns the call's id."""
        ...
