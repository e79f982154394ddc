"""The client end of `codex app-server`, without I/O and without a clock.

Owns one connection: its open calls and its threads. Lines of Codex go into `receive`, signals come
out; what must be sent is taken from `data_to_send`. JSON-RPC without its version member, requests
both ways, ids of each side in a space of their own; any number of threads live in one connection.

Invariants: a request of Codex is answered at once, so none is ever open; unknown notifications and
threads mean nothing; what a sub-agent's thread asks counts for the turn that started it. The
counterparts are `codex_driver.py`, which owns the process, the waits and the timers, and
`codex_thread.py`, which holds one thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from groupx_server.agents.codex_requests import answer_request, read_question
from groupx_server.agents.codex_thread import CodexThread
from groupx_server.agents.codex_turn import CodexTurn
from groupx_server.agents.codex_usage import RateLimits
from groupx_server.agents.jsonrpc import (
    ErrorResponse,
    JsonRpcPeer,
    Noise,
    Notification,
    Request,
    Response,
    RpcEvent,
)
from groupx_server.agents.loose import as_dict, as_text
from groupx_server.agents.signals import Activity, CallEnded, Signal
from groupx_server.domain.native import NativeEvent
from groupx_shared.errors import AgentError, ErrorCode
from groupx_shared.text import safe_line
from groupx_shared.version import VERSION

MAX_CHILD_THREADS: Final = 1_000
"""Threads of sub-agents that are remembered, so that their questions find the turn to fail."""
_OPENING: Final = ("thread/start", "thread/resume")


class CodexClient:
    """The protocol state of one connection; `agent_name` is used in sentences."""

    def __init__(self, agent_name: str) -> None:
        self.agent_name = agent_name
        self._peer = JsonRpcPeer(with_version=False)
        self._threads: dict[str, CodexThread] = {}
        self._roots: dict[str, str] = {}
        self._turn_calls: dict[int, str] = {}
        """Calls whose answer belongs to a turn, with the thread."""
        self._limits = RateLimits()
        self._out: list[bytes] = []

    def data_to_send(self) -> bytes:
        """Take the bytes that are due for Codex's stdin."""
        data = b"".join(self._out)
        self._out.clear()
        return data

    def initialize(self) -> int:
        """Ask for the handshake and return the call's id. The experimental part of the protocol
        is needed to end commands that an interrupt leaves behind."""
        client = {"name": "groupx", "title": "GroupX", "version": VERSION}
        capabilities = {"experimentalApi": True}
        return self.call("initialize", {"clientInfo": client, "capabilities": capabilities})

    def initialized(self) -> None:
        """Tell that the handshake's answer was understood."""
        self._out.append(self._peer.notify("initialized"))

    def call(self, method: str, params: Mapping[str, Any]) -> int:
        """Ask for something; returns the call's id, whose answer comes as `CallEnded`."""
        call_id, line = self._peer.request(method, dict(params))
        self._out.append(line)
        return call_id

    def abandon(self, call_id: int) -> None:
        """Stop waiting for a call; a late answer is noise."""
        self._peer.forget(call_id)

    # --- threads and turns ------------------------------------------------------------------

    def adopt(self, thread_id: str) -> None:
        """Keep a thread; done by itself when `thread/start` or `thread/resume` is answered."""
        if thread_id not in self._threads:

            def call(method: str, params: dict[str, Any]) -> int:
                call_id = self.call(method, params)
                self._turn_calls[call_id] = thread_id
                return call_id

            self._threads[thread_id] = CodexThread(thread_id, call)

    def forget(self, session_id: str) -> None:
        """Drop a thread; what Codex still says of it is ignored."""
        self._threads.pop(session_id, None)
        mine = [call_id for call_id, owner in self._turn_calls.items() if owner == session_id]
        for call_id in mine:
            del self._turn_calls[call_id]
            self._peer.forget(call_id)

    def close_session(self, session_id: str) -> int:
        """Ask Codex to unload the thread; returns the call's id."""
        return self.call("thread/unsubscribe", {"threadId": session_id})

    def starting_servers(self, thread_id: str) -> list[str]:
        """MCP servers of the thread that have not come up yet."""
        thread = self._threads.get(thread_id)
        return [] if thread is None else thread.starting_servers

    def prompt(self, session_id: str, text: str) -> CodexTurn:
        """Send a prompt and return its turn. Raises: AgentError (SESSION_NOT_AVAILABLE) when the
        thread is unknown or has a turn in flight."""
        thread = self._threads.get(session_id)
        if thread is None:
            raise AgentError(
                f"The thread {safe_line(session_id, 80)} of {self.agent_name} is not open; open "
                "it, or another one, first.",
                code=ErrorCode.SESSION_NOT_AVAILABLE,
            )
        return thread.prompt(self.agent_name, text)

    def steer(self, session_id: str, text: str) -> int | None:
        """Give the turn in flight a further message; returns the call's id, None when there is
        no turn that could take it."""
        thread = self._threads.get(session_id)
        params = None if thread is None else thread.steer_params(text)
        return None if params is None else self.call("turn/steer", params)

    def cancel(self, session_id: str) -> None:
        """Ask Codex to end the turn in flight; twice is once, without a turn nothing."""
        if (thread := self._threads.get(session_id)) is not None:
            thread.cancel()

    def finish(self, session_id: str) -> list[NativeEvent]:
        """End the answered turn: its last events, the terminal last; nothing when it has ended."""
        thread = self._threads.get(session_id)
        return [] if thread is None else thread.finish(self._limits.resets_at)

    # --- what Codex says --------------------------------------------------------------------

    def receive(self, line: bytes) -> list[Signal]:
        """Read one line of Codex's stdout."""
        signals: list[Signal] = []
        for message in self._peer.receive(line):
            signals.extend(self._route(message))
        return signals

    def _route(self, message: RpcEvent) -> list[Signal]:
        match message:
            case Notification():
                return self._notified(message.method, as_dict(message.params))
            case Request():
                return self._asked(message)
            case Response():
                return self._answered(message.id, message.method, message.result)
            case ErrorResponse():
                return self._answered(message.id, message.method, message)
            case Noise():
                return [message]

    def _notified(self, method: str, params: dict[str, Any]) -> list[Signal]:
        if method == "account/rateLimits/updated":
            self._limits.take(params)
        elif method == "thread/started":
            self._remember_child(as_dict(params.get("thread")))
        thread_id = as_text(params.get("threadId"))
        thread = self._threads.get(thread_id)
        if thread is not None:
            return thread.notified(method, params)
        root = self._roots.get(thread_id)
        return [Activity(root)] if root in self._threads else []

    def _asked(self, request: Request) -> list[Signal]:
        self._out.append(answer_request(self._peer, request))
        question = read_question(request)
        root = self._roots.get(question.thread_id, question.thread_id)
        thread = self._threads.get(root)
        return [] if thread is None else thread.asked(question)

    def _answered(self, call_id: int, method: str, answer: Any) -> list[Signal]:
        owner = self._turn_calls.pop(call_id, None)
        if owner is not None:
            thread = self._threads.get(owner)
            return [] if thread is None else thread.answered(call_id, answer)
        if method in _OPENING and (thread_id := thread_id_of(answer)):
            self.adopt(thread_id)  # notices of the thread may follow in the same chunk
        return [CallEnded(call_id, answer)]

    def _remember_child(self, thread: dict[str, Any]) -> None:
        thread_id, parent = as_text(thread.get("id")), as_text(thread.get("parentThreadId"))
        if thread_id and parent and len(self._roots) < MAX_CHILD_THREADS:
            self._roots[thread_id] = self._roots.get(parent, parent)


def thread_id_of(answer: Any) -> str:
    """The thread of an answer to `thread/start` or `thread/resume`; empty when it has none."""
    return as_text(as_dict(as_dict(answer).get("thread")).get("id"))
