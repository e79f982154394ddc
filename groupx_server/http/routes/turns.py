"""Turns: list, read one, cancel one, take one up again."""

from __future__ import annotations

from types import NoneType

from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.queries import NoQuery, TurnsQuery
from groupx_server.http.reply import Reply, json_reply
from groupx_server.rooms.again import Again
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.replies import (
    AdviceReply,
    CancelReply,
    MessageAccepted,
    TurnInfo,
    TurnList,
)
from groupx_shared.wire.requests import AdviseTurn, CommandRequest


async def list_turns(call: Call[TurnsQuery, None]) -> Reply:
    query = call.query
    return json_reply(
        await call.rooms.turns(
            query.room_id, query.status, query.actor_id, query.before, query.limit
        )
    )


async def get_turn(call: Call[NoQuery, None]) -> Reply:
    return json_reply(await call.rooms.turn(call.path["turnId"]))


async def cancel_turn(call: Call[NoQuery, CommandRequest]) -> Reply:
    turn_id, command_id = call.path["turnId"], call.body.client_command_id
    return json_reply(await call.rooms.cancel_turn(turn_id, command_id), 202)


async def retry_turn(call: Call[NoQuery, CommandRequest]) -> Reply:
    return await _take_up_again(call, "retry")


async def continue_turn(call: Call[NoQuery, CommandRequest]) -> Reply:
    return await _take_up_again(call, "continue")


async def _take_up_again(call: Call[NoQuery, CommandRequest], how: Again) -> Reply:
    turn_id, command_id = call.path["turnId"], call.body.client_command_id
    source = call.credential.source
    return json_reply(await call.rooms.take_up_again(turn_id, command_id, how, source), 202)


async def advise_turn(call: Call[NoQuery, AdviseTurn]) -> Reply:
    turn_id, source = call.path["turnId"], call.credential.source
    command_id, content = call.body.client_command_id, call.body.content
    return json_reply(await call.rooms.advise_turn(turn_id, command_id, content, source), 202)


_AGAIN_ERRORS = (
    ErrorCode.UNKNOWN_TURN,
    ErrorCode.UNKNOWN_TARGET,
    ErrorCode.AGENT_DISABLED,
    ErrorCode.ROOM_ARCHIVED,
    ErrorCode.STORE_CONFLICT,
    ErrorCode.CLIENT_COMMAND_CONFLICT,
    ErrorCode.QUEUE_CAPACITY_REACHED,
)

ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="GET",
        path="/api/turns",
        handler=list_turns,
        query=TurnsQuery,
        body=NoneType,
        reply=TurnList,
        summary="Turns, newest first.",
        errors=(ErrorCode.UNKNOWN_ROOM, ErrorCode.UNKNOWN_ACTOR),
    ),
    Route(
        method="GET",
        path="/api/turns/{turnId}",
        handler=get_turn,
        query=NoQuery,
        body=NoneType,
        reply=TurnInfo,
        summary="One turn with its latest attempt and its answer.",
        errors=(ErrorCode.UNKNOWN_TURN,),
    ),
    Route(
        method="POST",
        path="/api/turns/{turnId}/cancel",
        handler=cancel_turn,
        query=NoQuery,
        body=CommandRequest,
        reply=CancelReply,
        summary="Cancel a turn that waits or runs.",
        status=202,
        errors=(
            ErrorCode.UNKNOWN_TURN,
            ErrorCode.CLIENT_COMMAND_CONFLICT,
            ErrorCode.SESSION_NOT_AVAILABLE,
        ),
    ),
    Route(
        method="POST",
        path="/api/turns/{turnId}/advise",
        handler=advise_turn,
        query=NoQuery,
        body=AdviseTurn,
        reply=AdviceReply,
        summary="Say something to the agent of a turn: into the turn while it runs and its program "
        "takes that, else as its next turn.",
        status=202,
        errors=(
            ErrorCode.UNKNOWN_TURN,
            ErrorCode.MESSAGE_TOO_LARGE,
            ErrorCode.ROOM_ARCHIVED,
            ErrorCode.CLIENT_COMMAND_CONFLICT,
            ErrorCode.QUEUE_CAPACITY_REACHED,
        ),
    ),
    Route(
        method="POST",
        path="/api/turns/{turnId}/retry",
        handler=retry_turn,
        query=NoQuery,
        body=CommandRequest,
        reply=MessageAccepted,
        summary="Send an ended turn's message once more, as a new turn that points to the old one.",
        status=202,
        errors=_AGAIN_ERRORS,
    ),
    Route(
        method="POST",
        path="/api/turns/{turnId}/continue",
        handler=continue_turn,
        query=NoQuery,
        body=CommandRequest,
        reply=MessageAccepted,
        summary="Ask the agent to go on with a turn that did not complete, as a new turn.",
        status=202,
        errors=_AGAIN_ERRORS,
    ),
)
