"""Removing a text for good: of an event, a memory or identity record, a message of the room
assistant's conversation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import NoneType
from typing import Literal

from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.queries import NoQuery
from groupx_server.http.reply import Reply, json_reply
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.forgetting import PurgeList, RedactContent, RedactReply

Handler = Callable[[Call[NoQuery, RedactContent]], Awaitable[Reply]]
Kind = Literal["event", "memory", "identity", "side"]


async def redact_event(call: Call[NoQuery, RedactContent]) -> Reply:
    return await _redact(call, "event", "eventId")


async def redact_memory(call: Call[NoQuery, RedactContent]) -> Reply:
    return await _redact(call, "memory", "memoryId")


async def redact_identity(call: Call[NoQuery, RedactContent]) -> Reply:
    return await _redact(call, "identity", "identityId")


async def redact_side(call: Call[NoQuery, RedactContent]) -> Reply:
    return await _redact(call, "side", "messageId")


async def purges(call: Call[NoQuery, None]) -> Reply:
    return json_reply(call.rooms.forgetting.purges())


async def _redact(call: Call[NoQuery, RedactContent], kind: Kind, name: str) -> Reply:
    source = call.credential.source
    return json_reply(await call.rooms.forgetting.redact(kind, call.path[name], call.body, source))


def _route(path: str, handler: Handler, what: str, *refusals: ErrorCode) -> AnyRoute:
    return Route(
        method="POST",
        path=f"{path}/redact",
        handler=handler,
        query=NoQuery,
        body=RedactContent,
        reply=RedactReply,
        summary=f"Remove the text of {what} for good, with what came of it.",
        errors=(*refusals, ErrorCode.CLIENT_COMMAND_CONFLICT),
    )


ROUTES: tuple[AnyRoute, ...] = (
    _route("/api/events/{eventId}", redact_event, "an event", ErrorCode.UNKNOWN_EVENT),
    _route("/api/memory/{memoryId}", redact_memory, "a memory record", ErrorCode.UNKNOWN_MEMORY),
    _route(
        "/api/identity/{identityId}",
        redact_identity,
        "an identity record",
        ErrorCode.UNKNOWN_IDENTITY,
    ),
    _route(
        "/api/assistant/messages/{messageId}",
        redact_side,
        "a message of the room assistant's conversation",
        ErrorCode.UNKNOWN_EVENT,
        ErrorCode.STORE_CONFLICT,
    ),
    Route(
        method="GET",
        path="/api/purges",
        handler=purges,
        query=NoQuery,
        body=NoneType,
        reply=PurgeList,
        summary="How getting the bytes of removed texts out of the files stands.",
        errors=(),
    ),
)
