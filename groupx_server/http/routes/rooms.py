"""Rooms: the list, a new one, a changed one, and all that is needed to show one."""

from __future__ import annotations

from types import NoneType

from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.queries import BootstrapQuery, NoQuery
from groupx_server.http.reply import JsonReply, Reply, json_reply
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.replies import BootstrapReply, RoomList, RoomReply
from groupx_shared.wire.requests import ChangeRoom, CreateRoom


async def get_bootstrap(call: Call[BootstrapQuery, None]) -> Reply:
    return JsonReply(await call.rooms.bootstrap(call.query.room_id, call.query.limit))


async def list_rooms(call: Call[NoQuery, None]) -> Reply:
    return json_reply(await call.rooms.rooms())


async def create_room(call: Call[NoQuery, CreateRoom]) -> Reply:
    return json_reply(await call.rooms.create_room(call.body), 201)


async def change_room(call: Call[NoQuery, ChangeRoom]) -> Reply:
    return json_reply(await call.rooms.change_room(call.path["roomId"], call.body))


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="GET",
        path="/api/bootstrap",
        handler=get_bootstrap,
        query=BootstrapQuery,
        body=NoneType,
        reply=BootstrapReply,
        summary="All that a client needs to show a room and to follow it from there.",
        errors=(ErrorCode.UNKNOWN_ROOM,),
    ),
    Route(
        method="GET",
        path="/api/rooms",
        handler=list_rooms,
        query=NoQuery,
        body=NoneType,
        reply=RoomList,
        summary="All rooms, archived ones too.",
    ),
    Route(
        method="POST",
        path="/api/rooms",
        handler=create_room,
        query=NoQuery,
        body=CreateRoom,
        reply=RoomReply,
        summary="Create a room.",
        status=201,
        errors=(ErrorCode.ROOM_EXISTS, ErrorCode.CLIENT_COMMAND_CONFLICT),
    ),
    Route(
        method="PATCH",
        path="/api/rooms/{roomId}",
        handler=change_room,
        query=NoQuery,
        body=ChangeRoom,
        reply=RoomReply,
        summary="Rename, archive or restore a room.",
        errors=(
            ErrorCode.UNKNOWN_ROOM,
            ErrorCode.STORE_CONFLICT,
            ErrorCode.CLIENT_COMMAND_CONFLICT,
        ),
    ),
)
