"""Search: ask the index, or have it built anew."""

from __future__ import annotations

from types import NoneType

from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.queries import NoQuery, SearchQuery
from groupx_server.http.reply import Reply, json_reply
from groupx_server.ledger.search import Filters
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.requests import CommandRequest
from groupx_shared.wire.search import SearchIndexReply, SearchReply


async def find(call: Call[SearchQuery, None]) -> Reply:
    query = call.query
    filters = Filters(
        room_id=query.room_id,
        kind=query.kind,
        actor_id=query.actor_id,
        type=query.type,
        root=query.root,
        since=query.since,
        until=query.until,
    )
    return json_reply(await call.rooms.searching.find(query.q, filters, query.cursor, query.limit))


async def rebuild(call: Call[NoQuery, CommandRequest]) -> Reply:
    return json_reply(await call.rooms.searching.rebuild(call.body.client_command_id), 202)


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="GET",
        path="/api/search",
        handler=find,
        query=SearchQuery,
        body=NoneType,
        reply=SearchReply,
        summary="Messages, memory and identity that a query finds, best first.",
        errors=(ErrorCode.UNKNOWN_ROOM,),
    ),
    Route(
        method="POST",
        path="/api/search/rebuild",
        handler=rebuild,
        query=NoQuery,
        body=CommandRequest,
        reply=SearchIndexReply,
        summary="Build the search index anew from the ledger.",
        status=202,
        errors=(ErrorCode.CLIENT_COMMAND_CONFLICT,),
    ),
)
