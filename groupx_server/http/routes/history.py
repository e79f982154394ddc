"""Events already in the ledger: pages of a room, one event, one event's whole text."""

from __future__ import annotations

from types import NoneType

import orjson

from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.queries import NoQuery, PageQuery
from groupx_server.http.reply import JsonReply, Reply, json_reply
from groupx_server.rooms.rows import EventRows
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.events import Event
from groupx_shared.wire.replies import EventPage, TextReply


async def get_room_events(call: Call[PageQuery, None]) -> Reply:
    query, room_id = call.query, call.path["roomId"]
    rows = await call.rooms.page(
        room_id, query.before, query.after, query.around, query.limit, query.type
    )
    return JsonReply(page_json(room_id, rows))


async def get_event(call: Call[NoQuery, None]) -> Reply:
    return JsonReply(await call.rooms.event(call.path["eventId"]))


async def get_event_text(call: Call[NoQuery, None]) -> Reply:
    return json_reply(await call.rooms.event_text(call.path["eventId"]))


def page_json(room_id: str, rows: EventRows) -> bytes:
    """An `EventPage` around events whose JSON is ready: they are spliced in, not parsed."""
    head = orjson.dumps(
        {
            "roomId": room_id,
            "hasMoreBefore": rows.has_more_before,
            "hasMoreAfter": rows.has_more_after,
        }
    )
    return b"".join((head[:-1], b',"events":[', b",".join(rows.events), b"]}"))


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="GET",
        path="/api/rooms/{roomId}/events",
        handler=get_room_events,
        query=PageQuery,
        body=NoneType,
        reply=EventPage,
        summary="A page of a room's durable events, oldest first; without a seq the newest ones.",
        errors=(ErrorCode.UNKNOWN_ROOM,),
    ),
    Route(
        method="GET",
        path="/api/events/{eventId}",
        handler=get_event,
        query=NoQuery,
        body=NoneType,
        reply=Event,
        summary="One durable event.",
        errors=(ErrorCode.UNKNOWN_EVENT,),
    ),
    Route(
        method="GET",
        path="/api/events/{eventId}/text",
        handler=get_event_text,
        query=NoQuery,
        body=NoneType,
        reply=TextReply,
        summary="The whole text of an event whose body holds a cut one.",
        errors=(ErrorCode.UNKNOWN_EVENT,),
    ),
)
