"""Roots: what one message led to. Letting agents go on that a limit has stopped."""

from __future__ import annotations

from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.queries import NoQuery
from groupx_server.http.reply import Reply, json_reply
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.replies import RootContinued
from groupx_shared.wire.requests import CommandRequest


async def continue_root(call: Call[NoQuery, CommandRequest]) -> Reply:
    root, command_id = call.path["correlationId"], call.body.client_command_id
    source = call.credential.source
    return json_reply(await call.rooms.continue_root(root, command_id, source), 202)


ROUTES: tuple[AnyRoute, ...] = (
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
