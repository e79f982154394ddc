"""`GET /api/export`: everything that is durable, streamed, as it was when the request came.

The newest seq is taken at the start; what is written later is not in the export, so it ends even
in a room that never rests. Reading goes in pages, the next one when the socket has taken the last.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from types import NoneType
from typing import Final

from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.ports import Rooms
from groupx_server.http.queries import ExportQuery
from groupx_server.http.reply import Reply, StreamReply
from groupx_server.http.transcript import Transcript
from groupx_server.rooms.paging import PageSize
from groupx_shared.errors import ErrorCode

PAGE_BYTES: Final = 256 * 1024
CONTENT_TYPES: Final = {"jsonl": "application/x-ndjson", "md": "text/markdown; charset=utf-8"}

Rows = list[tuple[int, bytes]]


async def export_events(call: Call[ExportQuery, None]) -> Reply:
    room_id, kind = call.query.room_id, call.query.format
    through = call.services.hub.last_seq
    page = PageSize(PAGE_BYTES)
    # Before the head is sent, so that an unknown room is still a refusal.
    first = await call.rooms.export_rows(room_id, 0, page.rows)
    pages = _pages(call.rooms, room_id, through, first, page)
    pieces = _lines(pages) if kind == "jsonl" else _transcript(call.rooms, room_id, through, pages)
    name = re.sub(r"[^a-z0-9._-]", "-", (room_id or "all-rooms").removeprefix("room:").lower())
    disposition = f'attachment; filename="groupx-{name[:64]}.{kind}"'
    return StreamReply(
        pieces,
        call.services.state.streams_end,
        CONTENT_TYPES[kind],
        ends_whole=False,
        headers=((b"content-disposition", disposition.encode()),),
    )


async def _pages(
    rooms: Rooms, room_id: str | None, through: int, rows: Rows, page: PageSize
) -> AsyncIterator[list[bytes]]:
    """Envelopes up to `through`, page by page; `rows` is the first page, read with `page`."""
    asked = page.rows
    while rows:
        kept = [data for seq, data in rows if seq <= through]
        yield kept
        if len(rows) < asked or rows[-1][0] >= through:
            return
        page.learn(len(rows), sum(map(len, kept)))
        asked = page.rows
        rows = await rooms.export_rows(room_id, rows[-1][0], asked)


async def _lines(pages: AsyncIterator[list[bytes]]) -> AsyncIterator[bytes]:
    async for events in pages:
        yield b"\n".join([*events, b""])


async def _transcript(
    rooms: Rooms, room_id: str | None, through: int, pages: AsyncIterator[list[bytes]]
) -> AsyncIterator[bytes]:
    transcript = Transcript(rooms.event_text, names_rooms=room_id is None)
    titles = {room.room_id: room.title for room in (await rooms.rooms()).rooms}
    title = "All rooms" if room_id is None else titles.get(room_id, room_id)
    yield transcript.head(title, through).encode()
    async for events in pages:
        yield "".join([await transcript.section(event) for event in events]).encode()


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="GET",
        path="/api/export",
        handler=export_events,
        query=ExportQuery,
        body=NoneType,
        reply=None,
        summary="Every durable event in order (jsonl), or a transcript to read (md).",
        errors=(ErrorCode.UNKNOWN_ROOM,),
        content_types=("application/x-ndjson", "text/markdown"),
    ),
)
