"""What one payload of an OpenAI-compatible chat stream says. Sans-IO, tolerant.

The same reader takes a streamed chunk (`choices[0].delta`), a whole reply (`choices[0].message`)
and an error object. Unknown keys and missing parts are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

DONE: Final = b"[DONE]"


@dataclass(frozen=True, slots=True)
class ContentPart:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """A piece of reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolFragment:
    """A piece of a tool call; empty fields say nothing. `arguments` is a piece of JSON text."""

    index: int | None
    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class UsageSeen:
    """Token counts as the endpoint reports them."""

    counts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Finished:
    """The model said why it stopped; "" when only the stream's end was marked."""

    reason: str


@dataclass(frozen=True, slots=True)
class ErrorReported:
    """The endpoint reports an error inside a stream or a reply."""

    message: str
    status: int | None = None


Delta = ContentPart | ReasoningPart | ToolFragment | UsageSeen | Finished | ErrorReported


def read_payload(data: bytes) -> list[Delta]:
    """Return what one event's data says, in order; nothing for what is not understood."""
    if data.strip() == DONE:
        return [Finished("")]
    whole = _load(data)
    if whole is None and b"\n" in data:
        return [delta for line in data.split(b"\n") for delta in read_payload(line)]
    return list(_read(whole))


def read_reply(data: bytes) -> list[Delta] | None:
    """Return what a whole (not streamed) reply says; None when it is not a JSON object."""
    whole = _load(data)
    if not isinstance(whole, dict):
        return None
    return [*_read(whole), Finished("")]


def error_text(data: bytes) -> str:
    """Return the sentence in an error body of any of the usual shapes, "" when there is none."""
    body = _load(data)
    if isinstance(body, dict):
        found = _error(body)
        return found.message if found else ""
    return "" if data.lstrip().startswith(b"<") else data.decode(errors="replace").strip()


def _load(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _load_lenient(data)


def _load_lenient(data: bytes) -> Any:
    """Take what orjson refuses but servers send: half a surrogate pair, NaN. None for the rest."""
    try:
        return json.loads(data.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None


def _read(body: Any) -> Iterator[Delta]:
    if not isinstance(body, dict):
        return
    if (error := _error(body)) is not None:
        yield error
        return
    for choice in _list(body.get("choices")):
        if isinstance(choice, dict) and choice.get("index", 0) in (0, None):
            yield from _choice(choice)
    if isinstance(usage := body.get("usage"), dict):
        yield UsageSeen(usage)


def _choice(choice: dict[str, Any]) -> Iterator[Delta]:
    message = choice.get("delta") or choice.get("message")
    if isinstance(message, dict):
        yield from _message(message)
    elif isinstance(text := choice.get("text"), str) and text:
        yield ContentPart(_whole(text))
    if isinstance(reason := choice.get("finish_reason"), str) and reason:
        yield Finished(reason)


def _message(message: dict[str, Any]) -> Iterator[Delta]:
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(reasoning, str) and reasoning:
        yield ReasoningPart(_whole(reasoning))
    yield from _content(message.get("content"))
    if isinstance(refusal := message.get("refusal"), str) and refusal:
        yield ContentPart(_whole(refusal))
        yield Finished("content_filter")
    for call in _list(message.get("tool_calls")):
        if isinstance(call, dict):
            yield _fragment(call)


def _content(content: Any) -> Iterator[Delta]:
    if isinstance(content, str):
        if content:
            yield ContentPart(_whole(content))
        return
    for part in _list(content):
        if isinstance(part, str):
            yield from _content(part)
        elif isinstance(part, dict) and part.get("type") == "thinking":
            yield from (ReasoningPart(p.text) for p in _texts(part.get("thinking")))
        elif isinstance(part, dict):
            yield from _texts(part.get("text"))


def _texts(content: Any) -> Iterator[ContentPart]:
    """Yield the plain texts of a string or of a list of text parts."""
    for part in [content] if isinstance(content, str) else _list(content):
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str) and text:
            yield ContentPart(_whole(text))


def _fragment(call: dict[str, Any]) -> ToolFragment:
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    arguments = function.get("arguments")
    if arguments is None:
        arguments = ""
    elif not isinstance(arguments, str):
        arguments = orjson.dumps(arguments).decode()
    index = call.get("index")
    return ToolFragment(
        index if isinstance(index, int) else None,
        _text(call.get("id")),
        _text(function.get("name")),
        _whole(arguments),
    )


def _error(body: dict[str, Any]) -> ErrorReported | None:
    error = body.get("error")
    if not error:
        if body.get("object") == "error" or ("detail" in body and "choices" not in body):
            return ErrorReported(_sentence(body.get("message") or body.get("detail")))
        return None
    if not isinstance(error, dict):
        return ErrorReported(_sentence(error))
    code = error.get("code") if isinstance(error.get("code"), int) else error.get("status")
    return ErrorReported(
        _sentence(error.get("message") or error), code if isinstance(code, int) else None
    )


def _sentence(value: Any) -> str:
    return _whole(value if isinstance(value, str) else json.dumps(value, default=str))


def _text(value: Any) -> str:
    return _whole(value) if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _whole(text: str) -> str:
    """Join surrogate pairs and replace lone halves, which no later step could encode."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
