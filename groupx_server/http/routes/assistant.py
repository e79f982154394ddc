"""The room assistant: a side conversation for the person alone.

A token that may only read (the built-in agent's) gets nothing of it: what is said here is not for
agents.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import NoneType
from typing import Any

from groupx_server.http.auth import Access
from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.queries import NoQuery, SideFollowQuery, SidePageQuery
from groupx_server.http.reply import Reply, StreamReply, json_reply
from groupx_server.http.routes.stream import CONTENT_TYPE, RETRY_MS, UNBUFFERED
from groupx_server.http.sideport import SideTalk
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.assistant import (
    AskAssistant,
    AssistantAccepted,
    AssistantCancelled,
    AssistantCleared,
    AssistantMessages,
    AssistantReply,
    CancelAssistant,
)
from groupx_shared.wire.requests import CommandRequest


def _talk(call: Call[Any, Any]) -> SideTalk:
    if call.credential.access is Access.READER:
        raise RefusedError(
            "The conversation with the assistant is the person's own; it needs the operator's "
            "token.",
            code=ErrorCode.FORBIDDEN_SCOPE,
        )
    return call.services.assistant


async def get_assistant(call: Call[NoQuery, None]) -> Reply:
    return json_reply(_talk(call).status())


async def list_side_messages(call: Call[SidePageQuery, None]) -> Reply:
    return json_reply(await _talk(call).messages(call.query.before, call.query.limit))


async def ask_assistant(call: Call[NoQuery, AskAssistant]) -> Reply:
    return json_reply(await _talk(call).ask(call.body), 202)


async def cancel_assistant(call: Call[NoQuery, CancelAssistant]) -> Reply:
    return json_reply(await _talk(call).cancel(call.body), 202)


async def clear_assistant(call: Call[NoQuery, CommandRequest]) -> Reply:
    return json_reply(await _talk(call).clear(call.body.client_command_id))


async def follow_assistant(call: Call[SideFollowQuery, None]) -> Reply:
    frames = await _talk(call).follow(call.query.request_id)
    end = call.services.state.streams_end
    return StreamReply(_pieces(frames), end, CONTENT_TYPE, ends_whole=True, headers=UNBUFFERED)


async def _pieces(frames: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield b"retry: %d\n\n" % RETRY_MS
    async for frame in frames:
        yield frame


_SCOPE = (ErrorCode.FORBIDDEN_SCOPE,)

ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="GET",
        path="/api/assistant",
        handler=get_assistant,
        query=NoQuery,
        body=NoneType,
        reply=AssistantReply,
        summary="Whether there is a room assistant, and how it is.",
        errors=_SCOPE,
    ),
    Route(
        method="GET",
        path="/api/assistant/messages",
        handler=list_side_messages,
        query=SidePageQuery,
        body=NoneType,
        reply=AssistantMessages,
        summary="The conversation with the room assistant, a page of it, oldest first.",
        errors=(*_SCOPE, ErrorCode.UNKNOWN_EVENT),
    ),
    Route(
        method="POST",
        path="/api/assistant/messages",
        handler=ask_assistant,
        query=NoQuery,
        body=AskAssistant,
        reply=AssistantAccepted,
        summary="Ask the room assistant. The reply means: on disk, in the queue.",
        status=202,
        errors=(
            ErrorCode.AGENT_DISABLED,
            ErrorCode.UNKNOWN_ROOM,
            ErrorCode.ROOM_ARCHIVED,
            ErrorCode.QUEUE_CAPACITY_REACHED,
            ErrorCode.CLIENT_COMMAND_CONFLICT,
        ),
    ),
    Route(
        method="GET",
        path="/api/assistant/events",
        handler=follow_assistant,
        query=SideFollowQuery,
        body=NoneType,
        reply=None,
        summary="Follow the conversation, or one request until its end (server-sent events).",
        errors=(*_SCOPE, ErrorCode.UNKNOWN_EVENT),
        content_types=("text/event-stream",),
    ),
    Route(
        method="POST",
        path="/api/assistant/cancel",
        handler=cancel_assistant,
        query=NoQuery,
        body=CancelAssistant,
        reply=AssistantCancelled,
        summary="Cancel a request to the room assistant that waits or is being answered.",
        status=202,
        errors=(ErrorCode.UNKNOWN_EVENT, ErrorCode.CLIENT_COMMAND_CONFLICT),
    ),
    Route(
        method="POST",
        path="/api/assistant/clear",
        handler=clear_assistant,
        query=NoQuery,
        body=CommandRequest,
        reply=AssistantCleared,
        summary="Forget the conversation with the room assistant; what it did stays.",
        errors=(ErrorCode.STORE_CONFLICT, ErrorCode.CLIENT_COMMAND_CONFLICT),
    ),
)
