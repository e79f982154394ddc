"""Our end of Claude Code's stream-json conversation, without I/O and without a clock.

Owns one process's conversation, which is one session: our open requests, the turn in flight, the
interrupts. Lines of Claude Code go into `receive`, signals come out; what must be sent is taken
from `data_to_send`.

Invariants: a request of Claude Code is answered at once (a question is denied and the turn
interrupted, also one of an unknown kind), so that it never waits for us; our own messages carry
ids, so that a result is never taken for another turn's; `receive` never raises. The counterparts
are `claude_driver.py`, which owns process and waits, and `claude_turn.py`.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any, Final

import orjson

from groupx_server.agents.base import MODEL_CHARS
from groupx_server.agents.claude_plan import PlanBook
from groupx_server.agents.claude_turn import ClaudeTurn
from groupx_server.agents.claude_usage import CostBook
from groupx_server.agents.jsonrpc import ErrorResponse, Noise, parse_json
from groupx_server.agents.loose import as_dict, as_text
from groupx_server.agents.signals import (
    Activity,
    CallEnded,
    InteractionRefused,
    PromptAnswered,
    Signal,
)
from groupx_server.domain.native import NativeEvent, TurnFailed
from groupx_shared.errors import AgentError, ErrorCode
from groupx_shared.text import safe_line

AGENT_NAME: Final = "Claude Code"
UNRESTRICTED: Final = "bypassPermissions"
_ID_PREFIX: Final = "groupx-"
_EXCERPT_BYTES: Final = 200
_DENIED: Final = "Nobody can answer questions here. Go on without asking."
_QUESTIONS: Final[dict[str, tuple[str, dict[str, Any] | None]]] = {
    "can_use_tool": (
        "a permission",
        {"behavior": "deny", "message": _DENIED, "interrupt": True},
    ),
    "elicitation": ("an answer", {"action": "cancel"}),
    "request_user_dialog": ("a decision", {"behavior": "cancelled"}),
}
"""Requests that need a person: what they ask for, and the answer that lets Claude Code go on."""
_MACHINERY: Final = frozenset(
    {"hook_callback", "mcp_message", "oauth_token_refresh", "host_auth_token_refresh"}
)
"""Requests to a host program that offers more than we do; without it Claude Code goes on."""


class ClaudeClient:
    """The protocol state of one session; `cwd` is the folder it must say it works in."""

    def __init__(self, session_id: str, cwd: Path, *, is_new: bool) -> None:
        self.agent_name = AGENT_NAME
        self.session_id = session_id
        self.model = ""
        """The model of the last turn, as it told; cleaned."""
        self._cwd = cwd
        self._plan = PlanBook()
        self._costs = CostBook(is_new=is_new)
        self._turn: ClaudeTurn | None = None
        self._is_told = False  # that the turn was answered
        self._is_tracking = False  # it tells what becomes of our messages
        self._is_checked = False
        self._mode = UNRESTRICTED
        self._mode_refusal = ""
        self._last_id = 0
        self._waiting: dict[int, str] = {}
        self._interrupt_id: int | None = None
        self._further: dict[str, int] = {}
        self._out: list[bytes] = []

    def data_to_send(self) -> bytes:
        """Take the bytes that are due for Claude Code's stdin."""
        data = b"".join(self._out)
        self._out.clear()
        return data

    def request(self, subtype: str, **fields: Any) -> int:
        """Send a control request; returns the call's id."""
        call_id = self._new_id(subtype)
        self._send_request(call_id, subtype, fields)
        return call_id

    def abandon(self, call_id: int) -> None:
        """Stop waiting for a call; a late answer is noise."""
        self._waiting.pop(call_id, None)
        for message_id, ack_id in list(self._further.items()):
            if ack_id == call_id:
                del self._further[message_id]
                if self._turn is not None:
                    self._turn.give_up_further(message_id)

    @property
    def is_answered(self) -> bool:
        """True while a turn has ended and `finish` was not called yet."""
        return self._turn is not None and self._turn.phase == "answered"

    def prompt(self, session_id: str, text: str) -> ClaudeTurn:
        """Send a message and return its turn. Raises: AgentError (SESSION_NOT_AVAILABLE) when the
        session is another one or has a turn in flight."""
        if session_id != self.session_id or self._turn is not None:
            found = "is not open" if session_id != self.session_id else "has a turn in flight"
            raise AgentError(
                f"The session {safe_line(session_id, 80)} of {self.agent_name} {found}; one "
                "message at a time can be sent to an open session.",
                code=ErrorCode.SESSION_NOT_AVAILABLE,
            )
        if self._mode != UNRESTRICTED:  # the model changed it in an earlier turn
            self.request("set_permission_mode", mode=UNRESTRICTED)
        message_id = str(uuid.uuid4())
        self._turn = ClaudeTurn(
            self.agent_name, message_id, self._plan, self._costs, is_tracked=self._is_tracking
        )
        self._is_told = False
        self._send_message(message_id, text)
        return self._turn

    def steer(self, text: str) -> int | None:
        """Put a further message into the turn in flight: beside the result of a running tool
        (which an urgent message could break off), else at once, in the middle of the answer.
        Returns the id of the call that ends when Claude Code has it; None when no turn takes
        it."""
        if self._turn is None or not self._turn.takes_more:
            return None
        message_id = str(uuid.uuid4())
        self._turn.further(message_id)
        call_id = self._further[message_id] = self._new_id("further message")
        priority = "next" if self._turn.has_open_tool else "now"
        self._send_message(message_id, text, priority=priority)
        return call_id

    def cancel(self, session_id: str) -> None:
        """Ask Claude Code to end the turn in flight, and to drop what waits behind it; not again
        before the last request was answered."""
        if session_id != self.session_id or self._turn is None:
            return
        self._turn.cancel_asked = True
        self._interrupt()

    def finish(self, session_id: str) -> list[NativeEvent]:
        """End the answered turn: its last events, the terminal last."""
        turn = self._turn
        if turn is None or session_id != self.session_id:
            return []
        self._turn = None
        return turn.finish()

    def forget(self, session_id: str) -> None:
        """Drop the turn in flight; what Claude Code still says of it is ignored."""
        if session_id == self.session_id:
            self._turn = None

    def close_session(self, session_id: str) -> int:
        """Ask Claude Code to end the session; returns the call's id."""
        return self.request("end_session")

    def receive(self, line: bytes) -> list[Signal]:
        """Read one line of Claude Code's stdout."""
        try:
            message = parse_json(line)
        except ValueError:
            return [Noise("the line is not JSON", line[:_EXCERPT_BYTES])]
        kind = message.get("type") if isinstance(message, dict) else None
        if not isinstance(kind, str):
            return [Noise("the JSON is no message", line[:_EXCERPT_BYTES])]
        match kind:
            case "control_response":
                return self._answered(as_dict(message.get("response")), line)
            case "control_request":
                return self._asked(message)
            case "command_lifecycle":
                return self._lifecycle(message)
            case _:
                return self._told(kind, message)

    # --- what Claude Code says --------------------------------------------------------------

    def _told(self, kind: str, message: dict[str, Any]) -> list[Signal]:
        turn, events = self._turn, list[NativeEvent]()
        if kind == "system" and message.get("subtype") == "init" and turn is not None:
            self.model = safe_line(as_text(message.get("model")), MODEL_CHARS)
            events.extend(turn.began())
            if turn.phase == "running" and (wrong := self._check(message)) is not None:
                return [Activity(self.session_id, tuple(events)), *self._refuse(turn, wrong)]
        self._watch_mode(kind, message)
        if turn is None:
            return [Activity(self.session_id)]
        events.extend(turn.take(message))
        return self._signals(turn, events)

    def _lifecycle(self, message: dict[str, Any]) -> list[Signal]:
        message_id, state = as_text(message.get("command_uuid")), as_text(message.get("state"))
        signals: list[Signal] = []
        ack_id = self._further.pop(message_id, None)
        if ack_id is not None and self._waiting.pop(ack_id, None) is not None:
            signals.append(CallEnded(ack_id, state))
        turn = self._turn
        if turn is None:
            return [*signals, Activity(self.session_id)]
        events = turn.lifecycle(message_id, state)
        self._is_tracking = self._is_tracking or turn.is_tracked
        if state == "started" and turn.cancel_asked:
            self._interrupt()  # it was asked before this message's turn began
        return [*signals, *self._signals(turn, events)]

    def _signals(self, turn: ClaudeTurn, events: list[NativeEvent]) -> list[Signal]:
        signals: list[Signal] = [Activity(self.session_id, tuple(events))]
        if turn.phase == "answered" and not self._is_told:
            self._is_told = True
            signals.append(PromptAnswered(self.session_id))
        return signals

    def _answered(self, response: dict[str, Any], line: bytes) -> list[Signal]:
        call_id = _own_id(response.get("request_id"))
        subtype = None if call_id is None else self._waiting.pop(call_id, None)
        if call_id is None or subtype is None:
            return [Noise("an answer to no open request", line[:_EXCERPT_BYTES])]
        if call_id == self._interrupt_id:
            self._interrupt_id = None
        answer: Any = as_dict(response.get("response"))
        if response.get("subtype") == "error":
            text, code = as_text(response.get("error")), as_text(response.get("error_code"))
            answer = ErrorResponse(call_id, subtype, 0, text, {"code": code})
        if subtype == "set_permission_mode":
            self._mode_refusal = answer.message if isinstance(answer, ErrorResponse) else ""
        return [CallEnded(call_id, answer), Activity(self.session_id)]

    def _asked(self, message: dict[str, Any]) -> list[Signal]:
        request, turn = as_dict(message.get("request")), self._turn
        subtype = as_text(request.get("subtype"))
        request_id = message.get("request_id")
        what, answer = _QUESTIONS.get(subtype, (f"something unknown, {safe_line(subtype)}", None))
        if answer is None:
            error = f"GroupX does not offer {safe_line(subtype, 80)}"
            self._respond({"subtype": "error", "request_id": request_id, "error": error})
        else:
            self._respond({"subtype": "success", "request_id": request_id, "response": answer})
        if turn is None or turn.phase != "running" or subtype in _MACHINERY:
            return [Activity(self.session_id)]
        title = _question_title(request)
        turn.ask(as_text(request.get("tool_use_id")), what, title, subtype)
        self._interrupt()
        return [Activity(self.session_id), InteractionRefused(self.session_id)]

    # --- checks -----------------------------------------------------------------------------

    def _check(self, init: dict[str, Any]) -> TurnFailed | None:
        """What Claude Code says of the session it works in, before its first turn goes on; the
        permission mode before every turn."""
        mode = as_text(init.get("permissionMode"))
        if mode and mode != UNRESTRICTED:
            why = f" ({safe_line(self._mode_refusal)})" if self._mode_refusal else ""
            return TurnFailed(
                ErrorCode.NATIVE_POLICY_BLOCKED,
                f"{self.agent_name} works in the permission mode {safe_line(mode, 40)} although "
                f"{UNRESTRICTED} was set{why}. Allow that mode in its own settings.",
                session_lost=True,
            )
        if self._is_checked:
            return None
        self._is_checked = True
        found = as_text(init.get("session_id"))
        if found and found != self.session_id:
            return self._mismatch("session", found, self.session_id)
        folder = as_text(init.get("original_cwd")) or as_text(init.get("cwd"))
        if folder and os.path.normpath(folder) != os.path.normpath(self._cwd):
            return self._mismatch("folder", folder, str(self._cwd))
        return None

    def _mismatch(self, what: str, found: str, expected: str) -> TurnFailed:
        return TurnFailed(
            ErrorCode.PROTOCOL_INVALID_MESSAGE,
            f"{self.agent_name} works in the {what} {safe_line(found)}, not in {expected} as "
            "asked; it was stopped and is started again for the next turn.",
            session_lost=True,
        )

    def _refuse(self, turn: ClaudeTurn, verdict: TurnFailed) -> list[Signal]:
        turn.blame(verdict)
        self._interrupt()
        return [InteractionRefused(self.session_id)]

    def _watch_mode(self, kind: str, message: dict[str, Any]) -> None:
        if kind == "system" and (mode := as_text(message.get("permissionMode"))):
            self._mode = mode

    # --- sending ----------------------------------------------------------------------------

    def _interrupt(self) -> None:
        if self._interrupt_id is None:
            self._interrupt_id = self.request("interrupt", cancel_queued=True)

    def _new_id(self, what: str) -> int:
        self._last_id += 1
        self._waiting[self._last_id] = what
        return self._last_id

    def _send_request(self, call_id: int, subtype: str, fields: dict[str, Any]) -> None:
        self._send(
            {
                "type": "control_request",
                "request_id": f"{_ID_PREFIX}{call_id}",
                "request": {"subtype": subtype, **fields},
            }
        )

    def _send_message(self, message_id: str, text: str, **fields: str) -> None:
        clean = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate is no JSON
        if clean.startswith("/"):
            clean = f" {clean}"  # else it is taken for one of Claude Code's own commands
        self._send(
            {
                "type": "user",
                "message": {"role": "user", "content": [{"type": "text", "text": clean}]},
                "parent_tool_use_id": None,
                "uuid": message_id,
                **fields,
            }
        )

    def _respond(self, response: dict[str, Any]) -> None:
        self._send({"type": "control_response", "response": response})

    def _send(self, message: dict[str, Any]) -> None:
        self._out.append(orjson.dumps(message, option=orjson.OPT_APPEND_NEWLINE))


def _own_id(value: Any) -> int | None:
    number = as_text(value).removeprefix(_ID_PREFIX)
    return int(number) if number.isascii() and number.isdigit() and len(number) < 19 else None


def _question_title(request: dict[str, Any]) -> str:
    keys = ("message", "display_name", "tool_name", "dialog_kind")
    return next((text for key in keys if (text := as_text(request.get(key)))), "")
