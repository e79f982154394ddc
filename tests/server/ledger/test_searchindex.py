"""The index follows the ledger: piece by piece, the same as built at once, nothing left behind."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.ledger.memory import retract, supersede
from groupx_server.ledger.searchindex import (
    BATCH_CHARS,
    backlog,
    index_some,
    reset,
    withdraw_messages,
    withdraw_record,
)
from support.searchable import NOW, YOU, Searchable, searchable

STEP = st.one_of(
    st.tuples(
        st.just("say"), st.sampled_from(["room:main", "room:b"]), st.text("ab 猫狗é", max_size=9)
    ),
    st.tuples(st.just("index"), st.just(""), st.just("")),
    st.tuples(st.just("remember"), st.just("room:main"), st.text("xy 鱼", min_size=1, max_size=5)),
    st.tuples(st.just("retract"), st.just(""), st.just("")),
    st.tuples(st.just("change"), st.just(""), st.text("ab 新", max_size=5)),
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(STEP, max_size=30), st.integers(1, 5))
def test_piece_by_piece_is_the_same_as_built_anew(
    steps: list[tuple[str, str, str]], limit: int
) -> None:
    with searchable() as book:
        book.room("room:b")
        _play(book, steps, limit)
        book.catch_up(limit)
        grown = book.words()
        reset(book.connection)
        book.catch_up()
        assert grown == book.words()
        assert not [word for word in grown if word[0] == "nobody"]


def _play(book: Searchable, steps: list[tuple[str, str, str]], limit: int) -> None:
    said: list[str] = []
    kept: dict[str, None] = {}  # the same words are kept once
    for what, room_id, text in steps:
        if what == "say":
            said.append(book.say(text, room_id))
        elif what == "remember":
            kept[book.remember(f"x {text}", room_id)] = None
        elif what == "retract" and kept:
            retract(book.connection, kept.popitem()[0], YOU, NOW)
        elif what == "change" and said:
            _rewrite(book, said[len(text) % len(said)], text)
        elif what == "index":
            index_some(book.connection, limit)


def _rewrite(book: Searchable, event_id: str, text: str) -> None:
    withdraw_messages(book.connection, [event_id])
    book.connection.execute(
        "UPDATE events SET body_json = json_object('content', ?) WHERE event_id = ?",
        (text, event_id),
    )


def test_a_changed_text_leaves_no_word_not_even_as_a_neighbours_context() -> None:
    with searchable() as book:
        ids = [book.say(text) for text in ("one", "two", "zanzibar", "four", "five")]
        book.catch_up()
        assert any(word[2] == "zanzibar" for word in book.words())
        _rewrite(book, ids[2], "gone")
        assert not any(word[2] == "zanzibar" for word in book.words())
        book.catch_up()
        assert not any(word[2] == "zanzibar" for word in book.words())
        assert book.found("gone")[0] == ids[2]


def test_an_empty_index_has_no_word() -> None:
    with searchable() as book:
        ids = [book.say(f"word {number} 猫") for number in range(9)]
        book.catch_up(2)
        withdraw_messages(book.connection, ids)
        assert book.words() == []


def test_a_record_that_was_taken_back_is_not_in_the_index() -> None:
    with searchable() as book:
        first, second = book.remember("the port is 4310"), book.remember("the colour is teal")
        book.catch_up()
        retract(book.connection, first, YOU, NOW)
        new = supersede(book.connection, second, "the colour is plum", YOU, NOW).memory_id
        assert book.found("port 4310") == []
        assert book.found("teal") == []
        assert book.found("colour plum", kind="memory") == [new]
        assert not any(word[2] in {"4310", "teal"} for word in book.words())


def test_a_record_is_withdrawn_before_its_text_changes() -> None:
    with searchable() as book:
        record = book.remember("a secret word")
        book.catch_up()
        withdraw_record(book.connection, "memory", record)
        assert book.words() == []
        book.connection.execute("UPDATE memory_records SET content = 'cut'")
        assert book.found("cut") == [record]


def test_a_step_is_bounded_and_says_what_is_left() -> None:
    with searchable() as book:
        for number in range(10):
            book.say(f"line {number}")
        left = index_some(book.connection, 4)
        assert (left.events, left.records) == (6, 0)
        assert index_some(book.connection, 4).events == 2
        assert index_some(book.connection, 4).is_empty
        assert backlog(book.connection).is_empty


def test_what_is_in_the_ledger_is_context_before_its_own_step() -> None:
    with searchable() as book:
        for text in ("one", "two", "zanzibar"):
            book.say(text)
        index_some(book.connection, 1)
        assert [word[1] for word in book.words() if word[2] == "zanzibar"] == ["context"]
        withdraw_messages(book.connection, ["evt_00003"])
        assert book.words() == []


def test_long_messages_make_short_steps() -> None:
    with searchable() as book:
        for _ in range(3):
            book.say("word " * (BATCH_CHARS // 8))
        assert index_some(book.connection).events == 2
        assert index_some(book.connection).events == 1


def test_an_index_of_other_rules_is_built_anew() -> None:
    with searchable() as book:
        book.say("hello")
        book.catch_up()
        book.connection.execute(
            "UPDATE ledger_meta SET value = '{\"version\":0,\"seq\":1}' WHERE key = 'search_index'"
        )
        assert not backlog(book.connection).is_empty
        book.catch_up()
        assert len(book.found("hello")) == 1


def test_numbers_of_rows_are_never_used_twice() -> None:
    with searchable() as book:
        record = book.remember("first")
        book.catch_up()
        (before,) = book.connection.execute("SELECT MAX(row_id) FROM search_rows").fetchone()
        retract(book.connection, record, YOU, NOW)
        book.catch_up()
        book.remember("second")
        book.catch_up()
        (after,) = book.connection.execute("SELECT MAX(row_id) FROM search_rows").fetchone()
        assert after > before
