"""Roots: what one message led to: listed, read, let go on after a limit, cancelled as a whole."""

from __future__ import annotations

from types import NoneType

from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.queries import NoQuery, RootsQuery
from groupx_server.http.reply import Reply, json_reply
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.replies import RootContinued
from groupx_shared.wire.requests import CommandRequest
from groupx_shared.wire.roots import RootCancelled, RootList, RootReply


async def list_roots(call: Call[RootsQuery, None]) -> Reply:
    query = call.query
    return json_reply(
        await call.rooms.roots.list(query.room_id, query.status, query.before, query.limit)
    )


async def get_root(call: Call[NoQuery, None]) -> Reply:
    return json_reply(await call.rooms.roots.show(call.path["correlationId"]))


async def cancel_root(call: Call[NoQuery, CommandRequest]) -> Reply:
    root, command_id = call.path["correlationId"], call.body.client_command_id
    return json_reply(await call.rooms.roots.cancel(root, command_id), 202)


async def continue_root(call: Call[NoQuery, CommandRequest]) -> Reply:
    root, command_id = call.path["correlationId"], call.body.client_command_id
    source = call.credential.source
    return json_reply(await call.rooms.continue_root(root, command_id, source), 202)


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="GET",
        path="/api/roots",
        handler=list_roots,
        query=RootsQuery,
        body=NoneType,
        reply=RootList,
        summary="What messages led to, newest first: who works on each, how far it is.",
        errors=(ErrorCode.UNKNOWN_ROOM,),
    ),
    Route(
        method="GET",
        path="/api/roots/{correlationId}",
        handler=get_root,
        query=NoQuery,
        body=NoneType,
        reply=RootReply,
        summary="One root with all its turns and what they cost.",
        errors=(ErrorCode.UNKNOWN_EVENT,),
    ),
    Route(
        method="POST",
        path="/api/roots/{correlationId}/cancel",
        handler=cancel_root,
        query=NoQuery,
        body=CommandRequest,
        reply=RootCancelled,
        summary="Cancel a root: every turn of it that waits or runs.",
        status=202,
        errors=(
            ErrorCode.UNKNOWN_EVENT,
            ErrorCode.CLIENT_COMMAND_CONFLICT,
            ErrorCode.SESSION_NOT_AVAILABLE,
        ),
    ),
    Route(
        method="POST",
        path="/api/roots/{correlationId}/continue",
        handler=continue_root,
        query=NoQuery,
        body=CommandRequest,
        reply=RootContinued,
        summary="Let agents go on that a limit has stopped; what was held is sent.",
        status=202,
        errors=(
            ErrorCode.UNKNOWN_EVENT,
            ErrorCode.STORE_CONFLICT,
            ErrorCode.UNKNOWN_TARGET,
            ErrorCode.AGENT_DISABLED,
            ErrorCode.ROOM_ARCHIVED,
            ErrorCode.CLIENT_COMMAND_CONFLICT,
            ErrorCode.QUEUE_CAPACITY_REACHED,
            ErrorCode.ROOT_TURN_LIMIT_REACHED,
            ErrorCode.HOP_LIMIT_REACHED,
            ErrorCode.BUDGET_EXCEEDED,
        ),
    ),
)
