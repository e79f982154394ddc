"""One turn of Claude Code: what it sent since our message, as native events.

Owns the state between a message and the `result` that ends it: whether Claude Code has it, which
further messages were put into it, what was said, which question it asked. Claude Code also makes
turns nobody asked for (a background command ended): what comes before it begins ours, and a result
of another turn, does not belong here. Invariants: `TurnStarted` is first, exactly one terminal is
last; the turn does not end while a further message of ours waits; no field is trusted. The
counterpart is `claude.py`, which routes lines here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from groupx_server.agents.claude_calls import ClaudeCalls
from groupx_server.agents.claude_errors import ABORTED, read_failure
from groupx_server.agents.claude_messages import Messages
from groupx_server.agents.claude_plan import PlanBook
from groupx_server.agents.claude_usage import CostBook, TurnUsage
from groupx_server.agents.loose import as_dict, as_list, as_text
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    TerminalEvent,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    UsageReported,
    Waiting,
)
from groupx_shared.errors import ErrorCode
from groupx_shared.text import safe_line

_MAX_WORD_CHARS: Final = 80
_GONE: Final = frozenset({"cancelled", "discarded", "refused"})
"""States of a message that Claude Code will not work on."""

Phase = Literal["sent", "queued", "running", "answered"]
"""sent: nothing heard; queued: Claude Code has the message but does not work on it yet."""


class ClaudeTurn:
    """The turn in flight; `agent` names it in sentences, `message_id` is our message's UUID."""

    def __init__(
        self,
        agent: str,
        message_id: str,
        plan: PlanBook,
        costs: CostBook,
        *,
        is_tracked: bool = False,
    ) -> None:
        self.message_id = message_id
        self.cancel_asked = False
        self.session_lost = False
        self.process_is_fine = False
        self.phase: Phase = "sent"
        self.is_tracked = is_tracked
        """True when Claude Code tells what becomes of each message."""
        self._agent = agent
        self._calls = ClaudeCalls(plan)
        self._messages = Messages(self._calls)
        self._usage = TurnUsage(costs)
        self._verdict: TurnFailed | None = None
        self._further: set[str] = set()
        self._held = False  # a result, since a further message waits
        self._started = False
        self._has_output = False
        self._api_error = ""
        self._resets_at: int | None = None
        self._result: dict[str, Any] = {}

    # --- what is known ----------------------------------------------------------------------

    @property
    def has_started(self) -> bool:
        """True once something proved that Claude Code has the message."""
        return self._started

    @property
    def has_open_tool(self) -> bool:
        """True while a tool runs."""
        return self._calls.has_open

    @property
    def was_asked(self) -> bool:
        """True once something happened that the turn fails for, whatever its end will be."""
        return self._verdict is not None

    @property
    def takes_more(self) -> bool:
        """True while a further message can be put into the turn."""
        return self.is_tracked and self.phase == "running" and not self.cancel_asked

    # --- what Claude Code says --------------------------------------------------------------

    def lifecycle(self, message_id: str, state: str) -> list[NativeEvent]:
        """What became of a message, ours or another one's."""
        if message_id == self.message_id:
            return self._own_lifecycle(state)
        if state == "started":
            self._further.discard(message_id)
            self._held = False
        elif state in _GONE:
            return self.give_up_further(message_id)
        return []

    def began(self) -> list[NativeEvent]:
        """A turn begins (`system/init`): ours, unless Claude Code tells when our message is taken
        up, and has not told so yet (then it is a turn of its own)."""
        if self.phase != "sent" or self.is_tracked:
            return []
        self.phase = "running"
        return self._begin([])

    def take(self, message: dict[str, Any]) -> list[NativeEvent]:
        """Take a line that belongs to the running turn."""
        if message.get("type") == "rate_limit_event":
            self._limits(as_dict(message.get("rate_limit_info")))
        if self.phase != "running":
            return []
        match message.get("type"):
            case "stream_event" if not message.get("parent_tool_use_id"):
                return self._stream(as_dict(message.get("event")))
            case "assistant":
                return self._assistant(message)
            case "user":
                return self._user(message)
            case "system":
                return self._system(message)
            case "result":
                return self._ended(message)
            case _:
                return []

    def ask(self, call_id: str, what: str, title: str, kind: str) -> None:
        """Claude Code asked something that nobody can answer here: the turn will fail."""
        named = safe_line(title or self._calls.title(call_id), 200) or "something it did not name"
        self.blame(
            TurnFailed(
                ErrorCode.UNEXPECTED_NATIVE_INTERACTION,
                f"{self._agent} asked for {what} ({named}), which nobody can give here.",
                details={"title": named, "kind": kind},
            )
        )

    def blame(self, verdict: TurnFailed) -> None:
        """The turn will end with this failure; the first one counts."""
        self._verdict = self._verdict or verdict

    def further(self, message_id: str) -> None:
        """A further message was sent: the turn goes on until Claude Code has taken it up."""
        self._further.add(message_id)

    def give_up_further(self, message_id: str) -> list[NativeEvent]:
        """A further message will not be worked on: it is not waited for any more."""
        self._further.discard(message_id)
        return self._answered() if self._held and not self._further else []

    # --- the end ----------------------------------------------------------------------------

    def finish(self) -> list[NativeEvent]:
        """End the answered turn: its last events, the terminal last."""
        terminal = self._terminal()
        self.session_lost = isinstance(terminal, TurnFailed) and terminal.session_lost
        usage = self._usage.total()
        events = self._begin(self._end_calls(terminal))
        if isinstance(terminal, TurnCompleted):
            return [*events, replace(terminal, usage=usage)]
        return [*events, *([UsageReported(usage)] if usage else []), terminal]

    def fail(self, failure: TurnFailed) -> list[NativeEvent]:
        """End the turn from our side; no `TurnStarted` is invented for it."""
        failure = replace(failure, content=self._messages.answer.whole())
        return [*self._end_calls(failure), failure] if self._started else [failure]

    def interaction_failure(self, *, session_lost: bool = False) -> TurnFailed:
        """The failure that was decided on (`was_asked` must be true)."""
        verdict = self._verdict or TurnFailed(ErrorCode.UNEXPECTED_NATIVE_INTERACTION, "")
        return replace(verdict, session_lost=session_lost or verdict.session_lost)

    # --- inside -----------------------------------------------------------------------------

    def _own_lifecycle(self, state: str) -> list[NativeEvent]:
        if self.phase == "answered":
            return []
        self.is_tracked = True
        if state == "queued":
            self.phase = "queued"
        elif state == "started":
            self.phase = "running"
        elif state in _GONE and self.phase != "running":
            self.phase = "answered"
            self._result = {"is_error": True, "terminal_reason": f"message_{state}"}
        return self._begin([])

    def _stream(self, event: dict[str, Any]) -> list[NativeEvent]:
        usage = event.get("usage") or as_dict(event.get("message")).get("usage")
        self._usage.saw_message(usage)
        return self._said(self._messages.stream(event))

    def _assistant(self, line: dict[str, Any]) -> list[NativeEvent]:
        message = as_dict(line.get("message"))
        if line.get("parent_tool_use_id"):
            return self._said(self._sub_agent_calls(message))
        if line.get("is_api_error_message") is True or as_text(line.get("error")):
            self._api_error = safe_line(as_text(line.get("error")), _MAX_WORD_CHARS)
            self._messages.keep()
            return []
        return self._said(self._messages.whole(message))

    def _sub_agent_calls(self, message: dict[str, Any]) -> list[NativeEvent]:
        """Of a sub-agent only what it does is shown; what it says comes as its task's result."""
        blocks = [as_dict(block) for block in as_list(message.get("content"))]
        return [
            event
            for block in blocks
            if block.get("type") == "tool_use"
            for event in self._calls.call(
                as_text(block.get("id")), as_text(block.get("name")), block.get("input")
            )
        ]

    def _user(self, line: dict[str, Any]) -> list[NativeEvent]:
        content = as_list(as_dict(line.get("message")).get("content"))
        is_cancelled = self.cancel_asked or self.was_asked
        return self._said(self._calls.results(content, line, cancelled=is_cancelled))

    def _system(self, line: dict[str, Any]) -> list[NativeEvent]:
        match line.get("subtype"):
            case "api_retry":
                self._messages.discard()
                return [Waiting(0.0, _retry_words(line))]
            case "status" if line.get("status") == "compacting":
                return [Waiting(0.0, "it makes its context smaller")]
            case _:
                return []

    def _limits(self, info: dict[str, Any]) -> None:
        resets_at = info.get("resetsAt")
        if info.get("status") == "rejected" and isinstance(resets_at, int | float):
            self._resets_at = int(resets_at)

    def _ended(self, result: dict[str, Any]) -> list[NativeEvent]:
        self._usage.saw_result(result)
        self._messages.keep()
        self._result = result
        self._held = bool(self._further)  # our further message is answered next, in the same turn
        return [] if self._held else self._answered()

    def _answered(self) -> list[NativeEvent]:
        self.phase = "answered"
        text = as_text(self._result.get("result"))
        if self._result.get("is_error") is True or self._has_output or not text:
            return []
        return self._said([ContentDelta(text)])  # nothing was streamed

    def _said(self, events: Sequence[NativeEvent]) -> list[NativeEvent]:
        self._has_output = self._has_output or bool(events)
        return self._begin(events)

    def _begin(self, events: Sequence[NativeEvent]) -> list[NativeEvent]:
        if self._started:
            return list(events)
        self._started = True
        return [TurnStarted(self.message_id), *events]

    def _end_calls(self, terminal: TerminalEvent) -> list[NativeEvent]:
        return self._calls.end_all("failed" if isinstance(terminal, TurnFailed) else "cancelled")

    def _terminal(self) -> TerminalEvent:
        result, content = self._result, self._messages.answer.whole()
        if self._verdict is not None:
            return replace(self.interaction_failure(), content=content)
        reason = as_text(result.get("terminal_reason"))
        is_error = result.get("is_error") is True
        if self.cancel_asked and (is_error or reason in ABORTED):
            return TurnCancelled(content)
        if reason in ABORTED:
            message = f"{self._agent} broke off the turn by itself; nobody asked for it."
            return TurnFailed(ErrorCode.TURN_INTERRUPTED, message, content=content)
        if is_error:
            failure = read_failure(self._agent, result, self._api_error, self._resets_at)
            return replace(failure, content=content)
        stop_reason = safe_line(as_text(result.get("stop_reason")), _MAX_WORD_CHARS) or "end_turn"
        if self._has_output:
            return TurnCompleted(content, stop_reason)
        return self._empty(stop_reason)

    def _empty(self, stop_reason: str) -> TerminalEvent:
        if self.cancel_asked:
            return TurnCancelled()
        details = {"stopReason": stop_reason}
        if stop_reason == "refusal":
            message = f"{self._agent} refused to answer."
            return TurnFailed(ErrorCode.AGENT_ERROR, message, details=details)
        return TurnFailed(
            ErrorCode.EMPTY_ANSWER,
            f"{self._agent} ended its turn ({stop_reason}) without a word, a tool call or an "
            "error; its model probably failed. Try again.",
            details=details,
        )


def _retry_words(line: dict[str, Any]) -> str:
    """One line: which try it is, in how long, and why."""
    status, error = line.get("error_status"), as_text(line.get("error")) or "an error"
    why = f"{error}, HTTP {status}" if isinstance(status, int) else error
    delay_ms = line.get("retry_delay_ms")
    when = f" in {delay_ms / 1000:.1f} s" if isinstance(delay_ms, int | float) else ""
    attempt, most = line.get("attempt"), line.get("max_retries")
    tries = f" ({attempt} of {most})" if isinstance(attempt, int) else ""
    return safe_line(f"it tries its model again{when}{tries}: {why}", 200)
