"""Export: everything up to the moment of the request, in order, at the reader's pace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import orjson
import pytest

from groupx_shared.wire.events import Event
from support.asgi_bridge import WAIT_S
from support.http_app import http_app


async def test_jsonl_has_every_event_in_order_one_a_line() -> None:
    async with http_app() as served:
        served.ledger.commit(1_000)
        response = await served.client.get("/api/export")
        assert response.headers["content-type"] == "application/x-ndjson"
        assert 'filename="groupx-all-rooms.jsonl"' in response.headers["content-disposition"]
        lines = response.content.splitlines()
        seqs = [Event.model_validate_json(line).seq for line in lines]
        assert seqs == list(range(1, 1_001))


async def test_an_empty_room_is_an_empty_export() -> None:
    async with http_app() as served:
        response = await served.client.get("/api/export?roomId=room:main")
        assert (response.status_code, response.content) == (200, b"")


async def test_a_room_can_be_exported_alone() -> None:
    async with http_app() as served:
        served.rooms.room_ids["room:b"] = "B"
        served.ledger.commit(3)
        served.ledger.commit(2, "room:b")
        response = await served.client.get("/api/export?roomId=room:b")
        seqs = [orjson.loads(line)["seq"] for line in response.content.splitlines()]
        assert seqs == [4, 5]


async def test_what_is_written_meanwhile_is_not_in_it() -> None:
    async with http_app() as served:
        served.ledger.commit(5_000)
        seqs: list[int] = []
        async with served.client.stream("GET", "/api/export") as response:
            async for line in response.aiter_lines():
                seqs.append(orjson.loads(line)["seq"])
                if len(seqs) % 10 == 0:
                    served.ledger.commit(10)
        assert seqs == list(range(1, 5_001))


async def test_the_next_page_is_read_when_the_last_one_was_taken() -> None:
    async with http_app() as served:
        served.ledger.commit(5_000)
        async with served.client.stream("GET", "/api/export") as response:
            pieces = response.aiter_raw()
            await anext(pieces)
            for _ in range(1_000):
                await asyncio.sleep(0)
            assert served.ledger.reads <= 4


@pytest.mark.parametrize("query", ["?roomId=room:nope", "?roomId=room:nope&format=md"])
async def test_an_unknown_room_is_a_refusal_and_no_empty_file(query: str) -> None:
    async with http_app() as served:
        response = await served.client.get("/api/export" + query)
        assert (response.status_code, response.json()["error"]["code"]) == (404, "UNKNOWN_ROOM")


async def test_an_unknown_format_is_refused() -> None:
    async with http_app() as served:
        response = await served.client.get("/api/export?format=pdf")
        assert "'jsonl' or 'md'" in response.json()["error"]["message"]


async def test_markdown_reads_as_a_conversation() -> None:
    async with http_app() as served:
        served.ledger.commit(content="Hello *there*")
        served.ledger.commit(kind="turn.queued", turnId="turn_1")
        response = await served.client.get("/api/export?format=md&roomId=room:main")
        assert response.headers["content-type"] == "text/markdown; charset=utf-8"
        assert response.text == (
            "# Main\n\nExported through event 2.\n\n"
            "### You · 2026-11-30T12:00:00.000Z\n\n```markdown\nHello *there*\n```\n\n"
        )


async def test_markdown_of_all_rooms_names_them_and_brings_cut_texts_whole() -> None:
    async with http_app() as served:
        served.ledger.commit(content="Begin", cut=True)
        served.rooms.texts["evt_1"] = "Begin and end"
        response = await served.client.get("/api/export?format=md")
        assert response.text.startswith("# All rooms\n")
        assert "· room:main\n\n```markdown\nBegin and end\n```" in response.text


async def test_no_control_sequence_gets_into_the_markdown() -> None:
    hostile = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\u202etxt"
    async with http_app() as served:
        served.ledger.commit(content=hostile)
        served.rooms.room_ids["room:main"] = hostile
        response = await served.client.get("/api/export?format=md&roomId=room:main")
        assert not set("\x1b\x07\x9b\u202e") & set(response.text)


async def test_a_stop_of_the_server_leaves_an_export_visibly_cut() -> None:
    async with http_app() as served:
        served.ledger.commit(5_000)
        async with served.client.stream("GET", "/api/export") as response:
            pieces = response.aiter_raw()
            await anext(pieces)
            served.state.close()
            with pytest.raises(httpx.RemoteProtocolError):
                await asyncio.wait_for(_drain(pieces), WAIT_S)


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    async for _ in pieces:
        pass
