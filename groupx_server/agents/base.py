"""The driver contract: how GroupX speaks with any agent program.

A driver owns one process (an *instance*) and opens sessions in it, one for each room the agent
works in. The counterpart is rooms/: it queues turns, opens sessions when they are needed,
consumes the events of a prompt and decides what is stored. Drivers never see the ledger.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from groupx_server.domain.native import Continuity, NativeEvent, TerminalEvent
from groupx_server.domain.turn import Recollection

MODEL_CHARS: Final = 80
"""Of a model's name: `provider/family-version:variant`, and some."""


@dataclass(frozen=True, slots=True)
class AgentTimeouts:
    """Bounds on every wait for an agent, in seconds (contract §28)."""

    handshake_s: float = 15.0
    request_s: float = 10.0
    first_event_s: float = 180.0
    idle_s: float = 300.0
    cancel_s: float = 10.0
    close_s: float = 5.0
    silence_s: float = 10.0
    """Silence after which a `Waiting` event is given (repeated with growing `silent_s`)."""
    session_s: float = 60.0
    """Opening or resuming a session: agents connect their tools and read history meanwhile."""
    tool_idle_s: float = 3600.0
    """Takes the place of `idle_s` while a tool call is open: builds and test runs are silent."""


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """One configured agent, resolved: what to start and how."""

    actor_id: str
    driver: str
    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    """Set on top of the small inherited environment (see `agents/environment.py`)."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Driver-specific data of the profile (mode to set, quirks…)."""
    timeouts: AgentTimeouts = AgentTimeouts()


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """What the agent said of itself at the handshake."""

    name: str
    version: str
    protocol: str
    protocol_version: str
    capabilities: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class McpEndpoint:
    """The room's tools for one session: URL and the bearer of that binding."""

    name: str
    url: str
    token: str


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """What `open_session` is asked for. `resume_native_id` is a session of an earlier process to
    take up again; `mcp` the tools to attach."""

    cwd: Path
    resume_native_id: str | None = None
    mcp: McpEndpoint | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    """Extension data for the protocol (`_meta` in ACP), passed on as it is."""


class Session(ABC):
    """One native session. At most one prompt is in flight; a second raises AgentError."""

    native_session_id: str
    continuity: Continuity
    has_mcp: bool = False
    """True when the room's tools were attached to this session."""
    mcp_problem: str = ""
    """Why they were not, although they were asked for; one line, cleaned."""

    @property
    def model(self) -> str:
        """The model that works in it, as the agent told at its opening or in its last turn;
        cleaned, empty when it does not tell."""
        return ""

    @property
    def lost(self) -> bool:
        """True when the session takes no more prompts; another one must be opened."""
        return False

    @abstractmethod
    def prompt(self, turn_id: str, text: str) -> AsyncGenerator[NativeEvent, None]:
        """Send `text` and yield the turn's events, ending with one terminal event.

        Never raises for what the agent does: a dead process, a broken protocol, a timeout arrive
        as `TurnFailed`. Closing the iterator early cancels the native turn and waits, bounded.
        """

    @abstractmethod
    async def cancel(self) -> None:
        """Ask the agent to end the turn in flight; returns at once. The terminal comes from the
        iterator: `TurnCancelled`, or `TurnFailed(TURN_CANCEL_TIMEOUT, session_lost=True)` after
        `cancel_s`. Without a turn in flight it does nothing."""

    async def steer(self, text: str) -> bool:
        """Give the turn in flight a further message, if the protocol can. True when the agent
        took it into that turn; False when it did not (no turn in flight, or not offered): then
        nothing was sent that counts, and the message may be sent as a prompt of its own.

        Raises: AgentError when the agent does not answer: whether it took the message is not
        known then, and it must not be sent again by itself.
        """
        return False

    @abstractmethod
    async def close(self) -> None:
        """End the session, if the protocol can; the process stays."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What an agent's own record says of a turn that an earlier server sent: the agent had it,
    and `end` is how it ended (None: the record does not tell)."""

    end: TerminalEvent | None


class Driver(ABC):
    """One agent process. `start` once, then sessions, then `close`; after `exited` is set only
    `close` is allowed, and a new driver is built for a new process."""

    spec: AgentSpec

    @abstractmethod
    async def start(self) -> AgentInfo:
        """Spawn the process and shake hands.

        Raises: AgentError (ADAPTER_START_FAILED, PROTOCOL_HANDSHAKE_TIMEOUT,
        PROTOCOL_INVALID_MESSAGE, NATIVE_POLICY_BLOCKED), with the last stderr lines in
        `details["stderr"]`; the process is gone then.
        """

    @abstractmethod
    async def open_session(self, request: SessionRequest) -> Session:
        """Open a session, resuming when asked and possible (else a new one, said in
        `continuity`). Raises: AgentError."""

    async def recall(
        self,
        request: SessionRequest,
        native_turn_id: str | None,
        is_ours: Callable[[str], bool],
    ) -> Recalled | None:
        """Look a turn of an earlier process up in the session `request.resume_native_id`: by its
        native id, or by its prompt (`is_ours`). None when it is provably not there, or when this
        agent keeps no such record; nothing is sent to a model. Raises: AgentError."""
        return None

    @abstractmethod
    async def close(self) -> None:
        """End the process group: close stdin, wait, TERM, wait, KILL; bounded; never raises."""

    @abstractmethod
    async def wait_exited(self) -> str:
        """Wait until the process is gone and return why, as one safe sentence."""

    @property
    @abstractmethod
    def pid(self) -> int | None:
        """Process id while it runs, for diagnostics only."""

    @property
    def is_usable(self) -> bool:
        """True while sessions can be opened. A driver that starts a process for each session is
        usable without one."""
        return self.pid is not None

    @abstractmethod
    def stderr_tail(self) -> str:
        """The last lines the agent wrote to stderr, cleaned and bounded."""


DriverFactory = Callable[[AgentSpec], Driver]

RECALLING_DRIVERS: Final[Mapping[str, Recollection]] = {
    "codex": "end",
    "claude": "end",
    "acp": "arrival",
}
"""Drivers whose `recall` can tell something, and what."""

_PROTOCOLS: Final = {"claude": "claude-stream-json", "codex": "codex-app-server"}
"""Protocols of the drivers that do not speak ACP."""


def native_protocol(driver: str) -> str:
    """`AgentInfo.protocol` of a driver by its name, known before its first start; a native
    session is resumed only under the protocol it was opened with."""
    return _PROTOCOLS.get(driver, "acp")
