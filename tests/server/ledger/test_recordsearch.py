"""Records by words: narrowed by the filters of the lists, whole pages, only what counts."""

from __future__ import annotations

from groupx_server.ledger.identity_records import NewIdentity, list_identity, remember_identity
from groupx_server.ledger.memory import NewMemory, remember, retract
from groupx_server.ledger.records import Author
from groupx_server.ledger.recordsearch import Asked, search_identity, search_memory
from groupx_shared.wire.memory import MemoryScope
from support.searchable import NOW, YOU, Searchable, searchable

A, B = Author("agent:a", "mcp"), Author("agent:b", "mcp")
PEOPLE = {"user:web": "people", "agent:a": "self", "agent:b": "others"}


def found(book: Searchable, words: str, limit: int = 20, **filters: str) -> list[str]:
    """The texts that are found, page after page."""
    book.catch_up()
    texts: list[str] = []
    cursor = None
    while True:
        asked = Asked(words, filters, cursor, limit)
        page = search_memory(book.connection, asked, NOW)
        texts += [record.content for record in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return texts


def core_of_a(book: Searchable, text: str) -> None:
    """A person writes down something for an agent."""
    scope = MemoryScope(type="agent", id="agent:a")
    remember(book.connection, NewMemory(scope, "preference", text, YOU), NOW)


def test_words_find_records_of_every_scope_and_filters_narrow_them() -> None:
    with searchable() as book:
        book.actor("agent:a", "A")
        book.room("room:b")
        for room in ("room:main", "room:b"):
            book.remember(f"the port of {room}", room)
        core_of_a(book, "likes a free port")
        assert len(found(book, "port")) == 3
        assert found(book, "port", scope_type="room", scope_id="room:b") == ["the port of room:b"]
        assert found(book, "port", scope_type="agent", scope_id="agent:a") == ["likes a free port"]
        assert found(book, "port", kind="preference") == ["likes a free port"]
        assert found(book, "port", author_actor_id="agent:a") == []
        assert found(book, "nothing of that") == []


def test_all_pages_together_hold_everything_once() -> None:
    with searchable() as book:
        book.actor("agent:a", "A")
        for number in range(7):
            book.remember(f"port number {number}")
            core_of_a(book, f"port {number} of mine")
        for limit in (1, 3, 100):
            texts = found(book, "port", limit, scope_type="agent")
            assert sorted(texts) == [f"port {number} of mine" for number in range(7)]


def test_what_was_taken_back_is_not_found() -> None:
    with searchable() as book:
        gone = book.remember("the port is 4310")
        assert found(book, "port") == ["the port is 4310"]
        retract(book.connection, gone, YOU, NOW)
        assert found(book, "port") == []


def test_identity_is_found_and_listed_by_whose_word_it_is() -> None:
    with searchable() as book:
        for name in ("agent:a", "agent:b"):
            book.actor(name, name)
        for author in (YOU, A, B):
            said = NewIdentity("agent:a", "note", f"brief, says {author.actor_id}", author)
            remember_identity(book.connection, said, NOW)
        book.catch_up()
        for actor_id, perspective in PEOPLE.items():
            by = {"perspective": perspective}
            asked = Asked("brief", by, None, 20)
            for page in (
                search_identity(book.connection, asked, NOW),
                list_identity(book.connection, by),
            ):
                assert [record.author_actor_id for record in page.items] == [actor_id]
