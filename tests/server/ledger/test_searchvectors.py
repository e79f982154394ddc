"""Vectors follow the rows of the index, and put the best by words into another order."""

from __future__ import annotations

import pytest

from groupx_server.domain.vectors import pack, unpack
from groupx_server.ledger.search import Filters, FoundPage, Meaning, search
from groupx_server.ledger.searchindex import reset, withdraw_messages
from groupx_server.ledger.searchvectors import (
    Calls,
    calls_on,
    left,
    next_sources,
    note_calls,
    put_vectors,
)
from support.fake_embeddings import fake_vector
from support.searchable import NOW, Searchable, searchable

MODEL = "fake at nowhere"
MAX_CURSOR_CHARS = 256
"""What requests take."""


def _fill(book: Searchable, model: str = MODEL, count: int = 7) -> None:
    book.catch_up()
    while rows := next_sources(book.connection, model, count, 500):
        vectors = {row.row_id: pack(fake_vector(row.text)) for row in rows}
        put_vectors(book.connection, model, dict(vectors))


def _meant(
    book: Searchable, text: str, cursor: str | None = None, limit: int = 20, weight: float = 0.5
) -> FoundPage:
    meaning = Meaning(unpack(pack(fake_vector(text))), weight)
    return search(
        book.connection, text, Filters(), NOW, cursor=cursor, limit=limit, meaning=meaning
    )


def _count(book: Searchable) -> int:
    (count,) = book.connection.execute("SELECT count(*) FROM search_vectors").fetchone()
    return int(count)


def _talk(book: Searchable) -> list[str]:
    """Lines of which all have the word “plan”, far from each other."""
    said = []
    for number in range(60):
        said.append(book.say(f"plan {number} of the garden"))
        book.say("nothing"), book.say("at all"), book.say("here")
    return said


def test_rows_get_vectors_in_steps_and_once() -> None:
    with searchable() as book:
        for number in range(20):
            book.say(f"line {number}")
        book.remember("the port is 4310")
        book.catch_up()
        assert left(book.connection, MODEL) == 21
        _fill(book)
        assert (_count(book), left(book.connection, MODEL)) == (21, 0)
        assert next_sources(book.connection, MODEL, 9, 500) == []
        book.say("one more line")
        book.catch_up()
        assert [row.text for row in next_sources(book.connection, MODEL, 9, 8)] == ["You: one"]


def test_a_row_that_was_taken_out_leaves_no_vector() -> None:
    with searchable() as book:
        ids = [book.say(text) for text in ("one", "two", "three")]
        record = book.remember("four")
        _fill(book)
        withdraw_messages(book.connection, ids)
        assert _count(book) == 1
        book.connection.execute("UPDATE memory_records SET status = 'retracted'")
        _fill(book)
        assert _count(book) == 3
        assert record not in book.found("four")


def test_a_vector_that_comes_too_late_is_dropped() -> None:
    with searchable() as book:
        event_id = book.say("a secret")
        book.catch_up()
        (row,) = next_sources(book.connection, MODEL, 9, 500)
        withdraw_messages(book.connection, [event_id])
        put_vectors(book.connection, MODEL, {row.row_id: pack([1.0, 2.0])})
        assert _count(book) == 0


def test_another_model_or_size_begins_anew() -> None:
    with searchable() as book:
        for number in range(9):
            book.say(f"line {number}")
        _fill(book, "one", 4)
        _fill(book, "two", 4)
        assert (_count(book), left(book.connection, "two")) == (9, 0)
        book.say("one more")
        book.catch_up()
        (row,) = next_sources(book.connection, "two", 9, 500)
        put_vectors(book.connection, "two", {row.row_id: pack([1.0, 2.0])})
        assert (_count(book), left(book.connection, "two")) == (0, 10)


def test_building_the_index_anew_drops_all_vectors() -> None:
    with searchable() as book:
        book.say("one")
        _fill(book)
        reset(book.connection)
        assert _count(book) == 0
        _fill(book)
        assert _count(book) == 1


def test_what_is_meant_comes_before_what_has_the_word_alone() -> None:
    with searchable() as book:
        _talk(book)
        wanted = book.say("the plan of the automobile")
        for _ in range(30):
            book.say("a plan, a plan, a plan")
        _fill(book)
        assert book.found("plan car")[0] != wanted
        page = _meant(book, "plan car")
        assert page.by_meaning
        assert page.found[0].ref_id == wanted


