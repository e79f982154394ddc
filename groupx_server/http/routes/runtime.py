"""The server itself: health, taking a changed config over, and the order to stop."""

from __future__ import annotations

from types import NoneType

from starlette.types import Receive, Scope, Send

from groupx_server.http.endpoint import AnyRoute, Call, Route, Services
from groupx_server.http.queries import NoQuery
from groupx_server.http.reply import Reply, json_reply
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.replies import HealthReply, ReloadReply, ShutdownReply
from groupx_shared.wire.requests import CommandRequest, ShutdownRequest


async def get_health(call: Call[NoQuery, None]) -> Reply:
    health = call.services.state.health()
    return json_reply(health, 503 if health.status == "closing" else 200)


async def shut_down(call: Call[NoQuery, ShutdownRequest]) -> Reply:
    state = call.services.state
    if call.body.runtime_scope_key != state.runtime_scope_key:
        raise RefusedError(
            "This server serves another workspace than the request names; it goes on. "
            "Look at “groupx status” in the workspace you mean.",
            code=ErrorCode.STORE_CONFLICT,
        )
    reply = ShutdownReply(
        accepted=True, runtime_key=state.runtime_key, runtime_scope_key=state.runtime_scope_key
    )
    return _ReplyThenStop(json_reply(reply, 202), call.services)


async def reload(call: Call[NoQuery, CommandRequest]) -> Reply:
    return json_reply(await call.services.reload(call.body.client_command_id))


class _ReplyThenStop:
    """Answers first: the stop closes this connection too."""

    def __init__(self, reply: Reply, services: Services) -> None:
        self._reply = reply
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._reply(scope, receive, send)
        finally:
            self._services.request_stop()


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="GET",
        path="/api/health",
        handler=get_health,
        query=NoQuery,
        body=NoneType,
        reply=HealthReply,
        summary="Does the server live, and which one is it? Costs nothing, tells no secret.",
        is_public=True,
    ),
    Route(
        method="POST",
        path="/api/runtime/shutdown",
        handler=shut_down,
        query=NoQuery,
        body=ShutdownRequest,
        reply=ShutdownReply,
        summary="Stop the server of this workspace.",
        status=202,
        errors=(ErrorCode.STORE_CONFLICT,),
    ),
    Route(
        method="POST",
        path="/api/runtime/reload",
        handler=reload,
        query=NoQuery,
        body=CommandRequest,
        reply=ReloadReply,
        summary="Read the config file again and take over what changed, without touching turns.",
        errors=(ErrorCode.CONFIG_INVALID, ErrorCode.CLIENT_COMMAND_CONFLICT),
    ),
)
