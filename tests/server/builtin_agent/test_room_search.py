"""The search against a simple model of what it should find, whatever the pages."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.builtin_agent.room_api import Page, RoomMessage
from groupx_server.builtin_agent.room_search import (
    MAX_PAGES,
    Found,
    Query,
    parse_query,
    search_room,
)


def _messages(texts: Sequence[str]) -> list[RoomMessage]:
    return [RoomMessage(2 * n + 1, "user:web", "You", text) for n, text in enumerate(texts)]


async def _search(
    texts: Sequence[str], query: Query, *, size: int = 3, max_hits: int = 10
) -> Found:
    messages = _messages(texts)

    async def read(before: int | None) -> Page:
        older = [m for m in messages if before is None or m.seq < before]
        return Page(tuple(older[-size:]), len(older) > size)

    skip = lambda message: message.content.startswith("/")  # noqa: E731
    return await search_room(read, query, skip=skip, max_hits=max_hits)


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["red fox", "Red", "fox", "blue", "/red fox", "red blue fox"])),
    st.integers(1, 5),
    st.integers(1, 4),
)
async def test_hits_are_the_newest_messages_with_every_word(
    texts: list[str], size: int, max_hits: int
) -> None:
    texts = texts[: MAX_PAGES * size]
    query = parse_query("RED fox")
    found = await _search(texts, query, size=size, max_hits=max_hits)
    visible = [m for m in reversed(_messages(texts)) if not m.content.startswith("/")]
    whole = [m for m in visible if all(w in m.content.lower() for w in ("red", "fox"))]
    assert found.hits == whole[:max_hits]
    if len(whole) < max_hits:
        assert not found.has_more_before
        assert found.searched == len(visible)
        if texts:
            assert (found.first_seq, found.last_seq) == (1, 2 * len(texts) - 1)
    elif found.hits[-1].seq != 1:
        assert found.has_more_before
        assert found.first_seq == found.hits[-1].seq


async def test_near_hits_are_those_with_most_words_newest_first() -> None:
    found = await _search(["a b", "a", "b c", "none"], parse_query("a b c"), size=2)
    assert [(count, message.content) for count, message in found.near] == [
        (2, "b c"),
        (2, "a b"),
        (1, "a"),
    ]


async def test_a_search_goes_on_before_a_message() -> None:
    found = await _search(["fox 1", "fox 2", "fox 3"], parse_query("fox before:#5"))
    assert [message.content for message in found.hits] == ["fox 2", "fox 1"]


@pytest.mark.slow
async def test_a_search_reads_a_bounded_number_of_pages_and_says_where_it_stopped() -> None:
    found = await _search(["x"] * (MAX_PAGES * 3 + 5), parse_query("y"))
    assert found.searched == MAX_PAGES * 3
    assert found.has_more_before
    assert found.first_seq == 11


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Deploy  PORT", Query(("deploy", "port"))),
        ('"the port" now', Query(("the port", "now"))),
        ("端口 before:12", Query(("端口",), 12)),
        ("x before:#7 y", Query(("x", "y"), 7)),
        ("before:x", Query(("before:x",))),
        ('" "', Query(())),
        ("a A a", Query(("a",))),
        ("", Query(())),
    ],
)
def test_queries_are_words_phrases_and_a_limit(text: str, query: Query) -> None:
    assert parse_query(text) == query
