"""Memory and identity over HTTP: words go to the search, everything else to the lists."""

from __future__ import annotations

import pytest

from groupx_server.ledger.recordsearch import Asked
from groupx_shared.wire.memory import IdentityList, MemoryList
from support.http_app import http_app


async def test_words_and_filters_reach_the_search() -> None:
    async with http_app() as served:
        query = {"words": "port", "scopeType": "agent", "kind": "fact", "cursor": "c", "limit": "5"}
        response = await served.client.get("/api/memory", params=query)
        assert len(MemoryList.model_validate_json(response.content).items) == 1
        told = await served.client.get("/api/identity?words=brief&perspective=self")
        assert len(IdentityList.model_validate_json(told.content).items) == 1
        assert served.rooms.memories.asked == [
            Asked("port", {"scope_type": "agent", "kind": "fact"}, "c", 5),
            Asked("brief", {"perspective": "self"}, None, 100),
        ]


async def test_without_words_it_is_a_list() -> None:
    async with http_app() as served:
        for words in ("", "%20"):
            response = await served.client.get(f"/api/memory?words={words}")
            assert len(MemoryList.model_validate_json(response.content).items) == 1
        assert served.rooms.memories.asked == []


@pytest.mark.parametrize("query", ["words=" + "x" * 1001, "perspective=mine"])
async def test_what_is_no_query_is_refused(query: str) -> None:
    async with http_app() as served:
        response = await served.client.get(f"/api/identity?{query}")
        assert response.json()["error"]["code"] == "INVALID_ENVELOPE"
