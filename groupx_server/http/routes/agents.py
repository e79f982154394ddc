"""Agents: list and restart."""

from __future__ import annotations

from types import NoneType

from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.queries import NoQuery
from groupx_server.http.reply import Reply, json_reply
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.replies import AgentList, RestartReply
from groupx_shared.wire.requests import CommandRequest


async def list_agents(call: Call[NoQuery, None]) -> Reply:
    return json_reply(await call.rooms.agents())


async def restart_agent(call: Call[NoQuery, CommandRequest]) -> Reply:
    actor_id, command_id = call.path["actorId"], call.body.client_command_id
    return json_reply(await call.rooms.restart_agent(actor_id, command_id), 202)


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="GET",
        path="/api/agents",
        handler=list_agents,
        query=NoQuery,
        body=NoneType,
        reply=AgentList,
        summary="The roster with each agent's true state.",
    ),
    Route(
        method="POST",
        path="/api/agents/{actorId}/restart",
        handler=restart_agent,
        query=NoQuery,
        body=CommandRequest,
        reply=RestartReply,
        summary="End an agent's program and start it again.",
        status=202,
        errors=(
            ErrorCode.UNKNOWN_ACTOR,
            ErrorCode.AGENT_DISABLED,
            ErrorCode.CLIENT_COMMAND_CONFLICT,
            ErrorCode.SESSION_NOT_AVAILABLE,
        ),
    ),
)
