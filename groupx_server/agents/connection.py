"""One agent process with a protocol client on it: bytes in, bytes out, calls with limits.

Owns the process, the open calls and the table of turns in flight. Output goes straight from the
pipe's callback into the sans-IO client and on to the turn it belongs to, so there is no reader
task that could leak. Invariants: every call has a limit; stdout is not read while a consumer is
far behind; unusable lines are counted and only the first are logged; after the end of the process
every open call and every turn knows it, once. The counterparts are the drivers, which open
sessions, and `turn_session.py`, which runs prompts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from groupx_server.agents.base import AgentSpec
from groupx_server.agents.clock import Clock
from groupx_server.agents.flight import Flight
from groupx_server.agents.framing import LineSplitter, OverlongLine
from groupx_server.agents.jsonrpc import Noise
from groupx_server.agents.leftovers import sweep_process
from groupx_server.agents.process import AgentProcess, ProcessEnd
from groupx_server.agents.signals import (
    Activity,
    CallEnded,
    InteractionRefused,
    PromptAnswered,
    ProtocolClient,
    Signal,
)
from groupx_server.agents.watchdog import Guard
from groupx_server.domain.native import TurnFailed
from groupx_server.logs import get_logger
from groupx_shared.errors import AgentError, ErrorCode
from groupx_shared.text import safe_line

MAX_NOISE_LINES: Final = 10_000
"""So many unusable lines without a usable one are no protocol any more."""
_LOGGED_NOISE_LINES: Final = 10
MAX_UNSENT_BYTES: Final = 16 * 1024 * 1024
"""Answers to a program that asks and asks and never reads are not kept without end."""

log = get_logger(__name__)

ClientT = TypeVar("ClientT", bound=ProtocolClient)


def agent_label(spec: AgentSpec) -> str:
    """What the agent is called in sentences until it has said its name."""
    return spec.actor_id.removeprefix("agent:")


@dataclass(slots=True)
class _Call:
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    answers: list[Any] = field(default_factory=list)


class AgentConnection(Generic[ClientT]):
    """The running process of one agent; `spawn` first, `end` last."""

    def __init__(self, spec: AgentSpec, client: ClientT, settle_s: float, clock: Clock) -> None:
        """`settle_s`: how long late updates of a turn are waited for after its answer."""
        self.timeouts = spec.timeouts
        self.settle_s = settle_s
        self.clock = clock
        self.label = agent_label(spec)
        self.client = client
        self.flights: dict[str, Flight] = {}
        self.active_at: dict[str, float] = {}
        self.ended = asyncio.Event()
        self.end_sentence = f"{self.label} is not running."
        self.first_noise = ""
        self.leftover_mark = ""
        """`leftovers.PROCESS_MARK` of the process, when children that left its group are to be
        ended after it died."""
        self._spec = spec
        self._splitter = LineSplitter()
        self._process: AgentProcess | None = None
        self._calls: dict[int, _Call] = {}
        self._noise_lines = 0
        self._noise_in_a_row = 0
        self._verdict: TurnFailed | None = None

    @property
    def has_ended(self) -> bool:
        """True before the start and after the end of the process."""
        return self._process is None or self.ended.is_set()

    @property
    def pid(self) -> int | None:
        """Process id while it runs."""
        return self._process.pid if self._process else None

    def stderr_tail(self) -> str:
        """The last lines of stderr, cleaned and bounded."""
        return self._process.stderr_tail() if self._process else ""

    async def spawn(self, env: Mapping[str, str], guard: Guard) -> None:
        """Start the process. Raises: AgentError (ADAPTER_START_FAILED)."""
        self._process = await AgentProcess.spawn(
            self._spec.argv,
            cwd=self._spec.cwd,
            env=env,
            label=self.label,
            sink=self,
            guard=guard,
        )

    async def call(self, call_id: int, method: str, limit_s: float) -> Any:
        """Send an open call of the client and wait for its answer: a result or `ErrorResponse`.

        Raises: AgentError (PROTOCOL_HANDSHAKE_TIMEOUT after `limit_s`, SESSION_NOT_AVAILABLE
        when the process ends first).
        """
        call = self._calls[call_id] = _Call()
        self.flush()
        try:
            if not self.ended.is_set():
                await self.clock.wait(call.ended, self.clock.now() + limit_s)
        finally:
            del self._calls[call_id]
            self.client.abandon(call_id)
        if call.answers:
            return call.answers[0]
        if self.ended.is_set():
            raise AgentError(self.end_sentence, code=ErrorCode.SESSION_NOT_AVAILABLE)
        raise AgentError(
            f"{self.client.agent_name} did not answer {method} within {limit_s:g} s. Try again, "
            "or allow it more time in the agent's options.",
            code=ErrorCode.PROTOCOL_HANDSHAKE_TIMEOUT,
        )

    def require_alive(self) -> None:
        """Raises: AgentError (SESSION_NOT_AVAILABLE) when the process is not running."""
        if self.has_ended:
            raise AgentError(self.end_sentence, code=ErrorCode.SESSION_NOT_AVAILABLE)

    def flush(self) -> None:
        """Send what the client has to say."""
        data = self.client.data_to_send()
        if not data or self._process is None:
            return
        self._process.write(data)
        if self._process.unsent_bytes > MAX_UNSENT_BYTES + len(data):
            self._break("does not read what it is sent")

    def relieve(self) -> None:
        """A consumer caught up: read output again unless another is far behind."""
        if not self.has_ended and self._process is not None and not self._is_full():
            self._process.resume_reading()

    async def end(self, grace_s: float, why: str) -> None:
        """End the process group, bounded; turns in flight fail with `why`."""
        if self._verdict is None and not self.ended.is_set():
            self._verdict = TurnFailed(
                ErrorCode.SESSION_NOT_AVAILABLE,
                f"{self.client.agent_name} was stopped: {why}.",
                session_lost=True,
            )
        if self._process is not None:
            await self._process.stop(grace_s)
            await self._end_leftovers(self._process)
        self.on_ended(ProcessEnd(None, f"{self.client.agent_name} was stopped: {why}."))

    async def _end_leftovers(self, process: AgentProcess) -> None:
        """A program that could not end its children in order may have left some in groups of
        their own; one that exited with 0 left only what it meant to leave."""
        if self.leftover_mark and process.exit_status != 0:
            groups = await asyncio.to_thread(sweep_process, self.leftover_mark)
            if groups:
                log.warning("agent_children_ended", agent=self._spec.actor_id, count=len(groups))
            self.leftover_mark = ""

    def kill(self) -> None:
        """KILL the process group without waiting."""
        if self._process is not None:
            self._process.kill_now()

    # --- OutputSink -------------------------------------------------------------------------

    def on_output(self, data: bytes) -> None:
        """Bytes of the agent's stdout."""
        for line in self._splitter.feed(data):
            if isinstance(line, OverlongLine):
                self._on_overlong(line)
                continue
            for event in self.client.receive(line):
                self._dispatch(event)
        self.flush()
        if self._process is not None and self._is_full():
            self._process.pause_reading()

    def on_ended(self, end: ProcessEnd) -> None:
        """The agent says no more."""
        if self.ended.is_set():
            return
        self.end_sentence = self._verdict.message if self._verdict else end.sentence
        self.ended.set()
        for call in self._calls.values():
            call.ended.set()
        code = ErrorCode.SESSION_NOT_AVAILABLE
        if self._noise_in_a_row:
            code = ErrorCode.PROTOCOL_INVALID_MESSAGE
        details = {"exitStatus": end.status}
        gone = TurnFailed(code, end.sentence, session_lost=True, details=details)
        for flight in self.flights.values():
            flight.fail(self._verdict or gone)

    # --- inside -----------------------------------------------------------------------------

    def _dispatch(self, event: Signal) -> None:
        if isinstance(event, Noise):
            self._on_noise(event)
            return
        self._noise_in_a_row = 0
        if isinstance(event, CallEnded):
            call = self._calls.get(event.call_id)
            if call is not None:
                call.answers.append(event.answer)
                call.ended.set()
            return
        flight = self.flights.get(event.session_id)
        match event:
            case Activity(session_id=session_id, events=events):
                self.active_at[session_id] = self.clock.now()
                if flight is not None:
                    flight.arrived(events)
            case InteractionRefused() if flight is not None:
                flight.cancelling()
            case PromptAnswered() if flight is not None:
                flight.answered()
            case _:
                pass

    def _is_full(self) -> bool:
        return any(flight.is_full for flight in self.flights.values())

    def _on_noise(self, noise: Noise) -> None:
        self._noise_lines += 1
        self._noise_in_a_row += 1
        excerpt = safe_line(noise.excerpt.decode("utf-8", "replace"))
        self.first_noise = self.first_noise or excerpt
        if self._noise_lines <= _LOGGED_NOISE_LINES:
            log.warning("agent_noise", agent=self._spec.actor_id, why=noise.reason)
        if self._noise_in_a_row == MAX_NOISE_LINES:
            self._break(f"wrote {MAX_NOISE_LINES} lines that are no messages")

    def _on_overlong(self, line: OverlongLine) -> None:
        what = f"sent a line longer than {line.limit_bytes // (1024 * 1024)} MiB"
        log.warning("agent_line_refused", agent=self._spec.actor_id, limit=line.limit_bytes)
        if self.flights:
            self._break(what)

    def _break(self, what: str) -> None:
        """The agent broke the protocol beyond repair: every turn fails, the process is ended."""
        failure = TurnFailed(
            ErrorCode.PROTOCOL_INVALID_MESSAGE,
            f"{self.client.agent_name} {what} and was stopped; it is started again for the next "
            "turn.",
            session_lost=True,
        )
        self._verdict = self._verdict or failure
        for flight in self.flights.values():
            flight.fail(failure)
        self.kill()
