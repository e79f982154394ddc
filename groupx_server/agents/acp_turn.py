"""One ACP turn: what the agent sent since the prompt, as native events.

Owns the state between `session/prompt` and its end: the tool calls, whether anything was said,
whether a cancel was asked, which question the agent put. Invariants: nothing is emitted before
something proves that the agent has the prompt (late notices of the session do not), `TurnStarted`
is first, exactly one terminal is last. No field of the agent is trusted. The counterpart is
`acp.py`, which routes messages here by session.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from groupx_server.agents.acp_errors import read_refusal
from groupx_server.agents.acp_tools import AcpToolCalls
from groupx_server.agents.acp_usage import usage_of_chunk, usage_of_result, usage_of_update
from groupx_server.agents.jsonrpc import ErrorResponse
from groupx_server.agents.loose import as_dict, as_text
from groupx_server.agents.mediawords import media_words
from groupx_server.agents.token_usage import Usage
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    PlanUpdated,
    ReasoningDelta,
    TerminalEvent,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    UsageReported,
)
from groupx_shared.errors import ErrorCode
from groupx_shared.text import safe_line

MAX_PLAN_ENTRIES: Final = 200
_HEAD_CHARS: Final = 400
"""How much of the answer is kept to recognise a broken session by its words."""
_MAX_TITLE_CHARS: Final = 200
_EMPTY_HEADING: Final = "****\n"
"""Gemini puts an empty bold heading before each piece of a thought without a title."""
REQUEST_CANCELLED: Final = -32800


@dataclass(frozen=True, slots=True)
class Quirks:
    """What is known of one vendor, as data of its profile."""

    lost_patterns: tuple[re.Pattern[str], ...] = ()
    """A whole answer that matches means that the session takes no more prompts."""
    aside_patterns: tuple[re.Pattern[str], ...] = ()
    """A message chunk that matches is the program's own remark, not the answer."""
    lost_on_cancel_error: bool = True
    """An error instead of `cancelled` after our cancel: the session is not trusted again."""
    sign_in: str = ""
    """What a person does when nobody is signed in; a sentence."""
    tools_ready: str = ""
    """The notification that tells, with its `sessionId`, that the session's tools are there."""


