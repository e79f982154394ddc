"""Memory and identity read as one list: nothing left out, nothing twice, in order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.client.shelf import (
    Query,
    ReadPage,
    Shelf,
    identity_query,
    memory_query,
    words_to_find,
)
from groupx_tui.state.remembered import Kept, Sought


def kept(number: int, kind: str) -> Kept:
    """A record of a moment."""
    at = f"2026-11-30T09:{number // 60:02}:{number % 60:02}.000Z"
    return Kept(f"{kind}_{number:03}", "room", "room:main", "fact", "user:web", "x", "active", at)


def pages(records: list[Kept], size: int, asked: list[Query]) -> ReadPage:
    """A list of the server."""

    async def read(query: Query) -> tuple[list[Kept], str | None]:
        asked.append(query)
        start = int(query["cursor"] or 0)
        end = start + size
        return records[start:end], str(end) if end < len(records) else None

    return read


@given(
    st.sets(st.integers(0, 99), max_size=30),
    st.sets(st.integers(0, 99), max_size=30),
    st.integers(1, 7),
    st.integers(1, 9),
    st.sampled_from(["", "words"]),
)
async def test_all_of_both_lists_comes_once_and_in_order(
    first: set[int], second: set[int], size: int, count: int, words: str
) -> None:
    one = [kept(number, "mem") for number in sorted(first, reverse=True)]
    two = [kept(number, "identity") for number in sorted(second, reverse=True)]
    shelf = Shelf(pages(one, size, []), pages(two, size, []), Sought(words=words))
    found: list[Kept] = []
    while shelf.has_more:
        piece = await shelf.more(count)
        assert len(piece) == count or not shelf.has_more
        found += piece
    assert sorted(each.record_id for each in found) == sorted(each.record_id for each in one + two)
    if not words:
        times = [each.created_at for each in found]
        assert times == sorted(times, reverse=True)


async def test_only_what_is_shown_is_read() -> None:
    asked: list[Query] = []
    records = [kept(number, "mem") for number in range(99, 0, -1)]
    shelf = Shelf(pages(records, 10, asked), pages([], 10, []), Sought())
    await shelf.more(5)
    assert len(asked) == 1
    await shelf.more(10)
    assert len(asked) == 2


async def test_what_cannot_fit_is_not_asked_for() -> None:
    asked: list[Query] = []
    shelf = Shelf(pages([], 5, asked), pages([kept(1, "identity")], 5, []), Sought("identity"))
    assert len(await shelf.more()) == 1
    assert asked == []


@pytest.mark.parametrize(
    ("sought", "memory", "identity"),
    [
        (Sought(), {}, {}),
        (Sought("room", "room:b"), {"scopeType": "room", "scopeId": "room:b"}, None),
        (
            Sought(None, "agent:a"),
            {"scopeType": "agent", "scopeId": "agent:a"},
            {"subjectActorId": "agent:a"},
        ),
        (
            Sought("dated", "agent:a"),
            {"scopeType": "agent", "scopeId": "agent:a", "agentMemoryType": "dated"},
            None,
        ),
        (Sought("core"), {"scopeType": "agent", "agentMemoryType": "core"}, None),
        (Sought("identity", word="others"), None, {"perspective": "others"}),
        (
            Sought(kind="note", author_id="agent:a"),
            {"kind": "note", "authorActorId": "agent:a"},
            {"kind": "note", "authorActorId": "agent:a"},
        ),
        (Sought(state="pinned"), {"pinned": "true"}, None),
        (Sought(state="history"), {"includeHistory": "true"}, {"includeHistory": "true"}),
        (Sought(state="retracted"), {"status": "retracted"}, {"status": "retracted"}),
    ],
)
def test_what_is_sought_becomes_the_servers_filters(
    sought: Sought, memory: Query | None, identity: Query | None
) -> None:
    assert (memory is not None, identity is not None) == (
        sought.wants_memory,
        sought.wants_identity,
    )
    for query, wanted in ((memory_query(sought), memory), (identity_query(sought), identity)):
        given = {name: value for name, value in query.items() if value is not None}
        if wanted is not None:
            assert given == {**wanted, "limit": 100}


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", ""),
        ("pars", "pars*"),
        ("the p", "the p"),
        ("old pars ", "old pars*"),
        ('"a phrase"', '"a phrase"'),
        ("蓝色", "蓝色"),
        ("x" * 2_000, "x" * 1_000 + "*"),
    ],
)
def test_the_last_word_may_be_half_typed(typed: str, words: str) -> None:
    assert words_to_find(typed) == words
