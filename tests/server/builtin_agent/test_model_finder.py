"""Which model answers, and when it is looked for again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest

from groupx_server.builtin_agent.discovery import PortScout
from groupx_server.builtin_agent.failures import ModelError
from groupx_server.builtin_agent.http_pool import HttpPool
from groupx_server.builtin_agent.model_finder import ModelFinder
from groupx_server.builtin_agent.settings import read_settings
from support.fake_openai import FakeOpenAI


@asynccontextmanager
async def finder(env: Mapping[str, str]) -> AsyncIterator[ModelFinder]:
    settings = read_settings(env)
    http = HttpPool()
    yield ModelFinder(settings, http, PortScout(http, settings.ports, model=settings.model))
    await http.aclose()


async def test_a_configured_name_needs_no_look() -> None:
    env = {"GROUPX_MODEL_BASE_URL": "http://127.0.0.1:1", "GROUPX_MODEL_NAME": "m"}
    async with finder(env) as find:
        found = await find.current()
    assert found is not None
    assert (found.model, found.origin, found.discovered) == ("m", "configured", False)


async def test_without_a_name_the_first_chat_model_of_a_local_server_is_taken() -> None:
    async with (
        FakeOpenAI([{"id": "text-embed"}, {"id": "chat"}]) as fake,
        finder({"GROUPX_MODEL_BASE_URL": fake.base_url, "GROUPX_MODEL_API_KEY": "k"}) as find,
    ):
        found = await find.current()
    assert found is not None
    assert (found.model, found.api_key) == ("chat", "k")


async def test_without_a_name_a_hosted_endpoint_is_not_asked() -> None:
    async with finder({"GROUPX_MODEL_BASE_URL": "https://models.invalid/v1"}) as find:
        with pytest.raises(ModelError, match="GROUPX_MODEL_NAME"):
            await find.current()


async def test_a_local_server_that_lists_nothing_is_told() -> None:
    async with FakeOpenAI([]) as fake, finder({"GROUPX_MODEL_BASE_URL": fake.base_url}) as find:
        with pytest.raises(ModelError, match="the list holds none"):
            await find.current()
        fake.lists_models = False
        with pytest.raises(ModelError, match="HTTP 404"):
            await find.current()


async def test_discovery_can_be_switched_off() -> None:
    async with (
        FakeOpenAI() as fake,
        finder({"GROUPX_MODEL_PORTS": str(fake.port), "GROUPX_MODEL_DISCOVERY": "0"}) as find,
    ):
        assert await find.current() is None
    assert fake.listed == 0


async def test_what_was_found_is_kept_until_it_is_forgotten() -> None:
    async with (
        FakeOpenAI() as fake,
        finder({"GROUPX_MODEL_PORTS": str(fake.port)}) as find,
    ):
        first = await find.current()
        assert await find.current() is first is find.known
        assert fake.listed == 1
        find.forget()
        assert find.known is None
        await find.current()
        assert fake.listed == 2
        assert first is not None
        assert first.discovered
        assert first.api_key is None