class AcpTurn:
    """The turn in flight of one session; `agent` names it in sentences."""

    def __init__(self, agent: str, request_id: int, quirks: Quirks) -> None:
        self.request_id = request_id
        self.cancel_asked = False
        self.interaction: dict[str, str] | None = None
        self.session_lost = False
        self.process_is_fine = False
        self._agent = agent
        self._quirks = quirks
        self._tools = AcpToolCalls()
        self._started = False
        self._has_output = False
        self._head = ""
        self._chars = 0
        self._held_usage: Usage = {}
        self._last_usage: Usage = {}

    @property
    def has_started(self) -> bool:
        """True once something proved that the agent has the prompt."""
        return self._started

    @property
    def has_open_tool(self) -> bool:
        """True while a tool runs; agents are silent for long then."""
        return self._tools.has_open

    @property
    def was_asked(self) -> bool:
        """True once the agent asked for a permission."""
        return self.interaction is not None

    def update(self, update: dict[str, Any]) -> list[NativeEvent]:
        """Take the `update` of a `session/update`."""
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                return self._message(update)
            case "agent_thought_chunk":
                return self._thought(update)
            case "tool_call" | "tool_call_update":
                return self._tool(update)
            case "plan":
                return self._plan(update)
            case "usage_update":
                return self._usage(usage_of_update(update))
            case "user_message_chunk":
                return self._begin([])
            case _:
                return []

    def ask(self, fields: dict[str, Any]) -> list[NativeEvent]:
        """The agent asked for a permission: the turn will fail; shows the call it was for."""
        events = self._tool(fields)
        known = self._tools.find(fields.get("toolCallId"))
        title = as_text(fields.get("title")) or (known.title if known else "")
        kind = as_text(fields.get("kind")) or (known.kind if known else "")
        if self.interaction is None:
            self.interaction = {
                "title": safe_line(title, _MAX_TITLE_CHARS) or "something it did not name",
                "kind": safe_line(kind, _MAX_TITLE_CHARS) or "other",
            }
        return events

    def finish(self, answer: Any | ErrorResponse) -> list[NativeEvent]:
        """End the turn by the result or the error of `session/prompt`."""
        usage = {} if isinstance(answer, ErrorResponse) else usage_of_result(answer)
        terminal = self._terminal(answer, usage)
        return [*self._begin([]), *self._end_tools(terminal), terminal]

    def fail(self, failure: TurnFailed) -> list[NativeEvent]:
        """End the turn from our side; no `TurnStarted` is invented for it."""
        return [*self._end_tools(failure), failure] if self._started else [failure]

    def interaction_failure(self, *, session_lost: bool = False) -> TurnFailed:
        """The failure for the question that the agent put (`interaction` must be known)."""
        asked = self.interaction or {}
        return TurnFailed(
            ErrorCode.UNEXPECTED_NATIVE_INTERACTION,
            f"{self._agent} asked for a permission ({asked.get('title', '')}), which nobody can "
            "give here. Set its mode so that it works without asking.",
            session_lost=session_lost,
            details=dict(asked),
        )

    def _message(self, update: dict[str, Any]) -> list[NativeEvent]:
        content = update.get("content")
        text = content.get("text") if type(content) is dict else None
        if type(text) is not str:
            text = content_text(content)
        if not text:
            usage = usage_of_chunk(update)
            return self._begin([UsageReported(usage)] if usage else [])
        asides = self._quirks.aside_patterns
        if asides and any(pattern.match(text) for pattern in asides):
            return self._begin([ReasoningDelta(text)])
        self._has_output = True
        self._chars += len(text)
        if len(self._head) < _HEAD_CHARS:
            self._head = (self._head + text[:_HEAD_CHARS])[:_HEAD_CHARS]
        message_id = update.get("messageId")
        events: list[NativeEvent] = [
            ContentDelta(text, message_id if type(message_id) is str else None)
        ]
        return events if self._started else self._begin(events)

    def _thought(self, update: dict[str, Any]) -> list[NativeEvent]:
        text = content_text(update.get("content")).removeprefix(_EMPTY_HEADING)
        return self._begin([ReasoningDelta(text)] if text else [])

    def _tool(self, fields: dict[str, Any]) -> list[NativeEvent]:
        events = self._tools.update(fields)
        self._has_output = self._has_output or bool(events)
        return self._begin(list(events))

    def _plan(self, update: dict[str, Any]) -> list[NativeEvent]:
        entries = plan_entries(update.get("entries"))
        self._has_output = self._has_output or bool(entries)
        return self._begin([PlanUpdated(entries)])

    def _usage(self, usage: Usage) -> list[NativeEvent]:
        if not self._started:
            self._held_usage.update(usage)
            return []
        if not usage or usage == self._last_usage:
            return []
        self._last_usage = usage
        return [UsageReported(usage)]

    def _begin(self, events: list[NativeEvent]) -> list[NativeEvent]:
        if self._started:
            return events
        self._started = True
        held = self._last_usage = self._held_usage
        return [TurnStarted(), *([UsageReported(held)] if held else []), *events]

    def _end_tools(self, terminal: TerminalEvent) -> list[NativeEvent]:
        return list(
            self._tools.end_all("failed" if isinstance(terminal, TurnFailed) else "cancelled")
        )

    def _terminal(self, answer: Any | ErrorResponse, usage: Usage) -> TerminalEvent:
        if self.interaction is not None:
            return self.interaction_failure()
        if isinstance(answer, ErrorResponse):
            return self._error_terminal(answer)
        stop = answer.get("stopReason") if isinstance(answer, dict) else None
        stop_reason = safe_line(stop, 80) if isinstance(stop, str) and stop else "end_turn"
        if stop_reason == "cancelled":
            return self._cancelled_terminal()
        if self._is_lost_answer():
            self.session_lost = True
            return TurnFailed(
                ErrorCode.SESSION_NOT_AVAILABLE,
                f"{self._agent} no longer takes prompts in this session; it answered only "
                f"“{safe_line(self._head, 120)}”. It is started again for the next turn.",
                session_lost=True,
            )
        if self._has_output:
            return TurnCompleted(stop_reason=stop_reason, usage=usage)
        return self._empty_terminal(stop_reason)

    def _error_terminal(self, answer: ErrorResponse) -> TerminalEvent:
        if self.cancel_asked:
            self.session_lost = (
                answer.code != REQUEST_CANCELLED and self._quirks.lost_on_cancel_error
            )
            return TurnCancelled()
        refusal = read_refusal(self._agent, answer, self._quirks.sign_in)
        self.session_lost = refusal.session_lost
        self.process_is_fine = refusal.process_is_fine
        return TurnFailed(refusal.code, refusal.message, refusal.session_lost, refusal.details)

    def _cancelled_terminal(self) -> TerminalEvent:
        if self.cancel_asked:
            return TurnCancelled()
        return TurnFailed(
            ErrorCode.TURN_INTERRUPTED,
            f"{self._agent} cancelled the turn by itself; nobody asked for it. Send it again.",
        )

    def _empty_terminal(self, stop_reason: str) -> TerminalEvent:
        if self.cancel_asked:
            return TurnCancelled()
        details = {"stopReason": stop_reason}
        if stop_reason == "refusal":
            return TurnFailed(
                ErrorCode.AGENT_ERROR, f"{self._agent} refused to answer.", details=details
            )
        return TurnFailed(
            ErrorCode.EMPTY_ANSWER,
            f"{self._agent} ended its turn ({stop_reason}) without a word, a tool call or an "
            "error; its model probably failed. Look at the agent's log and try again.",
            details=details,
        )

    def _is_lost_answer(self) -> bool:
        if not self._head or self._chars > len(self._head):
            return False
        return any(pattern.fullmatch(self._head) for pattern in self._quirks.lost_patterns)


def content_text(content: Any) -> str:
    """The text of a content block (or of a list of them); a block of another type is named."""
    if isinstance(content, list):
        return "".join(content_text(item) for item in content if not isinstance(item, list))
    if not isinstance(content, dict):
        return ""
    text = content.get("text")
    if isinstance(text, str):
        return text
    match content.get("type"):
        case "resource_link":
            return f"[{safe_line(str(content.get('name') or 'link'))}]({content.get('uri', '')})"
        case "resource":
            return content_text({"text": as_dict(content.get("resource")).get("text")})
        case "image" | "audio" as kind:
            form, data = content.get("mimeType"), content.get("data")
            return media_words(kind, form, data, content.get("uri"))
        case _:
            return ""


def plan_entries(entries: Any) -> tuple[dict[str, str], ...]:
    """The entries of a plan, each with the three keys as text."""
    if not isinstance(entries, list):
        return ()
    return tuple(
        {
            "content": as_text(as_dict(entry).get("content")) or "",
            "priority": as_text(as_dict(entry).get("priority")) or "medium",
            "status": as_text(as_dict(entry).get("status")) or "pending",
        }
        for entry in entries[:MAX_PLAN_ENTRIES]
        if isinstance(entry, dict)
    )
