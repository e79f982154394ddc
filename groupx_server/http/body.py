"""Reading a request's JSON: bounded while it arrives, strict about every key and character."""

from __future__ import annotations

import asyncio
import functools
import json
from collections import Counter
from typing import Any, Final, TypeVar

import orjson
from pydantic import BaseModel, ValidationError
from starlette.types import Message, Receive, Scope

from groupx_server.http.begun import Begun
from groupx_server.http.headers import single_header
from groupx_server.http.issues import Issue, issues_of, nul_issues, refuse, unknown_keys
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.text import safe_line
from groupx_shared.wire.requests import FORBIDDEN_SENDER_FIELDS, MAX_BODY_BYTES

M = TypeVar("M", bound=BaseModel)

BODY_TIMEOUT_S: Final = 30.0
"""For a whole body over loopback; a client that stalls must not keep a request open."""
WHERE: Final = "The request body"
NUL: Final = b"\\u0000"
"""The only way to write U+0000 in JSON."""
ESCAPE: Final = b"\\u"


class ClientGoneError(Exception):
    """The client left before its request was whole; nobody waits for a reply."""


async def read_model(scope: Scope, receive: Receive, model: type[M]) -> M:
    """Read, check and validate the body.

    Raises: RefusedError (UNSUPPORTED_MEDIA_TYPE, MESSAGE_TOO_LARGE, INVALID_ENVELOPE,
    SENDER_FIELD_FORBIDDEN); ClientGoneError.
    """
    _require_json(scope)
    raw = await _read(scope, receive)
    data = _parse(raw)
    _refuse_sender_fields(data)
    if issues := unknown_keys("key", data, model):
        raise refuse(WHERE, issues)
    try:
        body = model.model_validate(data)
    except ValidationError as error:
        raise _invalid(error, data) from error
    issues = _doubled_keys(raw, data)
    if NUL in raw:
        issues += nul_issues(data)
    if issues:
        raise refuse(WHERE, issues)
    return body


def _require_json(scope: Scope) -> None:
    content_type = single_header(scope, b"content-type") or b""
    encoding = single_header(scope, b"content-encoding") or b"identity"
    if not _is_json(content_type) or encoding.lower() != b"identity":
        found = safe_line(content_type.decode("latin-1"), 80) or "nothing"
        raise RefusedError(
            f"The content type must be application/json in UTF-8, not compressed; found {found}.",
            code=ErrorCode.UNSUPPORTED_MEDIA_TYPE,
        )


@functools.lru_cache(maxsize=64)
def _is_json(content_type: bytes) -> bool:
    kind, *parameters = (part.strip().lower() for part in content_type.split(b";"))
    charsets = [p for p in parameters if p.startswith(b"charset=")]
    is_utf8 = all(p.split(b"=", 1)[1].strip(b'"') in (b"utf-8", b"utf8") for p in charsets)
    return kind == b"application/json" and is_utf8


async def _read(scope: Scope, receive: Receive) -> bytes:
    declared = single_header(scope, b"content-length") or b""
    if declared.isdigit() and int(declared[:20]) > MAX_BODY_BYTES:
        raise _too_large(int(declared[:20]))
    # A small body mostly came with its head. Then no timer is made, which would cost several times
    # what parsing it does.
    first = Begun(receive())
    if first.is_done and not first.result.get("more_body", False):
        return _piece_of(first.result, 0)
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            return await _read_on(await first, receive)
    except TimeoutError as error:
        raise RefusedError(
            f"The request body did not arrive within {BODY_TIMEOUT_S:.0f} s. Send it again."
        ) from error


async def _read_on(message: Message, receive: Receive) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        piece = _piece_of(message, size)
        pieces.append(piece)
        size += len(piece)
        if not message.get("more_body", False):
            return b"".join(pieces)
        message = await receive()


def _piece_of(message: Message, before: int) -> bytes:
    if message["type"] == "http.disconnect":
        raise ClientGoneError
    piece: bytes = message.get("body", b"")
    if before + len(piece) > MAX_BODY_BYTES:
        raise _too_large(None)
    return piece


def _too_large(size: int | None) -> RefusedError:
    found = f"has {size:,} bytes" if size is not None else "is longer than that"
    return RefusedError(
        f"A request body may have {MAX_BODY_BYTES:,} bytes; this one {found}. Send less at once.",
        code=ErrorCode.MESSAGE_TOO_LARGE,
        details={"limit": MAX_BODY_BYTES, "unit": "bytes"} | ({"size": size} if size else {}),
    )


def _parse(raw: bytes) -> dict[str, Any]:
    if not raw.strip():
        raise refuse(WHERE, [Issue("", "empty", "It is empty; a JSON object was expected.")])
    try:
        data = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        # Also the end of lone surrogates, NaN, a byte order mark and bytes that are not UTF-8.
        message = f"It is not JSON in UTF-8: {safe_line(str(error), 200)}."
        raise refuse(WHERE, [Issue("", "not_json", message)]) from error
    if not isinstance(data, dict):
        message = f"A JSON object was expected, found {_kind(data)}."
        raise refuse(WHERE, [Issue("", "not_an_object", message)])
    return data


def _kind(data: object) -> str:
    kinds = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return kinds.get(type(data), "a number")


def _refuse_sender_fields(data: dict[str, Any]) -> None:
    if found := sorted(FORBIDDEN_SENDER_FIELDS & data.keys()):
        raise RefusedError(
            f"A client does not say who wrote something: leave out {', '.join(found)}. "
            "The author follows from the token.",
            code=ErrorCode.SENDER_FIELD_FORBIDDEN,
            details={"forbiddenFields": found},
        )


def _invalid(error: ValidationError, data: dict[str, Any]) -> RefusedError:
    for found in error.errors(include_url=False, include_input=False):
        if found["type"] == "string_too_long" and found["loc"] == ("content",):
            size, limit = len(data["content"]), found["ctx"]["max_length"]
            return RefusedError(
                f"A message may have {limit:,} characters; this one has {size:,}. "
                "Shorten it, or put it in a file and name the file.",
                code=ErrorCode.MESSAGE_TOO_LARGE,
                details={"size": size, "limit": limit, "unit": "characters"},
            )
    return refuse(WHERE, issues_of(error))


class _DoubledKeysError(Exception):
    def __init__(self, keys: list[str]) -> None:
        super().__init__(keys)
        self.keys = keys


def _refuse_doubled(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _DoubledKeysError([key for key, count in counts.items() if count > 1])


def _colons(value: object) -> int:
    """How many colons JSON without escapes has for it."""
    if isinstance(value, str):
        return value.count(":")
    if isinstance(value, list):
        return sum(map(_colons, value))
    if not isinstance(value, dict):
        return 0
    count = len(value)
    for key, inner in value.items():
        count += key.count(":") + _colons(inner)
    return count


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_refuse_doubled)


def _doubled_keys(raw: bytes, data: dict[str, Any]) -> list[Issue]:
    """A key given twice means two things; orjson would take the last one silently."""
    try:
        # Each key has one colon behind it. When there are as many as the keys and texts that were
        # read have, no key was dropped. An escape could hide one: then it is looked at key by key.
        if ESCAPE not in raw and raw.count(b":") == _colons(data):
            return []
        _DECODER.decode(raw.decode())
    except RecursionError:
        # orjson goes deeper than the standard library; no body of ours is that deep.
        return [Issue("", "too_deep", "It is nested too deep.")]
    except _DoubledKeysError as error:
        sentence = "The key is there twice; give it once."
        return [Issue(safe_line(key, 80), "duplicate_key", sentence) for key in error.keys]
    return []
