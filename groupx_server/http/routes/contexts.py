"""What agents are told, as use cases: how full, what it would be, summing up, beginning anew."""

from __future__ import annotations

from types import NoneType

from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.queries import ContextQuery, DaysQuery, NoQuery, PreviewQuery
from groupx_server.http.reply import Reply, json_reply
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.context import (
    CompactContext,
    CompactionReply,
    ContextPreview,
    DayList,
    ResetContext,
    ResetReply,
    SummaryReply,
)
from groupx_shared.wire.replies import ContextUsage


async def get_context(call: Call[ContextQuery, None]) -> Reply:
    return json_reply(await call.rooms.contexts.usage(call.query.room_id))


async def preview_context(call: Call[PreviewQuery, None]) -> Reply:
    room_id, query = call.path["roomId"], call.query
    found = await call.rooms.contexts.preview(
        room_id, query.agent, query.session, query.text, query.reply_to
    )
    return json_reply(found)


async def read_summary(call: Call[NoQuery, None]) -> Reply:
    return json_reply(await call.rooms.contexts.summary(call.path["roomId"]))


async def list_days(call: Call[DaysQuery, None]) -> Reply:
    query = call.query
    return json_reply(await call.rooms.contexts.days(query.room_id, query.actor_id, query.limit))


async def compact_context(call: Call[NoQuery, CompactContext]) -> Reply:
    return json_reply(await call.rooms.contexts.compact(call.path["roomId"], call.body), 202)


async def reset_context(call: Call[NoQuery, ResetContext]) -> Reply:
    return json_reply(await call.rooms.contexts.reset(call.path["roomId"], call.body))


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="GET",
        path="/api/context",
        handler=get_context,
        query=ContextQuery,
        body=NoneType,
        reply=ContextUsage,
        summary="How full an agent's context packet of the room would be.",
        errors=(ErrorCode.UNKNOWN_ROOM,),
    ),
    Route(
        method="GET",
        path="/api/rooms/{roomId}/context",
        handler=preview_context,
        query=PreviewQuery,
        body=NoneType,
        reply=ContextPreview,
        summary="What an agent would be sent now, section by section, and what was left out.",
        errors=(
            ErrorCode.UNKNOWN_ROOM,
            ErrorCode.UNKNOWN_TARGET,
            ErrorCode.AGENT_DISABLED,
            ErrorCode.CONTEXT_BUDGET_EXCEEDED,
        ),
    ),
    Route(
        method="GET",
        path="/api/rooms/{roomId}/context/summary",
        handler=read_summary,
        query=NoQuery,
        body=NoneType,
        reply=SummaryReply,
        summary="The summary that stands for the room's older messages.",
        errors=(ErrorCode.UNKNOWN_ROOM,),
    ),
    Route(
        method="GET",
        path="/api/days",
        handler=list_days,
        query=DaysQuery,
        body=NoneType,
        reply=DayList,
        summary="What agents wrote of their days, and what waits of them.",
        errors=(),
    ),
    Route(
        method="POST",
        path="/api/rooms/{roomId}/context/compact",
        handler=compact_context,
        query=NoQuery,
        body=CompactContext,
        reply=CompactionReply,
        summary="Have the room's older messages summed up.",
        status=202,
        errors=(ErrorCode.UNKNOWN_ROOM, ErrorCode.CLIENT_COMMAND_CONFLICT),
    ),
    Route(
        method="POST",
        path="/api/rooms/{roomId}/context/reset",
        handler=reset_context,
        query=NoQuery,
        body=ResetContext,
        reply=ResetReply,
        summary="Tell agents nothing any more of what was said until now.",
        errors=(ErrorCode.UNKNOWN_ROOM, ErrorCode.CLIENT_COMMAND_CONFLICT),
    ),
)
