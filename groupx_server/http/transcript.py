"""The Markdown export: events as a transcript that a person can read and trust.

No text of a message, a model or a tool can pose as part of the transcript: each stands in a fence
longer than any run of back ticks in it, names are one escaped line, and control characters are
made visible.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

import orjson

from groupx_shared.text import safe_line, safe_text
from groupx_shared.wire.events import EventType
from groupx_shared.wire.replies import TextReply

WholeText = Callable[[str], Awaitable[TextReply]]
"""Reads the whole text of an event whose body holds a cut one."""

_TICKS: Final = re.compile("`+")
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>&!#|~])")
_ENDINGS: Final = {
    EventType.TURN_FAILED: "failed",
    EventType.TURN_CANCELLED: "was cancelled",
    EventType.TURN_INTERRUPTED: "was interrupted",
}


def fenced(text: str, info: str = "") -> str:
    """`text` in a fence that it cannot close."""
    clean = safe_text(text)
    longest = max((len(run) for run in _TICKS.findall(clean)), default=0)
    fence = "`" * max(3, longest + 1)
    end = "" if clean.endswith("\n") else "\n"
    return f"{fence}{info}\n{clean}{end}{fence}\n"


def inline(text: str, max_chars: int = 200) -> str:
    """`text` as one line without any Markdown meaning."""
    return _SPECIAL.sub(r"\\\1", safe_line(text, max_chars))


class Transcript:
    """Turns one event after the other into Markdown; "" for those that are not for reading."""

    def __init__(self, whole_text: WholeText, *, names_rooms: bool) -> None:
        self._whole_text = whole_text
        self._names_rooms = names_rooms

    def head(self, title: str, through_seq: int) -> str:
        return f"# {inline(title)}\n\nExported through event {through_seq}.\n\n"

    async def section(self, envelope: bytes) -> str:
        """The Markdown of one event, given as JSON."""
        event: dict[str, Any] = orjson.loads(envelope)
        kind, body = event["type"], event.get("body") or {}
        if kind in (EventType.MESSAGE_CREATED, EventType.OPERATOR_DISPATCH):
            return await self._message(event, body)
        if kind == EventType.TURN_REASONING_RECORDED:
            return f"**Reasoning** of {self._author(event)}\n\n{fenced(_text(body, 'content'))}\n"
        if kind == EventType.TOOL_PROGRESS_RECORDED:
            return f"{_tool(body.get('details') or {})}\n"
        if kind in _ENDINGS:
            return f"{self._plan(event, body)}{self._ending(event, body)}\n"
        if kind == EventType.TURN_COMPLETED:
            return self._plan(event, body)
        if kind.startswith("room."):
            what = inline(kind.removeprefix("room."))
            return f"*The room was {what}: {inline(_text(body, 'title'))}*\n\n"
        return ""

    async def _message(self, event: dict[str, Any], body: dict[str, Any]) -> str:
        content = _text(body, "content")
        if body.get("cut"):
            content = (await self._whole_text(event["eventId"])).text
        to = ", ".join(inline(str(target)) for target in event.get("to") or ())
        room = f" · {inline(event['roomId'])}" if self._names_rooms else ""
        heading = f"### {self._author(event)} · {inline(event['occurredAt'])}{room}\n\n"
        return heading + (f"To: {to}\n\n" if to else "") + fenced(content, "markdown") + "\n"

    def _ending(self, event: dict[str, Any], body: dict[str, Any]) -> str:
        code, sentence = _text(body, "errorCode"), _text(body, "errorMessage")
        why = f" ({inline(code)})" if code else ""
        why += f": {inline(sentence, 500)}" if sentence else "."
        certainty = _text(body, "deliveryCertainty")
        sure = " *It is uncertain whether the agent got the message.*"
        line = f"*The turn of {self._author(event)} {_ENDINGS[event['type']]}{why}*"
        line += sure if certainty == "unknown" else ""
        partial = _text(body, "partialText")
        return f"{line}\n\nAnswered until then:\n\n{fenced(partial)}" if partial else f"{line}\n"

    def _plan(self, event: dict[str, Any], body: dict[str, Any]) -> str:
        steps = [step for step in body.get("plan") or () if isinstance(step, dict)]
        if not steps:
            return ""
        lines = [
            f"[{'x' if step.get('status') == 'completed' else ' '}] {_text(step, 'content')}"
            for step in steps
        ]
        return f"**Plan** of {self._author(event)}\n\n{fenced(chr(10).join(lines))}\n"

    def _author(self, event: dict[str, Any]) -> str:
        actor = event.get("actor") or {}
        return inline(_text(actor, "displayName") or _text(actor, "actorId") or "unknown")


def _text(body: dict[str, Any], key: str) -> str:
    """A text of a stored body; rows of the earlier program may lack it."""
    value = body.get(key)
    return value if isinstance(value, str) else ""


def _tool(details: dict[str, Any]) -> str:
    title = inline(_text(details, "title") or "tool")
    state = inline(_text(details, "status"))
    items = [item for item in details.get("content") or () if isinstance(item, dict)]
    return f"**Tool** {title} ({state})\n\n" + "".join(_tool_item(item) for item in items)


def _tool_item(item: dict[str, Any]) -> str:
    if item.get("type") == "diff":
        path = inline(_text(item, "path"))
        old, new = _text(item, "oldText").splitlines(), _text(item, "newText").splitlines()
        lines = [f"-{line}" for line in old] + [f"+{line}" for line in new]
        return f"{path}\n\n{fenced(chr(10).join(lines), 'diff')}\n"
    text = _text(item, "text") or _text(item, "output")
    return f"{fenced(text)}\n" if text else ""
