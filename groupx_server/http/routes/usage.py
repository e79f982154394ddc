"""What turns cost, as far as agents tell."""

from __future__ import annotations

from types import NoneType

from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.queries import UsageQuery
from groupx_server.http.reply import Reply, json_reply
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.replies import UsageReply


async def usage(call: Call[UsageQuery, None]) -> Reply:
    query = call.query
    found = await call.rooms.usage(
        query.room_id, query.correlation_id, query.actor_id, query.by, query.limit
    )
    return json_reply(found)


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="GET",
        path="/api/usage",
        handler=usage,
        query=UsageQuery,
        body=NoneType,
        reply=UsageReply,
        summary="Tokens and money of turns, as far as agents told: all, by agent, room, root.",
        errors=(ErrorCode.UNKNOWN_ROOM,),
    ),
)
