"""Search over HTTP."""

from __future__ import annotations

import pytest

from groupx_server.ledger.search import Filters
from groupx_shared.wire.search import SearchIndexReply, SearchReply
from support.fake_searching import HIT
from support.http_app import READER_TOKEN, http_app


async def test_a_query_with_its_filters_reaches_the_use_case() -> None:
    async with http_app() as served:
        query = {
            "q": '"any" text *',
            "roomId": "room:main",
            "kind": "message",
            "actorId": "user:web",
            "type": "message.created",
            "root": "corr_1",
            "since": "2026-01-01",
            "until": "2026-02-01",
            "cursor": "c",
            "limit": "5",
        }
        response = await served.client.get("/api/search", params=query)
        assert SearchReply.model_validate_json(response.content).hits == (HIT,)
        [(text, filters, cursor, limit)] = served.rooms.searching.asked
        assert (text, cursor, limit) == ('"any" text *', "c", 5)
        assert filters == Filters(
            room_id="room:main",
            kind="message",
            actor_id="user:web",
            type="message.created",
            root="corr_1",
            since="2026-01-01",
            until="2026-02-01",
        )


@pytest.mark.parametrize(
    "query", ["?other=x", "?q=x&kind=other", "?q=x&limit=0", f"?q={'x' * 1001}"]
)
async def test_what_is_no_query_is_refused(query: str) -> None:
    async with http_app() as served:
        response = await served.client.get(f"/api/search{query}")
        assert response.status_code == 400
        assert response.json()["error"]["code"] == "INVALID_ENVELOPE"


async def test_an_unknown_room_is_refused() -> None:
    async with http_app() as served:
        response = await served.client.get("/api/search?q=x&roomId=room:nowhere")
        assert response.status_code == 404
        assert response.json()["error"]["code"] == "UNKNOWN_ROOM"


async def test_a_reader_may_search_and_not_rebuild() -> None:
    async with http_app() as served:
        as_reader = {"authorization": f"Bearer {READER_TOKEN}"}
        found = await served.client.get("/api/search?q=nothing", headers=as_reader)
        assert found.json()["hits"] == []
        body = {"clientCommandId": "1"}
        refused = await served.client.post("/api/search/rebuild", json=body, headers=as_reader)
        assert refused.status_code == 403


async def test_a_rebuild_is_accepted() -> None:
    async with http_app() as served:
        response = await served.client.post("/api/search/rebuild", json={"clientCommandId": "123"})
        assert response.status_code == 202
        assert SearchIndexReply.model_validate_json(response.content).behind == 3
