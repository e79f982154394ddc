"""Merging of deltas; the request itself is exercised by the dialogues of test_model_turn."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.builtin_agent.chunks import (
    ContentPart,
    Delta,
    ErrorReported,
    Finished,
    ReasoningPart,
)
from groupx_server.builtin_agent.completion import ChatClient, merged
from groupx_server.builtin_agent.endpoint import Endpoint
from groupx_server.builtin_agent.failures import ModelError
from groupx_server.builtin_agent.http_pool import HttpPool
from support.fake_openai import FakeOpenAI, whole

_DELTAS = st.one_of(
    st.text().map(ContentPart),
    st.text().map(ReasoningPart),
    st.just(Finished("stop")),
    st.just(ErrorReported("x")),
)


@settings(deadline=None)
@given(st.lists(_DELTAS))
def test_merging_keeps_text_and_order_and_leaves_no_two_neighbours_alike(
    deltas: list[Delta],
) -> None:
    result = merged(deltas)
    for kind in (ContentPart, ReasoningPart):
        before = "".join(delta.text for delta in deltas if isinstance(delta, kind))
        assert "".join(delta.text for delta in result if isinstance(delta, kind)) == before
    kinds = [type(delta) for delta in result]
    assert ErrorReported not in kinds
    texts = (ContentPart, ReasoningPart)
    assert not any(a is b and a in texts for a, b in itertools.pairwise(kinds))


async def _complete(base_url: str) -> list[Delta]:
    taken: list[Delta] = []

    async def receive(deltas: object) -> None:
        assert isinstance(deltas, list)
        taken.extend(deltas)

    http = HttpPool()
    try:
        await ChatClient(http, 5).complete(Endpoint(base_url, "m", "test"), {"a": 1}, receive)
    finally:
        await http.aclose()
    return taken


async def test_a_web_page_in_place_of_a_chat_is_named_as_such() -> None:
    async with FakeOpenAI() as fake:
        fake.plan(whole("<html>hi</html>", "text/html"), whole("[1]"))
        with pytest.raises(ModelError, match=r"did not answer as .* text/html"):
            await _complete(fake.base_url)
        with pytest.raises(ModelError, match="not a JSON object"):
            await _complete(fake.base_url)


async def test_a_path_that_is_not_there_is_a_404_with_advice() -> None:
    async with FakeOpenAI() as fake:
        with pytest.raises(ModelError, match="HTTP 404"):
            await _complete(fake.url + "/elsewhere")


async def test_json_lines_in_place_of_events_are_understood() -> None:
    async with FakeOpenAI() as fake:
        fake.plan(whole('{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}', "a/b"))
        assert await _complete(fake.base_url) == [ContentPart("x"), Finished("stop")]
