"""One Codex thread: its turn in flight, its interrupt, its MCP servers.

Owns the order of things in a turn. Invariants: one turn at a time, since Codex would merge a
second prompt into the first; only `turn/completed` ends one (or Codex saying that there is none);
an interrupt goes out as soon as the turn's id is known, and again when it came before Codex had
begun; commands that an interrupted turn left running are ended before it counts as over.
Notifications of an older turn of the thread change nothing. The counterparts are `codex.py`,
which moves messages here by thread, and `codex_turn.py`, which knows what they mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from groupx_server.agents.codex_errors import is_no_turn
from groupx_server.agents.codex_requests import Question
from groupx_server.agents.codex_turn import CodexTurn
from groupx_server.agents.codex_usage import ThreadUsage
from groupx_server.agents.jsonrpc import ErrorResponse
from groupx_server.agents.loose import as_dict, as_text
from groupx_server.agents.signals import Activity, InteractionRefused, PromptAnswered, Signal
from groupx_server.domain.native import NativeEvent, UsageReported
from groupx_shared.errors import AgentError, ErrorCode
from groupx_shared.text import safe_line

Call = Callable[[str, dict[str, Any]], int]
"""Sends a request for the thread and returns its id; the answer comes to `answered`."""


class CodexThread:
    """The protocol state of one thread."""

    def __init__(self, thread_id: str, call: Call) -> None:
        self.turn: CodexTurn | None = None
        self._id = thread_id
        self._call = call
        self._usage = ThreadUsage()
        self._servers: dict[str, str] = {}
        self._start_call = self._interrupt_call = self._clean_call = 0
        self._ended: Any = None
        self._is_over = False

    @property
    def starting_servers(self) -> list[str]:
        """MCP servers that have not come up yet."""
        return [name for name, status in self._servers.items() if status == "starting"]

    # --- our side ---------------------------------------------------------------------------

    def prompt(self, agent: str, text: str) -> CodexTurn:
        """Send a prompt and return its turn. Raises: AgentError (SESSION_NOT_AVAILABLE) when a
        turn is in flight."""
        if self.turn is not None:
            raise AgentError(
                f"The thread {safe_line(self._id, 80)} of {agent} already has a turn in flight; "
                "one prompt at a time can be sent.",
                code=ErrorCode.SESSION_NOT_AVAILABLE,
            )
        self.turn = CodexTurn(agent)
        self._usage.begin_turn()
        self._start_call = self._send("turn/start", input=_text_input(text))
        return self.turn

    def steer_params(self, text: str) -> dict[str, Any] | None:
        """The parameters of a `turn/steer`, or None when no turn could take it."""
        turn = None if self._is_over else self.turn
        if turn is None or not turn.is_running or turn.cancel_asked:
            return None
        expected = {"threadId": self._id, "expectedTurnId": turn.native_id}
        return {**expected, "input": _text_input(text)}

    def cancel(self) -> None:
        """Ask Codex to end the turn in flight; twice is once, without a turn nothing."""
        if self.turn is not None and not self.turn.cancel_asked:
            self.turn.cancel_asked = self.turn.needs_interrupt = True
            self._interrupt()

    def finish(self, resets_at: int | None) -> list[NativeEvent]:
        """End the turn that is over: its last events, the terminal last."""
        turn, ended = self.turn, self._ended
        self.turn = self._ended = None
        self._is_over = False
        self._start_call = self._interrupt_call = self._clean_call = 0
        return [] if turn is None else turn.finish(ended, resets_at)

    # --- Codex's side -----------------------------------------------------------------------

    def notified(self, method: str, params: dict[str, Any]) -> list[Signal]:
        """Take a notification of this thread."""
        turn = self.turn
        turn_id = as_text(as_dict(params.get("turn")).get("id")) or as_text(params.get("turnId"))
        is_ours = turn is not None and bool(turn_id) and turn_id == turn.native_id
        match method:
            case "mcpServer/startupStatus/updated":
                self._servers[as_text(params.get("name"))] = as_text(params.get("status"))
            case "thread/tokenUsage/updated":
                usage = self._usage.take(params, is_ours=is_ours)
                return self._alive([UsageReported(usage)] if usage else [])
            case "turn/started" if turn is not None and turn.native_id in ("", turn_id):
                return self._began(turn, turn_id)
            case "turn/completed" if turn is not None and is_ours and self._ended is None:
                return self._completed(turn, params.get("turn"))
            case _ if turn is not None and is_ours:
                return self._alive(turn.notice(method, params))
        return self._alive()

    def asked(self, question: Question) -> list[Signal]:
        """Codex asked something (it has its answer): the turn in flight will fail."""
        if self.turn is None or self._is_over:
            return self._alive()
        self.turn.ask(question.title, question.kind)
        self.cancel()
        return [*self._alive(), InteractionRefused(self._id)]

    def answered(self, call_id: int, answer: Any) -> list[Signal]:
        """Codex answered one of the turn's requests; an earlier turn's means nothing."""
        turn = self.turn
        if turn is None or not call_id:
            return self._alive()
        if call_id == self._start_call:
            return self._start_answered(turn, answer)
        if call_id == self._interrupt_call:
            return self._interrupt_answered(turn, answer)
        return self._over() if call_id == self._clean_call else self._alive()

    # --- steps of a turn --------------------------------------------------------------------

    def _start_answered(self, turn: CodexTurn, answer: Any) -> list[Signal]:
        if isinstance(answer, ErrorResponse):
            self._ended = answer
            return self._over()
        events = turn.begin(as_text(as_dict(as_dict(answer).get("turn")).get("id")))
        self._interrupt()
        return self._alive(events)

    def _began(self, turn: CodexTurn, turn_id: str) -> list[Signal]:
        """Codex began the turn; it may say so before it answers `turn/start`."""
        turn.is_running = True
        events = turn.begin(turn_id)
        self._interrupt()
        return self._alive(events)

    def _completed(self, turn: CodexTurn, ended: Any) -> list[Signal]:
        """The turn is over; when it was cut off, commands that it left running are ended first."""
        self._ended = as_dict(ended)
        if self._ended.get("status") != "interrupted":
            return self._over()
        turn.interrupted()
        if not turn.has_open_command:
            return self._over()
        self._clean_call = self._send("thread/backgroundTerminals/clean")
        return self._alive()

    def _interrupt_answered(self, turn: CodexTurn, answer: Any) -> list[Signal]:
        """“No active turn” is as good as done, unless the turn had only not begun yet."""
        if self._ended is None and isinstance(answer, ErrorResponse) and is_no_turn(answer):
            if turn.is_running:
                return self._completed(turn, {"status": "interrupted"})
            turn.needs_interrupt = True
        return self._alive()

    def _interrupt(self) -> None:
        turn = self.turn
        if turn is not None and turn.needs_interrupt and turn.native_id:
            turn.needs_interrupt = False
            self._interrupt_call = self._send("turn/interrupt", turnId=turn.native_id)

    def _over(self) -> list[Signal]:
        if self._is_over:
            return self._alive()
        self._is_over = True
        return [PromptAnswered(self._id)]

    def _alive(self, events: list[NativeEvent] | list[UsageReported] | None = None) -> list[Signal]:
        return [Activity(self._id, tuple(events or ()))]

    def _send(self, method: str, **params: Any) -> int:
        return self._call(method, {"threadId": self._id, **params})


def _text_input(text: str) -> list[dict[str, str]]:
    clean = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate is no JSON
    return [{"type": "text", "text": clean}]
