"""R4, isolation: nothing of another scope is ever found, and the filter counts before the best are
taken, so that as many come as were asked for whenever there are so many."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from groupx_server.ledger.memory import NewMemory, remember
from groupx_server.ledger.ownrecords import Seeker, Wanted, find_memory
from groupx_server.ledger.search import Filters, search
from groupx_shared.wire.memory import MemoryScope
from support.goal_size import bound_s, sized
from support.searchable import NOW, YOU, Searchable, searchable

pytestmark = [pytest.mark.slow, pytest.mark.timeout(bound_s(60))]

SCOPES = sized(10, 50)
QUERIES = sized(40, 1_000)
"""In each scope."""
TEXTS = sized(30, 100)
"""Of each scope."""
WORDS = [f"word{number}x" for number in range(60)]
LIMIT = 7
Seen = list[str]


def _asked(draw: random.Random) -> list[str]:
    return draw.sample(WORDS, draw.randint(1, 3))


def _try_all(
    texts: dict[int, dict[str, set[str]]], find: Callable[[int, str, int], Seen], seed: int
) -> None:
    """Ask in every scope; `texts` has the words of each id there."""
    draw = random.Random(seed)
    for scope, own in texts.items():
        for _ in range(QUERIES):
            words = _asked(draw)
            found = find(scope, " ".join(words), LIMIT)
            assert set(found) <= set(own), "something of another scope"
            fitting = [ref_id for ref_id, has in own.items() if has & set(words)]
            assert len(found) >= min(LIMIT, len(fitting))


def _said(book: Searchable, draw: random.Random) -> dict[int, dict[str, set[str]]]:
    texts: dict[int, dict[str, set[str]]] = {scope: {} for scope in range(SCOPES)}
    for scope in texts:
        book.room(f"room:{scope}")
    for number in range(SCOPES * TEXTS):
        chosen = draw.sample(WORDS, 4)
        scope = number % SCOPES
        texts[scope][book.say(" ".join(chosen), f"room:{scope}")] = set(chosen)
    return texts


def test_no_message_of_another_room_and_as_many_as_there_are() -> None:
    with searchable() as book:
        texts = _said(book, random.Random(4))
        book.catch_up()

        def find(scope: int, query: str, limit: int) -> Seen:
            filters = Filters(room_id=f"room:{scope}")
            found = search(book.connection, query, filters, NOW, limit=limit).found
            return [row.ref_id for row in found]

        _try_all(texts, find, 5)


def test_no_memory_of_another_agent_or_room_and_as_many_as_there_are() -> None:
    """Each agent sees what it keeps itself and what its room does."""
    draw = random.Random(6)
    with searchable() as book:
        texts: dict[int, dict[str, set[str]]] = {scope: {} for scope in range(SCOPES)}
        for scope in texts:
            book.actor(f"agent:{scope}", f"A{scope}")
            book.room(f"room:{scope}")
        for number in range(SCOPES * TEXTS):
            scope, chosen = number % SCOPES, draw.sample(WORDS, 4)
            is_own = draw.random() < 0.5
            where = MemoryScope(
                type="agent" if is_own else "room",
                id=f"agent:{scope}" if is_own else f"room:{scope}",
            )
            about = f"agent:{draw.randrange(SCOPES)}"
            content = f"{' '.join(chosen)} {number}"
            memory = NewMemory(where, "fact", content, YOU, subject_actor_id=about)
            texts[scope][remember(book.connection, memory, NOW).memory_id] = set(chosen)
        book.catch_up()

        def find(scope: int, query: str, limit: int) -> Seen:
            seeker = Seeker(f"agent:{scope}", f"room:{scope}")
            found = find_memory(book.connection, seeker, Wanted(query, limit=limit), NOW)
            return [record.memory_id for record in found.items]

        _try_all(texts, find, 7)
