"""One Codex turn: its notifications as native events.

Owns the state between `turn/start` and `turn/completed`: the answer, the tool calls, the question
that was put, whether a cancel was asked. Invariants: `TurnStarted` is first, exactly one terminal
is last; an `error` notification never ends the turn; items that Codex leaves open are closed with
it. No field is trusted. The counterpart is `codex.py`, which routes notifications here by thread
and turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from groupx_server.agents.codex_answer import CodexAnswer
from groupx_server.agents.codex_errors import read_refusal, read_turn_error, reason_of
from groupx_server.agents.codex_items import read_tool_item, terminal_item, text_item
from groupx_server.agents.codex_patch import diff_items
from groupx_server.agents.codex_reasoning import CodexReasoning
from groupx_server.agents.jsonrpc import ErrorResponse
from groupx_server.agents.loose import as_dict, as_list, as_text
from groupx_server.agents.tool_calls import ToolCalls
from groupx_server.domain.native import (
    NativeEvent,
    PlanUpdated,
    TerminalEvent,
    ToolCall,
    ToolStatus,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    Waiting,
)
from groupx_shared.errors import ErrorCode
from groupx_shared.text import safe_line

MAX_PLAN_ENTRIES: Final = 200
LIVE_OUTPUT_CHARS: Final = 4_000
"""Of a running command the last characters are shown; its whole output comes at its end."""
_MAX_TITLE_CHARS: Final = 200
_PLAN_STATUS: Final = {"inProgress": "in_progress"}
_IN_BACKGROUND: Final = "It goes on in the background."
_MESSAGES: Final = frozenset({"agentMessage", "plan"})

Params = dict[str, Any]


class CodexTurn:
    """The turn in flight of one thread; `agent` names it in sentences."""

    def __init__(self, agent: str) -> None:
        self.native_id = ""
        self.is_running = False
        """`turn/started` came: an interrupt finds it."""
        self.cancel_asked = False
        self.needs_interrupt = False
        """An interrupt is due as soon as Codex has begun the turn."""
        self.interaction: dict[str, str] | None = None
        self.session_lost = False
        self.process_is_fine = False
        self._agent = agent
        self._answer = CodexAnswer()
        self._reasoning = CodexReasoning()
        self._tools = ToolCalls()
        self._output: dict[str, str] = {}
        self._started = False
        self._has_acted = False
        self._last_error: Params = {}
        self._is_interrupted = False
        self._readers: dict[str, Callable[[Params], Sequence[NativeEvent]]] = {
            "item/started": self._item_started,
            "item/completed": self._item_completed,
            "item/agentMessage/delta": self._message_delta,
            "item/plan/delta": self._message_delta,
            "item/reasoning/summaryTextDelta": self._summary_delta,
            "item/reasoning/textDelta": self._thought_delta,
            "item/commandExecution/outputDelta": self._output_delta,
            "item/fileChange/patchUpdated": self._patch_updated,
            "item/mcpToolCall/progress": self._tool_message,
            "turn/plan/updated": self._plan_updated,
            "error": self._error,
        }

    @property
    def has_started(self) -> bool:
        """True once Codex has taken the prompt."""
        return self._started

    @property
    def has_open_tool(self) -> bool:
        """True while a tool runs."""
        return self._tools.has_open

    @property
    def has_open_command(self) -> bool:
        """True while a shell command of this turn runs; an interrupt alone does not end it."""
        return any(call_id in self._output for call_id in self._tools.open_ids)

    @property
    def was_asked(self) -> bool:
        """True once Codex put a question that nobody can answer here."""
        return self.interaction is not None

    def begin(self, native_id: str) -> list[NativeEvent]:
        """Codex took the prompt as the turn `native_id`."""
        self.native_id = self.native_id or native_id
        if self._started:
            return []
        self._started = True
        return [TurnStarted(self.native_id or None)]

    def notice(self, method: str, params: Params) -> list[NativeEvent]:
        """Take a notification of this turn; one that means nothing here gives nothing."""
        reader = self._readers.get(method)
        return list(reader(params)) if reader is not None else []

    def ask(self, title: str, kind: str) -> None:
        """Codex asked something: the turn will fail; the first question counts."""
        if self.interaction is None:
            self.interaction = {
                "title": safe_line(title, _MAX_TITLE_CHARS) or "something it did not name",
                "kind": safe_line(kind, _MAX_TITLE_CHARS),
            }

    def interrupted(self) -> None:
        """The turn ended by an interrupt; what fails from now on was cut off."""
        self._is_interrupted = True

    def finish(self, ended: Any | ErrorResponse, resets_at: int | None) -> list[NativeEvent]:
        """End the turn by the `turn` of `turn/completed`, or by the refusal of `turn/start`."""
        if isinstance(ended, ErrorResponse):
            return [self._refused(ended)]
        terminal = self._terminal(as_dict(ended), resets_at)
        return [*self.begin(""), *self._end_tools(terminal), terminal]

    def fail(self, failure: TurnFailed) -> list[NativeEvent]:
        """End the turn from our side; no `TurnStarted` is invented for it."""
        failure = replace(failure, content=self._answer.replacement())
        return [*self._end_tools(failure), failure] if self._started else [failure]

    def interaction_failure(self, *, session_lost: bool = False) -> TurnFailed:
        """The failure for the question that Codex put (`interaction` must be known)."""
        asked = self.interaction or {}
        return TurnFailed(
            ErrorCode.UNEXPECTED_NATIVE_INTERACTION,
            f"{self._agent} asked a question ({asked.get('title', '')}), which nobody can answer "
            "here. Set it up so that it works without asking.",
            session_lost=session_lost,
            details=dict(asked),
            content=self._answer.replacement(),
        )

    # --- notifications ----------------------------------------------------------------------

    def _item_started(self, params: Params) -> Sequence[NativeEvent]:
        item = as_dict(params.get("item"))
        call = read_tool_item(item, is_over=False)
        if call is None:
            return []
        if item.get("type") == "commandExecution":
            self._output.setdefault(call.call_id, "")
        return self._put(call)

    def _item_completed(self, params: Params) -> Sequence[NativeEvent]:
        item = as_dict(params.get("item"))
        item_id, kind = as_text(item.get("id")), as_text(item.get("type"))
        if kind in _MESSAGES:
            return self._answer.complete(item_id, as_text(item.get("text")))
        if kind == "reasoning":
            return self._reasoning.complete(item_id, item)
        call = read_tool_item(item, is_over=True)
        if call is None:
            return []
        live = self._output.pop(call.call_id, "")
        if live and not call.content:
            call = replace(call, content=(terminal_item(live),))
        if self._is_interrupted and call.status == "failed":
            call = replace(call, status="cancelled")
        return self._put(call)

    def _message_delta(self, params: Params) -> Sequence[NativeEvent]:
        return self._answer.grow(as_text(params.get("itemId")), as_text(params.get("delta")))

    def _summary_delta(self, params: Params) -> Sequence[NativeEvent]:
        return self._reasoning.grow(params, "summary", "summaryIndex")

    def _thought_delta(self, params: Params) -> Sequence[NativeEvent]:
        return self._reasoning.grow(params, "content", "contentIndex")

    def _output_delta(self, params: Params) -> Sequence[NativeEvent]:
        call = self._tools.find(params.get("itemId"))
        if call is None or call.call_id not in self._output:
            return []
        shown = (self._output[call.call_id] + as_text(params.get("delta")))[-LIVE_OUTPUT_CHARS:]
        self._output[call.call_id] = shown
        return self._put(replace(call, content=(terminal_item(shown),)))

    def _patch_updated(self, params: Params) -> Sequence[NativeEvent]:
        call = self._tools.find(params.get("itemId"))
        if call is None:
            return []
        changes = [as_dict(change) for change in as_list(params.get("changes"))]
        diffs = tuple(diff for change in changes for diff in diff_items(change))
        return self._put(replace(call, content=diffs))

    def _tool_message(self, params: Params) -> Sequence[NativeEvent]:
        call, text = self._tools.find(params.get("itemId")), as_text(params.get("message"))
        if call is None or not text:
            return []
        return self._put(replace(call, content=(text_item(text[:LIVE_OUTPUT_CHARS]),)))

    def _plan_updated(self, params: Params) -> Sequence[NativeEvent]:
        self._has_acted = True
        steps = [as_dict(step) for step in as_list(params.get("plan"))[:MAX_PLAN_ENTRIES]]
        return [PlanUpdated(tuple(_plan_entry(step) for step in steps))]

    def _error(self, params: Params) -> Sequence[NativeEvent]:
        error = as_dict(params.get("error"))
        if params.get("willRetry") is not True:
            self._last_error = error
            return []
        self._answer.drop_open()
        return [Waiting(0.0, reason_of(error))]

    def _put(self, call: ToolCall) -> Sequence[NativeEvent]:
        self._has_acted = True
        return self._tools.put(call)

    # --- the end ----------------------------------------------------------------------------

    def _terminal(self, turn: Params, resets_at: int | None) -> TerminalEvent:
        if self.interaction is not None:
            return self.interaction_failure()
        status, content = turn.get("status"), self._answer.replacement()
        if status == "failed":
            error = as_dict(turn.get("error")) or self._last_error
            failure = read_turn_error(self._agent, error, resets_at)
            return replace(failure, content=content)
        if status == "interrupted":
            return self._interrupted_terminal(content)
        if self._answer.has_text or self._has_acted:
            return TurnCompleted(content)
        if self.cancel_asked:
            return TurnCancelled()
        return TurnFailed(
            ErrorCode.EMPTY_ANSWER,
            f"{self._agent} ended its turn without a word, a tool call or an error; its model "
            "probably failed. Look at its log and try again.",
        )

    def _interrupted_terminal(self, content: str | None) -> TerminalEvent:
        if self.cancel_asked:
            return TurnCancelled(content)
        return TurnFailed(
            ErrorCode.TURN_INTERRUPTED,
            f"{self._agent} stopped the turn by itself; nobody asked for it. Send it again.",
            content=content,
        )

    def _refused(self, answer: ErrorResponse) -> TerminalEvent:
        if self.cancel_asked and not self.was_asked:
            return TurnCancelled()
        error = read_refusal(self._agent, answer)
        self.session_lost = error.code is ErrorCode.SESSION_NOT_AVAILABLE
        self.process_is_fine = self.session_lost
        return TurnFailed(error.code, error.message, self.session_lost, dict(error.details))

    def _end_tools(self, terminal: TerminalEvent) -> list[NativeEvent]:
        """Close what Codex left open; a command that outlives a finished turn runs on."""
        events: list[NativeEvent] = []
        if isinstance(terminal, TurnCompleted):
            for call_id in self._tools.open_ids:
                call = self._tools.find(call_id)
                if call is not None and call_id in self._output:
                    content = (*call.content, text_item(_IN_BACKGROUND))
                    events += self._tools.put(replace(call, status="completed", content=content))
        status: ToolStatus = "failed" if isinstance(terminal, TurnFailed) else "cancelled"
        return [*events, *self._tools.end_all(status)]


def _plan_entry(step: Params) -> dict[str, str]:
    status = as_text(step.get("status")) or "pending"
    return {
        "content": as_text(step.get("step")),
        "priority": "medium",
        "status": _PLAN_STATUS.get(status, status),
    }
