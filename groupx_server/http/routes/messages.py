"""Sending a message: the answer comes when it is on disk, not when agents have answered."""

from __future__ import annotations

from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.queries import NoQuery
from groupx_server.http.reply import Reply, json_reply
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.replies import MessageAccepted
from groupx_shared.wire.requests import SendMessage


async def send_message(call: Call[NoQuery, SendMessage]) -> Reply:
    return json_reply(await call.rooms.send(call.body, call.credential.source), 202)


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="POST",
        path="/api/messages",
        handler=send_message,
        query=NoQuery,
        body=SendMessage,
        reply=MessageAccepted,
        summary="Send a message and wake the agents it names. The reply means: on disk.",
        status=202,
        errors=(
            ErrorCode.UNKNOWN_ROOM,
            ErrorCode.UNKNOWN_TARGET,
            ErrorCode.UNKNOWN_ACTOR,
            ErrorCode.UNKNOWN_EVENT,
            ErrorCode.AGENT_DISABLED,
            ErrorCode.ROOM_ARCHIVED,
            ErrorCode.CLIENT_COMMAND_CONFLICT,
            ErrorCode.QUEUE_CAPACITY_REACHED,
            ErrorCode.ROOT_TURN_LIMIT_REACHED,
            ErrorCode.HOP_LIMIT_REACHED,
            ErrorCode.SUPERVISION_PAIR_INVALID,
            ErrorCode.SESSION_NOT_AVAILABLE,
        ),
    ),
)
