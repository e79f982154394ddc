"""`groupx assistant`: ask it and read the answer as it comes, its history, cancel, clear.

The answer is data (stdout); what it does meanwhile is narration (stderr). A request goes on when
nobody waits any more, and is found again by its id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from groupx_shared.english import counted
from groupx_shared.errors import GroupXError, ServerUnreachableError
from groupx_shared.ids import new_id
from groupx_shared.text import safe_line, safe_text
from groupx_shared.wire.sse import SseParser
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.accept import accept
from groupx_tui.cli.api import RETRIED, Api, ServerRefusedError, room_id
from groupx_tui.cli.clock import Clock, Deadline
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.eventlines import clock_time
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect
from groupx_tui.cli.textinput import message_text
from groupx_tui.cli.wire_http import ConnectionLostError

AWAY_S: Final = 30.0
"""How long a server may be away meanwhile: a restart takes seconds."""
SILENCE_S: Final = 45.0
"""Three missing heartbeats."""
PAUSE_S: Final = 0.25
ENDED: Final = ("completed", "failed", "cancelled", "interrupted")

Json = dict[str, Any]


def run_ask(call: Invocation) -> int:
    """Ask, and print the answer as it comes."""
    clock = Clock()
    deadline = Deadline(clock, call.number("timeout"))
    body = {
        "clientCommandId": call.text("id") or new_id("cmd"),
        "content": message_text(call.text("text")),
        "roomId": room_id(call.required("room")),
    }
    api = connect(call)
    accepted = accept(api, body, clock, lambda: api.ask_assistant(body))
    if accepted.get("position"):
        diagnostics.say(f"Before this one: {counted(accepted['position'], 'request')}.")
    reader = Reader(api, accepted["request"], clock, is_quiet=call.flag("json"))
    code = reader.read(deadline)
    if call.flag("json"):
        output.json_line({"request": reader.request, "answer": reader.answer})
    return code


def run_history(call: Invocation) -> int:
    """Print the conversation, oldest first."""
    page = connect(call).assistant_messages(limit=call.integer("limit"), before=call.text("before"))
    if call.flag("json"):
        output.json_line(page)
        return ExitCode.DONE
    for message in page["messages"]:
        _print_message(message)
    if page.get("nextBefore"):
        diagnostics.say(f"Older ones: groupx assistant history --before {page['nextBefore']}")
    return ExitCode.DONE


def run_cancel(call: Invocation) -> int:
    """Cancel a request."""
    reply = connect(call).cancel_assistant(call.text("request"))
    if call.flag("json"):
        output.json_line(reply)
    elif not reply.get("accepted"):
        diagnostics.say("There was nothing to cancel.")
    elif reply.get("status") == "cancelled":
        diagnostics.say("The request is cancelled.")
    else:
        diagnostics.say("The request is being cancelled. What was done for it stays done.")
    return ExitCode.DONE


def run_clear(call: Invocation) -> int:
    """Forget the conversation."""
    reply = connect(call).clear_assistant()
    if call.flag("json"):
        output.json_line(reply)
    else:
        diagnostics.say(f"Forgotten: {counted(reply['removed'], 'message')}; what it did stays.")
    return ExitCode.DONE


def run_status(call: Invocation) -> int:
    """Print how it is."""
    status = connect(call).assistant()
    if call.flag("json"):
        output.json_line(status)
        return ExitCode.DONE
    driver = f" ({status['driver']})" if status.get("driver") else ""
    output.line(f"{safe_line(str(status['name']), 64)}{driver}: {status['status']}")
    if status.get("detail"):
        output.line(safe_text(str(status["detail"])))
    return ExitCode.DONE


class Reader:
    """Reads one request to its end."""

    def __init__(self, api: Api, request: Json, clock: Clock, *, is_quiet: bool) -> None:
        self.request = request
        self.answer: Json | None = None
        self._api = api
        self._clock = clock
        self._write: Callable[[str], None] = (lambda _: None) if is_quiet else output.write
        self._printed = 0
        self._last = "\n"
        self._acts: set[str] = set()

    def read(self, deadline: Deadline) -> ExitCode:
        """Follow to the end; says on stderr what went wrong and what was done."""
        try:
            self._follow(deadline)
        except KeyboardInterrupt:
            return self._leave("Not waiting any longer.", ExitCode.UNCERTAIN)
        except ServerUnreachableError as error:
            return self._leave(error.message, ExitCode.UNCERTAIN)
        except BrokenPipeError:
            output.abandon()
            return ExitCode.UNCERTAIN
        if not self._has_ended():
            return self._leave("The time is up.", ExitCode.STILL_RUNNING)
        self._finish()
        return self._outcome()

    def _has_ended(self) -> bool:
        return self.request.get("status") in ENDED

    def _follow(self, deadline: Deadline) -> None:
        away: Deadline | None = None
        while not deadline.is_over and not self._has_ended():
            try:
                for frame in self._frames(deadline):
                    away = None
                    self._take(frame)
                if self._has_ended():
                    return
                raise ConnectionLostError("The server closed the stream.")
            except (ServerUnreachableError, ServerRefusedError) as error:
                if isinstance(error, ServerRefusedError) and error.code not in RETRIED:
                    raise
                if deadline.left() <= 0:
                    return
                away = away or self._lost(error)
                if away.is_over:
                    raise ServerUnreachableError("The server did not come back.") from error
            deadline.pause(PAUSE_S)
            self._look_again()

    def _lost(self, error: GroupXError) -> Deadline:
        diagnostics.say(f"{error.message} Waiting for the server to come back …")
        return Deadline(self._clock, AWAY_S)

    def _look_again(self) -> None:
        try:
            self._api.rediscover()
        except ServerUnreachableError:
            return  # the next try meets it, and the bound on its absence ends the tries

    def _frames(self, deadline: Deadline) -> Iterator[Json]:
        request_id = str(self.request["messageId"])
        parser = SseParser()
        with self._api.assistant_events(
            request_id, lambda: min(SILENCE_S, deadline.left())
        ) as reply:
            for piece in reply.pieces():
                for frame in parser.feed(piece):
                    found = json.loads(frame.data)
                    yield found

    def _take(self, frame: Json) -> None:
        if frame["type"] == "delta":
            text, offset = str(frame["text"]), int(frame["offset"])
            if offset <= self._printed < offset + len(text):
                self._print(text[self._printed - offset :])
        elif frame["type"] == "message":
            self._take_message(frame["message"])

    def _take_message(self, message: Json) -> None:
        if message["messageId"] == self.request["messageId"]:
            self.request = message
            for act in message.get("acts", ()):
                if act["actId"] not in self._acts:
                    self._acts.add(act["actId"])
                    self._narrate(act)
        elif message.get("requestId") == self.request["messageId"]:
            self.answer = message

    def _narrate(self, act: Json) -> None:
        if self._last != "\n" and output.is_terminal():
            self._write("\n")
            self._last = "\n"
        diagnostics.say(f"· {safe_line(str(act['summary']), 200)}")

    def _print(self, text: str) -> None:
        self._printed += len(text)
        shown = safe_text(text)
        self._write(shown)
        self._last = shown[-1:] or self._last

    def _finish(self) -> None:
        """What is left of the answer, and the end of its last line."""
        content = str(self.answer["content"]) if self.answer is not None else ""
        if len(content) > self._printed:
            self._print(content[self._printed :])
        if self._last != "\n":
            self._write("\n")

    def _outcome(self) -> ExitCode:
        status = self.request["status"]
        if status == "completed":
            return ExitCode.DONE
        reason = safe_line(str(self.request.get("errorMessage") or ""), 1000)
        diagnostics.say(f"The request {_ended(status)}{f': {reason}' if reason else '.'}")
        return ExitCode.UNCERTAIN if status == "interrupted" else ExitCode.TURN_FAILED

    def _leave(self, why: str, code: ExitCode) -> ExitCode:
        if self._last != "\n":
            self._write("\n")
        request_id = safe_line(str(self.request["messageId"]), 80)
        diagnostics.say(
            f"{why} The request goes on: see it with groupx assistant history · cancel it with "
            f"groupx assistant cancel {request_id}"
        )
        return code


def _ended(status: str) -> str:
    return {"failed": "failed", "interrupted": "was interrupted"}.get(status, f"was {status}")


def _print_message(message: Json) -> None:
    who = "You" if message["role"] == "user" else "Assistant"
    status = message.get("status")
    ending = f" · {status}" if status and status != "completed" else ""
    stamp = clock_time(message.get("createdAt"))
    message_id = output.styled(safe_line(str(message["messageId"]), 80), "2")
    output.line(f"{stamp} · {output.styled(who, '1')}{ending} · {message_id}")
    for line in safe_text(str(message["content"])).rstrip("\n").split("\n"):
        output.line(f"  {line}".rstrip())
    for act in message.get("acts", ()):
        output.line(output.styled(f"  · {safe_line(str(act['summary']), 200)}", "2"))
    if message.get("errorMessage"):
        output.line(f"  ({safe_line(str(message['errorMessage']), 500)})")
