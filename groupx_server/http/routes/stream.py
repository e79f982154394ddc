"""`GET /api/events`: everything that happens, as server-sent events, from any seq on.

Both ways of naming the start (`afterSeq`, and `Last-Event-ID` of a reconnecting client) must
agree: when they do not, one of them is of another moment or another database, and a guess would
lose or double events.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import NoneType
from typing import Final

from starlette.types import Scope

from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.headers import single_header
from groupx_server.http.issues import Issue, refuse
from groupx_server.http.queries import MAX_SEQ, FollowQuery
from groupx_server.http.reply import Header, Reply, StreamReply
from groupx_server.rooms.broadcast import Hub
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.text import safe_line

RETRY_MS: Final = 1_000
"""Pause that an EventSource makes before it connects again."""
CONTENT_TYPE: Final = "text/event-stream; charset=utf-8"
UNBUFFERED: Final[tuple[Header, ...]] = ((b"x-accel-buffering", b"no"),)


async def follow_events(call: Call[FollowQuery, None]) -> Reply:
    hub, room_id = call.services.hub, call.query.room_id
    start = _start(call.query.after_seq, _last_event_id(call.scope), hub.last_seq)
    if room_id is not None:
        await call.rooms.page(room_id, None, None, None, 1, ())  # refuses an unknown room
    pieces = _pieces(hub, start, room_id)
    return StreamReply(
        pieces, call.services.state.streams_end, CONTENT_TYPE, ends_whole=True, headers=UNBUFFERED
    )


async def _pieces(hub: Hub, start: int, room_id: str | None) -> AsyncIterator[bytes]:
    # A block without data is no event; its id gives a client that gets cut before its first event
    # a place to come back to.
    yield b"retry: %d\nid: %d\n\n" % (RETRY_MS, start)
    with hub.subscribe(start, room_id) as subscription:
        async for piece in subscription:
            yield piece


def _last_event_id(scope: Scope) -> int | None:
    value = single_header(scope, b"last-event-id")
    if not value:
        return None
    if not value.isdigit() or int(value[:20]) > MAX_SEQ:
        found = safe_line(value.decode("latin-1"), 40)
        message = f"Expected the seq of an event, found “{found}”."
        raise refuse("The request", [Issue("Last-Event-ID", "not_a_seq", message)])
    return int(value)


def _start(after_seq: int | None, last_event_id: int | None, newest_seq: int) -> int:
    given = {seq for seq in (after_seq, last_event_id) if seq is not None}
    if len(given) > 1:
        message = (
            f"It says {last_event_id} and afterSeq says {after_seq}; send one of them, or the "
            "same in both."
        )
        raise refuse("The request", [Issue("Last-Event-ID", "not_equal", message)])
    start = given.pop() if given else newest_seq
    if start > newest_seq:
        raise RefusedError(
            f"Seq {start} lies beyond the newest event ({newest_seq}): it is of another database. "
            "Load /api/bootstrap again and follow from its throughSeq.",
            code=ErrorCode.STORE_CONFLICT,
            details={"afterSeq": start, "throughSeq": newest_seq},
        )
    return start


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="GET",
        path="/api/events",
        handler=follow_events,
        query=FollowQuery,
        body=NoneType,
        reply=None,
        summary="Follow all events from a seq on, durable and live ones (server-sent events).",
        errors=(ErrorCode.UNKNOWN_ROOM, ErrorCode.STORE_CONFLICT),
        content_types=("text/event-stream",),
    ),
)