def test_all_that_words_find_is_found_and_once() -> None:
    with searchable() as book:
        _talk(book)
        _fill(book)
        expected = set(book.found("plan garden", limit=1_000))
        assert len(expected) > 200
        page = _meant(book, "plan garden", limit=90)
        seen = [row.ref_id for row in page.found]
        scores = [row.score for row in page.found]
        while page.next_cursor is not None:
            page = _meant(book, "plan garden", page.next_cursor, limit=90)
            seen += [row.ref_id for row in page.found]
        assert scores == sorted(scores)
        assert len(seen) == len(set(seen))
        assert set(seen) == expected


def test_a_long_page_goes_on_behind_what_was_compared() -> None:
    with searchable() as book:
        _talk(book)
        _fill(book)
        page = _meant(book, "plan garden", limit=1_000)
        scores = [row.score for row in page.found]
        assert len(page.found) == len(book.found("plan garden", limit=1_000))
        assert scores == sorted(scores)


def test_a_text_without_any_of_the_words_is_found_when_it_is_near_enough() -> None:
    with searchable() as book:
        book.room("room:b")
        wanted = book.say("an automobile")
        for text in ("x", "y", "z", "some rain"):
            book.say(text)
        other = book.say("a vehicle", "room:b")
        _fill(book)
        meaning = Meaning(unpack(pack(fake_vector("car"))), 0.5, 0.8)

        def found(text: str, **by: str) -> list[str]:
            page = search(book.connection, text, Filters(**by), NOW, meaning=meaning)
            return [row.ref_id for row in page.found]

        assert set(found("car")) == {wanted, other}
        assert found("car", room_id="room:b") == [other]
        assert found("car", kind="memory") == []
        assert found("car", actor_id="agent:nobody") == []
        assert found("+car") == []
        assert found("-car") == book.found("-car")


def test_few_vectors_do_not_count() -> None:
    with searchable() as book:
        said = [book.say(f"plan {number}") for number in range(10)]
        book.catch_up()
        rows = next_sources(book.connection, MODEL, 4, 500)
        put_vectors(book.connection, MODEL, {row.row_id: pack(fake_vector("car")) for row in rows})
        page = _meant(book, "plan")
        assert not page.by_meaning
        assert {row.ref_id for row in page.found} == set(said)


@pytest.mark.parametrize("limit", [7, 90, 190])
def test_an_endpoint_that_fails_between_two_pages_costs_the_order_alone(limit: int) -> None:
    """Whatever pages have a meaning: all that words find is found, each once."""
    with searchable() as book:
        _talk(book)
        _fill(book)
        expected = set(book.found("plan garden", limit=1_000))
        page = _meant(book, "plan garden", limit=limit)
        seen = [row.ref_id for row in page.found]
        number = 0
        while page.next_cursor is not None:
            assert len(page.next_cursor) <= MAX_CURSOR_CHARS
            number += 1
            if number % 3 == 2:
                page = _meant(book, "plan garden", page.next_cursor, limit)
            else:
                page = book.page("plan garden", page.next_cursor, limit)
                assert not page.by_meaning
            seen += [row.ref_id for row in page.found]
        assert len(seen) == len(set(seen))
        assert set(seen) == expected


def test_without_its_meaning_a_later_page_goes_on_in_the_order_of_words() -> None:
    with searchable() as book:
        _talk(book)
        _fill(book)
        by_words = book.found("plan garden", limit=60)
        first = _meant(book, "plan garden", limit=5)
        given = {row.ref_id for row in first.found}
        rest = [ref_id for ref_id in by_words if ref_id not in given]
        page = book.page("plan garden", first.next_cursor, limit=50)
        assert [row.ref_id for row in page.found] == rest[:50]


def test_vectors_that_come_between_two_pages_double_nothing() -> None:
    with searchable() as book:
        _talk(book)
        _fill(book)
        expected = set(book.found("plan garden", limit=1_000))
        page = _meant(book, "plan garden", limit=60)
        seen = [row.ref_id for row in page.found]
        book.connection.execute("DELETE FROM search_vectors WHERE row_id % 3 = 0")
        while page.next_cursor is not None:
            page = _meant(book, "plan garden", page.next_cursor, limit=60)
            seen += [row.ref_id for row in page.found]
        assert len(seen) == len(set(seen))
        assert set(seen) == expected


def test_calls_are_added_up_by_day() -> None:
    with searchable() as book:
        for day in ("2026-01-30", "2026-01-31", "2026-01-31"):
            note_calls(book.connection, day, MODEL, {"index": Calls(2, 1, 9, 90)})
        note_calls(book.connection, "2026-01-31", MODEL, {"query": Calls(1, 0, 1, 4)})
        assert calls_on(book.connection, "2026-01-31") == 5
