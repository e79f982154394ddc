"""`GET /api/openapi.json`: the document of this very server."""

from __future__ import annotations

from types import NoneType

from groupx_server.http.endpoint import AnyRoute, Call, Route
from groupx_server.http.queries import NoQuery
from groupx_server.http.reply import JsonReply, Reply


async def get_openapi(call: Call[NoQuery, None]) -> Reply:
    return JsonReply(call.services.document())


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        method="GET",
        path="/api/openapi.json",
        handler=get_openapi,
        query=NoQuery,
        body=NoneType,
        reply=None,
        summary="This document: every endpoint, its inputs, replies and refusals (OpenAPI 3.1).",
    ),
)
