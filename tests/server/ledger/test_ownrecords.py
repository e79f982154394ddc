"""Memory as one agent may see it: a list and a search of the same things tell the same records."""

from __future__ import annotations

import itertools
import random

import pytest

from groupx_server.domain.vectors import pack, unpack
from groupx_server.ledger.memory import NewMemory, list_memory, remember
from groupx_server.ledger.ownrecords import Seeker, Wanted, find_memory
from groupx_server.ledger.records import Author
from groupx_server.ledger.recordsearch import Asked, search_memory
from groupx_server.ledger.search import Filters, Meaning, search
from groupx_server.ledger.searchvectors import put_vectors
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.memory import MemoryScope
from support.searchable import NOW, YOU, Searchable, searchable

AGENTS = ("agent:a", "agent:b")
ROOMS = ("room:main", "room:b")
SUBJECTS = (None, "user:web", *AGENTS)
SCOPES = [
    *(MemoryScope(type="room", id=room) for room in ROOMS),
    *(MemoryScope(type="agent", id=agent) for agent in AGENTS),
    MemoryScope(type="correlation", id="c"),
]
AUTHORS = [YOU, *(Author(agent, "mcp") for agent in AGENTS)]
VIEWERS = [
    Seeker(agent, room, root) for agent in AGENTS for room in ROOMS for root in ("c", "corr_other")
]


def everything(book: Searchable) -> set[str]:
    """A record of every scope by every author about everybody, as far as each is allowed."""
    for agent in AGENTS:
        book.actor(agent, agent)
    book.room("room:b")
    book.say("what begins a root")
    made = set()
    for scope, author, subject in itertools.product(SCOPES, AUTHORS, SUBJECTS):
        memory = NewMemory(scope, "fact", "the word", author, subject_actor_id=subject)
        if scope.type == "agent" and author.actor_id not in ("user:web", scope.id):
            with pytest.raises(RefusedError) as refused:
                remember(book.connection, memory, NOW)
            assert refused.value.code is ErrorCode.MCP_BINDING_MISMATCH
        else:
            made.add(remember(book.connection, memory, NOW).memory_id)
    book.catch_up()
    return made


def told(book: Searchable, seeker: Seeker, query: str | None, **filters: str) -> set[str]:
    """All that one sees, page after page."""
    seen: list[str] = []
    cursor = None
    while True:
        wanted = Wanted(query, filters, cursor=cursor, limit=5)
        page = find_memory(book.connection, seeker, wanted, NOW)
        seen += [record.memory_id for record in page.items]
        cursor = page.next_cursor
        if cursor is None:
            assert len(seen) == len(set(seen))
            return set(seen)


@pytest.mark.slow
def test_list_and_search_agree_for_every_viewer_scope_author_and_subject() -> None:
    with searchable() as book:
        everything(book)
        wishes = itertools.product((None, "room", "agent"), (None, "core"), SUBJECTS)
        for seeker, wish in itertools.product(VIEWERS, list(wishes)):
            names = ("scope_type", "agent_memory_type", "subject_actor_id")
            by = {name: value for name, value in zip(names, wish, strict=True) if value}
            listed = told(book, seeker, None, **by)
            assert told(book, seeker, "word", **by) == listed, (seeker, by)


def test_memory_of_a_root_is_seen_by_those_who_work_for_it_alone() -> None:
    with searchable() as book:
        everything(book)
        for seeker in VIEWERS:
            seen = {
                record.scope.id
                for record in find_memory(book.connection, seeker, Wanted(limit=100), NOW).items
            }
            assert ("c" in seen) is (seeker.root == "c")
            assert {seeker.room_id, seeker.actor_id} <= seen


def test_an_agent_finds_what_a_person_wrote_into_its_core_about_somebody_else() -> None:
    with searchable() as book:
        everything(book)
        own = told(book, VIEWERS[0], "word", scope_type="agent")
        about = {
            record.subject_actor_id
            for record in list_memory(book.connection, {"author_actor_id": "user:web"}).items
            if record.memory_id in own
        }
        assert about == set(SUBJECTS)


@pytest.mark.slow
def test_people_find_what_they_list_whatever_they_narrow_by() -> None:
    with searchable() as book:
        made = everything(book)
        assert people_find(book) == made
        for scope, author, subject in itertools.product(SCOPES, AUTHORS, SUBJECTS):
            by = {
                "scope_type": scope.type,
                "scope_id": scope.id,
                "author_actor_id": author.actor_id,
            }
            if subject is not None:
                by["subject_actor_id"] = subject
            listed = list_memory(book.connection, by).items
            assert people_find(book, **by) == {record.memory_id for record in listed}


def people_find(book: Searchable, **by: str) -> set[str]:
    found = search_memory(book.connection, Asked("word", by, None, 200), NOW)
    return {record.memory_id for record in found.items}


def test_what_texts_mean_shows_nobody_another_agents_memory() -> None:
    with searchable() as book:
        made = everything(book)
        for seeker in VIEWERS:
            listed = told(book, seeker, None)
            rows = book.connection.execute("SELECT row_id FROM search_rows").fetchall()
            vector = pack([1.0, 0.0])
            put_vectors(book.connection, "m", {row_id: vector for (row_id,) in rows})
            page = search(
                book.connection,
                "other",
                Filters(
                    kind="memory",
                    seen_in=seeker.room_id,
                    seen_by=seeker.actor_id,
                    seen_for=seeker.root,
                ),
                NOW,
                limit=200,
                meaning=Meaning(unpack(vector), 0.5, 0.3),
            )
            found = {row.ref_id for row in page.found}
            assert page.by_meaning
            assert found <= listed < made


@pytest.mark.slow
def test_a_page_is_full_whenever_there_is_enough_however_much_others_have() -> None:
    """The filter counts before the best are taken."""
    chance = random.Random(6)
    with searchable() as book:
        everything(book)
        for number in range(500):
            scope = chance.choice(SCOPES[1:])
            remember(book.connection, NewMemory(scope, "note", f"needle {number}", YOU), NOW)
        for number in range(7):
            remember(
                book.connection,
                NewMemory(SCOPES[0], "decision", f"a much longer text, needle, {number}", YOU),
                NOW,
            )
        book.catch_up()
        by = {"scope_type": "room", "kind": "decision"}
        wanted = Wanted("needle", by, limit=7)
        page = find_memory(book.connection, VIEWERS[0], wanted, NOW)
        assert len(page.items) == 7
        asked = Asked("needle", {"scope_id": "room:main"}, None, 7)
        assert len(search_memory(book.connection, asked, NOW).items) == 7
