"""The client end of the Agent Client Protocol, without I/O and without a clock.

Owns one connection: its open calls, its sessions and the turn in flight of each. Lines of the
agent go into `receive`, events come out; what must be sent is taken from `data_to_send`. Any
number of sessions may live in one connection; everything is keyed by session id.

Invariants: one prompt in flight per session; a request of the agent is answered at once (a
permission with `cancelled`, anything else with "method not found"), so none is ever open when a
cancel goes out; what a loaded session replays is swallowed until our own first prompt. The
counterpart is `acp_driver.py`, which owns the process, the waits and the timers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from groupx_server.agents.acp_facts import PROTOCOL_VERSION
from groupx_server.agents.acp_replay import Replay
from groupx_server.agents.acp_setup import Step
from groupx_server.agents.acp_turn import AcpTurn, Quirks
from groupx_server.agents.jsonrpc import (
    METHOD_NOT_FOUND,
    ErrorResponse,
    JsonRpcPeer,
    Noise,
    Notification,
    Request,
    Response,
    RpcEvent,
    parse_line,
)
from groupx_server.agents.loose import as_dict
from groupx_server.agents.signals import (
    Activity,
    CallEnded,
    InteractionRefused,
    PromptAnswered,
    Signal,
)
from groupx_server.domain.native import NativeEvent
from groupx_shared.errors import AgentError, ErrorCode
from groupx_shared.text import safe_line
from groupx_shared.version import VERSION

_UPDATE: Final = "session/update"
_PERMISSION: Final = "session/request_permission"
_MAX_TOLD: Final = 1_000
"""Sessions of which it is kept that their tools are there; an agent may name any."""


@dataclass(slots=True)
class _SessionState:
    turn: AcpTurn | None = None
    answer: Any = None
    is_answered: bool = False
    replaying: bool = False
    replay: Replay | None = None


class AcpClient:
    """The protocol state of one connection; `agent_name` is used in sentences."""

    def __init__(self, agent_name: str, quirks: Quirks | None = None) -> None:
        self.agent_name = agent_name
        self._quirks = quirks or Quirks()
        self._peer = JsonRpcPeer()
        self._sessions: dict[str, _SessionState] = {}
        self._prompts: dict[int, str] = {}
        self._with_tools: set[str] = set()
        """Sessions of which the agent said that their tools are there; mostly before we know
        the session."""
        self._out: list[bytes] = []

    def data_to_send(self) -> bytes:
        """Take the bytes that are due for the agent's stdin."""
        data = b"".join(self._out)
        self._out.clear()
        return data

    def initialize(self) -> int:
        """Ask for the handshake and return the call's id. No client capability is declared:
        every agent has its own file and shell code."""
        return self._call(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "clientCapabilities": {
                    "fs": {"readTextFile": False, "writeTextFile": False},
                    "terminal": False,
                },
                "clientInfo": {"name": "groupx", "title": "GroupX", "version": VERSION},
            },
        )

    def open_session(
        self,
        method: str,
        cwd: Path,
        mcp_servers: list[dict[str, Any]],
        session_id: str | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> int:
        """Ask for `session/new`, or `session/load` or `session/resume` of `session_id`, whose
        replay is swallowed from now on. Returns the call's id."""
        params: dict[str, Any] = {"cwd": str(cwd), "mcpServers": mcp_servers}
        if session_id is not None:
            params["sessionId"] = session_id
            self._sessions[session_id] = _SessionState(replaying=True)
        if meta:
            params["_meta"] = dict(meta)
        return self._call(method, params)

    def adopt(self, session_id: str) -> None:
        """Keep the session that `session/new` answered with (or a resume really opened)."""
        self._sessions.setdefault(session_id, _SessionState())

    def has_tools(self, session_id: str) -> bool:
        """False while the agent still connects the session's tools, if it is one that tells."""
        return not self._quirks.tools_ready or session_id in self._with_tools

    def record_replay(self, session_id: str) -> Replay:
        """Keep which prompts the agent repeats of a session that it was asked to load."""
        replay = Replay()
        self._sessions[session_id].replay = replay
        return replay

    def forget(self, session_id: str) -> None:
        """Drop a session; what the agent still says of it is ignored."""
        state = self._sessions.pop(session_id, None)
        self._with_tools.discard(session_id)
        if state is not None and state.turn is not None:
            self._prompts.pop(state.turn.request_id, None)
            self._peer.forget(state.turn.request_id)

    def apply(self, session_id: str, step: Step) -> int:
        """Send one step of the session's set-up; returns the call's id."""
        return self._call(step.method, {"sessionId": session_id, **step.params})

    def close_session(self, session_id: str) -> int:
        """Ask the agent to close the session; returns the call's id."""
        return self._call("session/close", {"sessionId": session_id})

    def abandon(self, call_id: int) -> None:
        """Stop waiting for a call; a late answer is noise."""
        self._peer.forget(call_id)

    def prompt(self, session_id: str, text: str) -> AcpTurn:
        """Send a prompt and return its turn. Raises: AgentError (SESSION_NOT_AVAILABLE) when the
        session is unknown or has a turn in flight."""
        state = self._sessions.get(session_id)
        if state is None or state.turn is not None:
            found = "is not open" if state is None else "already has a turn in flight"
            raise AgentError(
                f"The session {safe_line(session_id, 80)} of {self.agent_name} {found}; one "
                "prompt at a time can be sent to an open session.",
                code=ErrorCode.SESSION_NOT_AVAILABLE,
            )
        clean = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate is no JSON
        params = {"sessionId": session_id, "prompt": [{"type": "text", "text": clean}]}
        request_id = self._call("session/prompt", params)
        state.turn = AcpTurn(self.agent_name, request_id, self._quirks)
        state.replaying = False
        self._prompts[request_id] = session_id
        return state.turn

    def cancel(self, session_id: str) -> None:
        """Ask the agent to end the turn in flight; twice is once, without a turn nothing."""
        state = self._sessions.get(session_id)
        if state is None or state.turn is None or state.turn.cancel_asked:
            return
        state.turn.cancel_asked = True
        self._out.append(self._peer.notify("session/cancel", {"sessionId": session_id}))

    def finish(self, session_id: str) -> list[NativeEvent]:
        """End the answered turn: its last events, the terminal last; nothing when it has ended."""
        state = self._sessions.get(session_id)
        if state is None or state.turn is None:
            return []
        turn, answer = state.turn, state.answer
        state.turn = state.answer = None
        state.is_answered = False
        return turn.finish(answer)

    def receive(self, line: bytes) -> list[Signal]:
        """Read one line of the agent's stdout."""
        found = parse_line(line)
        # Nearly all of what an agent says; it is no use to make an event of it first.
        if type(found) is dict and found.get("method") == _UPDATE and found.get("id") is None:
            return self._update(found.get("params"))
        messages = self._peer.read(found, line)
        return [signal for message in messages for signal in self._route(message)]

    def _route(self, message: RpcEvent) -> list[Signal]:
        match message:
            case Notification(method=method) if method == _UPDATE:
                return self._update(message.params)
            case Request(method=method) if method == _PERMISSION:
                return self._permission(message)
            case Request():
                text = f"GroupX does not offer {safe_line(message.method, 80)}"
                self._out.append(self._peer.respond_error(message.id, METHOD_NOT_FOUND, text))
                return self._signs_of_life(message.params)
            case Notification(method=method, params=params):
                if method == self._quirks.tools_ready:
                    self._tools_ready(as_dict(params).get("sessionId"))
                return []
            case Response() | ErrorResponse():
                return self._answered(message)
            case Noise():
                return [message]

    def _tools_ready(self, session_id: Any) -> None:
        if isinstance(session_id, str) and len(self._with_tools) < _MAX_TOLD:
            self._with_tools.add(session_id)

    def _update(self, params: Any) -> list[Signal]:
        session_id, state = self._session_of(params)
        if state is None or type(update := params.get("update")) is not dict:
            return []
        turn = state.turn
        if turn is None or state.replaying:
            if state.replay is not None:
                state.replay.take(update)
            return [Activity(session_id)]
        return [Activity(session_id, turn.update(update) or ())]

    def _permission(self, request: Request) -> list[Signal]:
        outcome = {"outcome": {"outcome": "cancelled"}}
        self._out.append(self._peer.respond(request.id, outcome))
        session_id, state = self._session_of(request.params)
        if state is None or state.turn is None or state.is_answered:
            return []
        events = state.turn.ask(as_dict(request.params.get("toolCall")))
        self.cancel(session_id)
        return [Activity(session_id, events), InteractionRefused(session_id)]

    def _answered(self, message: Response | ErrorResponse) -> list[Signal]:
        answer = message.result if isinstance(message, Response) else message
        session_id = self._prompts.pop(message.id, None)
        if session_id is None:
            return [CallEnded(message.id, answer)]
        state = self._sessions[session_id]
        state.answer, state.is_answered = answer, True
        return [PromptAnswered(session_id)]

    def _signs_of_life(self, params: Any) -> list[Signal]:
        session_id, state = self._session_of(params)
        return [] if state is None else [Activity(session_id)]

    def _session_of(self, params: Any) -> tuple[str, _SessionState | None]:
        session_id = params.get("sessionId") if type(params) is dict else None
        if type(session_id) is not str:
            return "", None
        return session_id, self._sessions.get(session_id)

    def _call(self, method: str, params: dict[str, Any]) -> int:
        call_id, line = self._peer.request(method, params)
        self._out.append(line)
        return call_id
