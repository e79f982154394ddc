"""Looking at loopback ports for a model."""

from __future__ import annotations

import json

import pytest

from groupx_server.builtin_agent.discovery import (
    ListedModel,
    Looked,
    PortScout,
    choose_model,
    parse_models,
)
from groupx_server.builtin_agent.http_pool import HttpPool
from support.fake_openai import FakeOpenAI
from support.loopback_http import HttpRequest, LoopbackServer, Responder


async def _look(
    *ports: int, model: str | None = None, foreign: frozenset[int] = frozenset()
) -> list[Looked]:
    http = HttpPool()
    named = tuple((port, f"server {port}") for port in ports)
    scout = PortScout(http, named, model=model, is_foreign=lambda port: port in foreign)
    try:
        return await scout.look()
    finally:
        await http.aclose()


async def test_every_port_is_looked_at_and_reported_in_order() -> None:
    async with FakeOpenAI() as first, FakeOpenAI([{"id": "b", "max_model_len": 9}]) as second:
        looked = await _look(1, first.port, second.port)
    assert [look.port for look in looked] == [1, first.port, second.port]
    assert looked[0].endpoint is None
    assert "nothing listens" in looked[0].sentence
    assert looked[1].endpoint is not None
    assert looked[1].endpoint.model == "fake-model"
    assert looked[2].endpoint is not None
    assert looked[2].endpoint.context_tokens == 9
    assert looked[2].endpoint.base_url == f"http://127.0.0.1:{second.port}/v1"


async def test_another_persons_program_is_not_asked() -> None:
    async with FakeOpenAI() as fake:
        [look] = await _look(fake.port, foreign=frozenset({fake.port}))
    assert look.endpoint is None
    assert "another user" in look.sentence
    assert fake.listed == 0


async def test_a_server_that_is_no_model_server_is_named() -> None:
    async def page(_: HttpRequest, respond: Responder) -> None:
        await respond.whole(200, b"<html>", "text/html")

    async with LoopbackServer(page) as web, FakeOpenAI() as silent:
        silent.lists_models = False
        looked = await _look(web.port, silent.port)
    assert "not JSON" in looked[0].sentence
    assert "HTTP 404" in looked[1].sentence


@pytest.mark.slow
async def test_a_server_that_hangs_costs_half_a_second() -> None:
    async def hang(_: HttpRequest, respond: Responder) -> None:
        await respond.client_gone()

    async with LoopbackServer(hang) as server:
        [look] = await _look(server.port)
    assert "no answer in time" in look.sentence


async def test_a_wanted_model_is_the_only_one_taken() -> None:
    async with FakeOpenAI([{"id": "a"}, {"id": "b"}]) as fake:
        [found] = await _look(fake.port, model="b")
        [missing] = await _look(fake.port, model="c")
    assert found.endpoint is not None
    assert found.endpoint.model == "b"
    assert missing.endpoint is None
    assert "model c" in missing.sentence


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["nomic-embed-text", "qwen3:8b"], "qwen3:8b"),
        (["text-embedding-bge-m3"], None),
        (["bge-reranker", "whisper-1", "eclipse"], "eclipse"),
        (["gpt-oss:120b-cloud", "glm:cloud", "cloudy"], "cloudy"),
        ([], None),
    ],
)
def test_models_that_cannot_chat_are_passed_over(names: list[str], chosen: str | None) -> None:
    model = choose_model([ListedModel(name) for name in names], None)
    assert (model.name if model else None) == chosen


@pytest.mark.parametrize(
    ("entry", "tokens"),
    [
        ({"max_model_len": 5}, 5),
        ({"max_context_length": 6}, 6),
        ({"context_length": 7}, 7),
        ({"meta": {"n_ctx_train": 8}}, 8),
        ({"meta": {"n_ctx_train": 8, "n_ctx": 4}}, 4),
        ({"max_model_len": "many"}, None),
        ({}, None),
    ],
)
def test_the_windows_size_is_read_where_it_is_told(
    entry: dict[str, object], tokens: int | None
) -> None:
    body = json.dumps({"data": [{"id": "m", **entry}, {"id": 3}, "x"]}).encode()
    assert parse_models(body) == [ListedModel("m", tokens)]


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"data": 1}'])
def test_a_reply_that_is_no_list_is_said_in_words(body: bytes) -> None:
    assert isinstance(parse_models(body), str)
