"""The served document is the one made from the table."""

from __future__ import annotations

from groupx_server.http.openapi import build_document
from groupx_server.http.table import ROUTES
from support.http_app import http_app


async def test_the_document_is_served_as_it_is_built() -> None:
    async with http_app() as served:
        response = await served.client.get("/api/openapi.json")
        assert response.json() == build_document(ROUTES)
