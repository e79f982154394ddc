"""What texts mean, from a fake endpoint: found by it, never waiting for it, bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from groupx_server.ledger.search import Filters
from groupx_server.ledger.searchindex import backlog, index_some
from groupx_server.ledger.usage import read_usage
from groupx_server.rooms.clock import Clock
from groupx_server.rooms.embedding import EmbeddingEndpoint, EmbeddingError
from groupx_server.rooms.meaning import Meanings
from groupx_shared.settings import EmbeddingSettings
from groupx_shared.wire.search import SearchReply
from support.fake_embeddings import FakeEmbeddings
from support.rooms import House, house

WITHIN_S = 5.0


@asynccontextmanager
async def _meaning(rooms: House, settings: EmbeddingSettings) -> AsyncIterator[Meanings]:
    """Vectors are made meanwhile."""
    meanings = Meanings(rooms.ledger, Clock(), settings)
    rooms.runtime.meanings = meanings
    async with asyncio.TaskGroup() as tasks:
        working = tasks.create_task(meanings.run())
        try:
            yield meanings
        finally:
            working.cancel()


async def _find(rooms: House, text: str) -> SearchReply:
    return await rooms.service.searching.find(text, Filters(), None, 20)


async def _vectors(rooms: House, count: int) -> None:
    """Wait until all rows have vectors: so many."""
    meanings = rooms.runtime.meanings
    assert meanings is not None
    meanings.wake()
    async with asyncio.timeout(WITHIN_S):
        await meanings.settled.wait()
    assert await _count(rooms) == count


async def _count(rooms: House) -> int:
    (count,) = await rooms.ledger.read(
        lambda book: book.execute("SELECT count(*) FROM search_vectors").fetchone()
    )
    return int(count)


async def _say(rooms: House, *texts: str) -> list[str]:
    return [(await rooms.send(text, to=[])).message_event_id for text in texts]


@pytest.mark.slow
async def test_an_answer_is_found_by_what_it_means(tmp_path: Path) -> None:
    async with FakeEmbeddings() as model, house(tmp_path) as rooms:
        said = await _say(rooms, "a plan a plan", "x", "y", "z", "plan of the automobile", "u", "v")
        async with _meaning(rooms, model.settings()):
            assert (await _find(rooms, "plan car")).meaning in ("incomplete", "used")
            await _vectors(rooms, len(said))
            reply = await _find(rooms, "plan car")
            assert (reply.meaning, reply.meaning_problem) == ("used", None)
            assert reply.hits[0].id == said[4]
            asked = len(model.batches)
            await _find(rooms, "plan car")
            assert len(model.batches) == asked


async def test_without_an_endpoint_nothing_is_sent(tmp_path: Path) -> None:
    async with FakeEmbeddings() as model, house(tmp_path) as rooms:
        await _say(rooms, "the plan")
        async with _meaning(rooms, model.settings(enabled=False)):
            assert (await _find(rooms, "plan")).meaning == "off"
        assert model.batches == []


@pytest.mark.slow
async def test_a_failing_endpoint_is_left_alone_and_words_find(tmp_path: Path) -> None:
    async with FakeEmbeddings() as model, house(tmp_path) as rooms:
        (said,) = await _say(rooms, "the plan")
        model.answer_with(500, b"out of\x1b[31m order", times=9)
        async with _meaning(rooms, model.settings()):
            for _ in range(5):
                reply = await _find(rooms, "plan")
                assert [hit.id for hit in reply.hits] == [said]
                assert reply.meaning == "failing"
                assert "answers 500: out of" in (reply.meaning_problem or "")
                assert "\x1b" not in (reply.meaning_problem or "")
        assert len(model.batches) <= 2


@pytest.mark.slow
@pytest.mark.slow
async def test_the_next_page_comes_though_the_endpoint_failed_meanwhile(tmp_path: Path) -> None:
    async with FakeEmbeddings() as model, house(tmp_path) as rooms:
        said = await _say(rooms, *(f"plan {number} of the car" for number in range(9)))
        async with _meaning(rooms, model.settings()) as meanings:
            await _find(rooms, "plan")
            await _vectors(rooms, len(said))
            find = rooms.service.searching.find
            first = await find("plan vehicle", Filters(), None, 4)
            assert first.meaning == "used"
            meanings.replace(model.settings(base_url="http://127.0.0.1:9/v1"))  # a new start, say
            second = await find("plan vehicle", Filters(), first.next_cursor, 20)
            assert second.meaning == "failing"
            assert second.meaning_problem is not None
            assert sorted(hit.id for hit in (*first.hits, *second.hits)) == sorted(said)


async def test_an_endpoint_that_is_not_there_costs_no_hit(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        (said,) = await _say(rooms, "the plan")
        settings = EmbeddingSettings(enabled=True, base_url="http://127.0.0.1:9/v1", model="m")
        async with _meaning(rooms, settings):
            reply = await _find(rooms, "plan")
            assert [hit.id for hit in reply.hits] == [said]
            assert reply.meaning == "failing"


@pytest.mark.slow
async def test_too_many_texts_go_in_smaller_parts_and_one_that_is_refused_is_left_out(
    tmp_path: Path,
) -> None:
    async with FakeEmbeddings(most=2) as model, house(tmp_path) as rooms:
        await _say(rooms, *(f"line {number}" for number in range(7)))
        async with _meaning(rooms, model.settings()) as meanings:
            await _find(rooms, "line")
            await _vectors(rooms, 7)
            assert max(len(batch) for batch in model.batches[3:]) <= 4
            model.answer_with(400, b'{"error":"too long"}', times=1)
            await _say(rooms, "a text that is refused")
            await rooms.ledger.write(index_some)
            meanings.wake()
            await meanings.settled.wait()
            await _say(rooms, "the last line")
            await _find(rooms, "the last line")
            await _vectors(rooms, 8)


async def test_calls_are_bounded_by_day_and_told(tmp_path: Path) -> None:
    async with FakeEmbeddings() as model, house(tmp_path) as rooms:
        await _say(rooms, *(f"line {number}" for number in range(9)))
        async with _meaning(rooms, model.settings(calls_per_day=2, batch_size=4)):
            await _find(rooms, "+line")
            async with asyncio.timeout(WITHIN_S):
                await model.has_asked(2)
            reply = await _find(rooms, "another query")
            assert (reply.meaning, "callsPerDay" in (reply.meaning_problem or "")) == (
                "failing",
                True,
            )
            usage = await rooms.ledger.read(lambda book: read_usage(book, None, None, None))
        assert len(model.batches) == 2
        assert sum(each.calls for each in usage.embeddings) <= 2


async def test_queries_in_chinese_are_no_business_of_an_english_model(tmp_path: Path) -> None:
    async with FakeEmbeddings() as model, house(tmp_path) as rooms:
        async with _meaning(rooms, model.settings(english_only=True)):
            assert (await _find(rooms, "蓝色的杯子")).meaning == "skipped"
            assert (await _find(rooms, "-plan")).meaning == "skipped"
        assert model.batches == []


async def test_a_removed_text_has_no_vector_any_more(tmp_path: Path) -> None:
    async with FakeEmbeddings() as model, house(tmp_path) as rooms:
        (said,) = await _say(rooms, "the secret automobile")
        async with _meaning(rooms, model.settings()):
            await _find(rooms, "secret")
            await _vectors(rooms, 1)
        from groupx_server.ledger.redaction import Target, redact

        target = Target("event", said, "user:web", "person")
        await rooms.ledger.write(lambda book: redact(book, target, "2026-02-01T00:00:00.000Z"))
        assert await _count(rooms) == 0
        assert (await rooms.ledger.read(backlog)).records > 0


async def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeEmbeddings() as model:
        endpoint = EmbeddingEndpoint(model.settings(api_key_env="FAKE_KEY"))
        monkeypatch.delenv("FAKE_KEY", raising=False)
        with pytest.raises(EmbeddingError, match="FAKE_KEY holds no key"):
            await endpoint.embed(["a"], 2)
        monkeypatch.setenv("FAKE_KEY", "k-1")
        await endpoint.embed(["a"], 2)
        assert model.keys == ["Bearer k-1"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"data":[]}',
        b'{"data":[{"index":0,"embedding":[0,0]}]}',
        b'{"data":[{"index":0,"embedding":["a"]}]}',
        b'{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]}',
        b'{"data":[{"index":0,"embedding":[1,2]}]}',
    ],
)
async def test_what_is_no_vector_is_told_as_that(body: bytes) -> None:
    async with FakeEmbeddings() as model:
        endpoint = EmbeddingEndpoint(model.settings(dimensions=3))
        model.answer_with(200, body)
        with pytest.raises(EmbeddingError, match="vectors"):
            await endpoint.embed(["a"], 2)


async def test_an_endpoint_that_is_silent_is_not_waited_for() -> None:
    async def silent(_: object, responder: object) -> None:
        await asyncio.Event().wait()

    from support.loopback_http import LoopbackServer

    async with LoopbackServer(silent) as server:
        settings = EmbeddingSettings(enabled=True, base_url=server.url, model="m")
        with pytest.raises(EmbeddingError, match="within"):
            await EmbeddingEndpoint(settings).embed(["a"], 0.05)


@pytest.mark.slow
async def test_other_settings_count_at_once_while_a_failing_endpoint_is_left_alone(
    tmp_path: Path,
) -> None:
    async with FakeEmbeddings() as bad, FakeEmbeddings() as good, house(tmp_path) as rooms:
        await _say(rooms, "the plan")
        bad.answer_with(500, b"out of order", times=9)
        async with _meaning(rooms, bad.settings()) as meanings:
            assert (await _find(rooms, "plan")).meaning == "failing"
            async with asyncio.timeout(2):  # below the first pause
                meanings.replace(good.settings())
                await meanings.settled.wait()
        assert await _count(rooms) == 1
