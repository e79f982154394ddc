"""A JSON-RPC 2.0 peer without I/O: lines in, events out; calls in, bytes out.

Owns our own request ids and the requests that wait for an answer. Both sides send requests, so
there are two id spaces: ours (whole numbers from 1) and the other side's, which are echoed as
they came (0, strings and anything else are valid). Invariant: `receive` never raises, whatever
the line holds; what cannot be read is a `Noise` event, and an answer to a request that is not
waiting is noise as well. The order of keys and the `jsonrpc` member do not matter.

The counterpart is `framing.py` below and `acp.py` above.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import orjson

_EXCERPT_BYTES: Final = 200
METHOD_NOT_FOUND: Final = -32601
_loads: Final = orjson.loads


@dataclass(slots=True)
class Response:
    """The answer to our request `id`, which called `method`."""

    id: int
    method: str
    result: Any


@dataclass(slots=True)
class ErrorResponse:
    """The refusal of our request `id`, which called `method`; `data` is any JSON."""

    id: int
    method: str
    code: int
    message: str
    data: Any = None


@dataclass(slots=True)
class Request:
    """The other side asks and waits; answer with `respond` or `respond_error` and this `id`."""

    id: Any
    method: str
    params: Any


@dataclass(slots=True)
class Notification:
    """The other side tells; no answer is expected."""

    method: str
    params: Any


@dataclass(slots=True)
class Noise:
    """Something that is no usable message; skipped. `excerpt` is raw and short."""

    reason: str
    excerpt: bytes = b""


RpcEvent = Response | ErrorResponse | Request | Notification | Noise


class JsonRpcPeer:
    """One end of a connection; the caller moves the bytes. `with_version=False` for programs
    that speak JSON-RPC without its `jsonrpc` member."""

    def __init__(self, *, with_version: bool = True) -> None:
        self._head = {"jsonrpc": "2.0"} if with_version else {}
        self._last_id = 0
        self._waiting: dict[int, str] = {}

    @property
    def waiting(self) -> int:
        """How many of our requests have no answer yet."""
        return len(self._waiting)

    def request(self, method: str, params: Any) -> tuple[int, bytes]:
        """Return the id of a new request and its line."""
        self._last_id += 1
        self._waiting[self._last_id] = method
        return self._last_id, self._line({"id": self._last_id, "method": method, "params": params})

    def forget(self, request_id: int) -> None:
        """Stop waiting for an answer; a late one becomes noise."""
        self._waiting.pop(request_id, None)

    def notify(self, method: str, params: Any = None) -> bytes:
        """Return the line of a notification; without `params` it has none."""
        if params is None:
            return self._line({"method": method})
        return self._line({"method": method, "params": params})

    def respond(self, request_id: Any, result: Any) -> bytes:
        """Return the line that answers the other side's request."""
        return self._line({"id": request_id, "result": result})

    def respond_error(self, request_id: Any, code: int, message: str) -> bytes:
        """Return the line that refuses the other side's request."""
        return self._line({"id": request_id, "error": {"code": code, "message": message}})

    def _line(self, message: dict[str, Any]) -> bytes:
        return orjson.dumps({**self._head, **message}, option=orjson.OPT_APPEND_NEWLINE)

    def receive(self, line: bytes) -> list[RpcEvent]:
        """Read one line; an array (a batch) gives an event for each of its members."""
        try:
            message = _loads(line)
        except orjson.JSONDecodeError:
            return self.read(parse_line(line), line)
        if type(message) is dict and message.get("id") is None:
            method = message.get("method")  # nearly all lines are notifications
            if type(method) is str:
                return [Notification(method, message.get("params"))]
        return self.read(message, line)

    def read(self, message: Any, line: bytes) -> list[RpcEvent]:
        """The same of a line that `parse_line` has read."""
        if isinstance(message, Noise):
            return [message]
        if isinstance(message, list):
            return [self._read(item, line) for item in message] or [Noise("an empty batch")]
        return [self._read(message, line)]

    def _read(self, message: Any, line: bytes) -> RpcEvent:
        if not isinstance(message, dict):
            return Noise("the JSON is not an object", line[:_EXCERPT_BYTES])
        method = message.get("method")
        if isinstance(method, str):
            if message.get("id") is None:
                return Notification(method, message.get("params"))
            return Request(message["id"], method, message.get("params"))
        if "id" in message and ("result" in message or "error" in message):
            return self._read_answer(message, line)
        return Noise("the object is no JSON-RPC message", line[:_EXCERPT_BYTES])

    def _read_answer(self, message: dict[str, Any], line: bytes) -> RpcEvent:
        request_id = _own_id(message["id"])
        method = None if request_id is None else self._waiting.pop(request_id, None)
        if request_id is None or method is None:
            return Noise("an answer to no open request", line[:_EXCERPT_BYTES])
        error = message.get("error")
        if error is None:
            return Response(request_id, method, message.get("result"))
        if not isinstance(error, dict):
            return ErrorResponse(request_id, method, 0, str(error)[:_EXCERPT_BYTES])
        code, text = error.get("code"), error.get("message")
        return ErrorResponse(
            request_id,
            method,
            code if isinstance(code, int) else 0,
            text if isinstance(text, str) else "",
            error.get("data"),
        )


def parse_line(line: bytes) -> Any:
    """The JSON of a line, else `Noise`. Raises nothing."""
    try:
        return _loads(line)
    except orjson.JSONDecodeError:
        try:
            return parse_loosely(line)
        except ValueError:
            return Noise("the line is not JSON", line[:_EXCERPT_BYTES])


def parse_json(line: bytes) -> Any:
    """Read JSON as strictly as orjson, then once more forgivingly.

    Broken UTF-8, lone surrogates, NaN and a byte order mark are made harmless instead of losing
    the whole message. Raises: ValueError when it is no JSON at all.
    """
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return parse_loosely(line)


def parse_loosely(line: bytes) -> Any:
    """Read what orjson refused. Raises: ValueError when it is no JSON at all."""
    text = line.decode("utf-8", "replace").lstrip("\ufeff \t")
    if not text.startswith(("{", "[")):
        raise ValueError("not a JSON object or array")
    try:
        loose = json.loads(text, parse_constant=lambda _: None, parse_float=_finite)
        return orjson.loads(json.dumps(loose, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _finite(text: str) -> float | None:
    number = float(text)
    return number if abs(number) != float("inf") else None


def _own_id(value: Any) -> int | None:
    """Our ids are numbers; an agent that echoes them as text or as 1.0 is understood."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else None
    return value if isinstance(value, int) else None
