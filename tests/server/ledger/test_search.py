"""Search: what is found, in which order, where, and how much of it is looked at."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.ledger import searchplan
from groupx_server.ledger.identity_records import NewIdentity, remember_identity
from groupx_server.ledger.search import Filters, sql_of
from groupx_shared.errors import RefusedError
from support.goal_size import bound_s, sized
from support.searchable import NOW, YOU, searchable


def test_a_question_finds_its_answer() -> None:
    with searchable() as book:
        for number in range(50):
            book.say(f"some talk about the weather, number {number}")
        answer = book.say("We deployed the gateway to Lisbon on port 4310")
        assert book.found("Which port did the gateway get when deploying?")[0] == answer


def test_chinese_and_english_are_found_mixed() -> None:
    with searchable() as book:
        for text in ("今天下雨了", "他们去了学校", "the build is green", "昨天很忙"):
            for _ in range(5):
                book.say(text)
        colour = book.say("小王最喜欢蓝色的杯子")
        rerun = book.say("重跑gen-itgc后就好了")
        assert book.found("小王喜欢什么颜色的杯子")[0] == colour
        assert book.found("蓝色")[0] == colour
        assert book.found("gen itgc")[0] == rerun
        assert book.found("杯") == [colour]


def test_signs_narrow_what_is_found() -> None:
    with searchable() as book:
        one = book.say("red apples and green pears", "room:main")
        for room in ("room:b", "room:c"):
            book.room(room)
        two = book.say("green apples are red inside", "room:b")
        three = book.say("a deployment of pears", "room:c")
        assert set(book.found("apples")) == {one, two}
        assert book.found('"green apples"') == [two]
        assert book.found('apples -"green apples"') == [one]
        assert book.found("pears -apples") == [three]
        assert set(book.found("+pears apples")) == {one, three}
        assert book.found("deploym*") == [three]
        assert book.found("-apples") == [three]


def test_function_words_are_read_for_where_the_index_lacks_them() -> None:
    with searchable() as book:
        book.say("red apples and green pears")
        for text in ("to be, or not to be", "be that as it may", "The Who played"):
            book.say(text)
        assert book.found('"to be or not"') == ["evt_00002"]
        assert book.found("be or not") == ["evt_00002"]
        assert book.found("+the played") == ["evt_00004"]
        assert book.found("+pears -and") == []
        assert book.found("may")[0] == "evt_00003"
        assert book.found("the") == ["evt_00004"]
        assert book.found("whom") == []


def test_the_named_speaker_comes_first() -> None:
    with searchable() as book:
        book.actor("agent:ada", "Ada")
        book.actor("agent:bob", "Bob")
        book.say("I like tea", actor="agent:bob")
        book.say("nothing much")
        book.say("nothing else")
        hers = book.say("I like tea", actor="agent:ada")
        assert book.found("what does Ada like")[0] == hers


def test_filters_hold() -> None:
    with searchable() as book:
        book.actor("agent:ada", "Ada")
        book.room("room:b")
        old = book.say("a needle", at="2025-05-05T10:00:00.000Z")
        other = book.say("a needle", "room:b", "agent:ada")
        fact = book.remember("a needle is kept")
        identity = NewIdentity("agent:ada", "note", "finds any needle", YOU)
        note = remember_identity(book.connection, identity, NOW).identity_id
        assert set(book.found("needle")) == {old, other, fact, note}
        assert book.found("needle", room_id="room:b") == [other]
        assert book.found("needle", kind="memory") == [fact]
        assert set(book.found("needle", actor_id="agent:ada")) == {other, note}
        assert book.found("needle", until="2025-12-31T00:00:00.000Z") == [old]
        assert old not in book.found("needle", since="2026-01-01T00:00:00.000Z")
        assert book.found("needle", type="note") == [note]
        assert set(book.found("needle", root="c")) == {old, other}


def test_a_cut_answer_is_found_by_its_whole_text() -> None:
    with searchable() as book:
        answer = book.say("the beginning …")
        book.connection.executemany(
            "INSERT INTO event_texts VALUES (?, 'content', ?, ?)",
            [(answer, 1, "the beginning and the nee"), (answer, 2, "dle at the end")],
        )
        assert book.found('"needle at the end"') == [answer]


def test_watch_briefs_are_no_conversation() -> None:
    with searchable() as book:
        from groupx_server.ledger.events import NewEvent, insert_event

        body = {"content": "needle", "kind": "supervision.watch"}
        event = NewEvent("evt_x", "room:main", "message.created", "user:web", "c", NOW, body)
        insert_event(book.connection, event)
        assert book.found("needle") == []


def test_pages_have_everything_once_while_more_is_said() -> None:
    with searchable() as book:
        expected = {book.say(f"needle {number}") for number in range(25)}
        page = book.page("needle", limit=10)
        seen = [row.ref_id for row in page.found]
        while page.next_cursor is not None:
            page = book.page("needle", page.next_cursor, limit=10)
            seen += [row.ref_id for row in page.found]
        assert set(seen) == expected
        assert len(seen) == len(expected)


@pytest.mark.parametrize("cursor", ["", "x", "bnVsbA==", "WzFd", "é"])
def test_a_foreign_cursor_is_refused(cursor: str) -> None:
    with searchable() as book, pytest.raises(RefusedError, match="cursor"):
        book.page("needle", cursor)


@pytest.mark.slow
def test_a_room_gets_no_hit_of_another_and_as_many_as_there_are() -> None:
    chance = random.Random(7)
    words = [f"w{number}" for number in range(40)]
    with searchable() as book:
        texts: dict[str, tuple[str, set[str]]] = {}
        for number in range(600):
            room_id = f"room:r{number % 20}"
            book.room(room_id)
            chosen = chance.sample(words, 4)
            texts[book.say(" ".join(chosen), room_id)] = (room_id, set(chosen))
        for _ in range(200):
            room_id, word = f"room:r{chance.randrange(20)}", chance.choice(words)
            found = book.found(word, limit=5, room_id=room_id)
            assert all(texts[event_id][0] == room_id for event_id in found)
            there = [e for e, (room, has) in texts.items() if room == room_id and word in has]
            assert len(found) >= min(5, len(there))


@pytest.mark.slow
@pytest.mark.timeout(bound_s(60))
@settings(max_examples=sized(200, 2_000), deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=40), min_size=1, max_size=10))
def test_any_text_is_a_query(texts: list[str]) -> None:
    with searchable() as book:
        for text in texts:
            book.say(text)
        for text in (*texts, *HOSTILE):
            book.page(text)


HOSTILE = (
    '" * ( ) ^ : - ? / AND NEAR',
    "NEAR(a b) OR NOT",
    '"',
    '-"',
    "+*",
    "scope : x",
    "{text} : y",
    "🎉",
    "猫",
    "a",
    "?",
    "a\x00b",
    "a" * 1_000,
    "猫" * 1_000,
    "'; DROP TABLE events; --",
)


def test_a_search_that_is_too_wide_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searchplan, "CAP_ROWS", 30)
    with searchable() as book:
        for number in range(100):
            book.say(f"common word {number}")
        rare = book.say("common needle")
        page = book.page("common needle")
        assert page.is_capped
        assert page.found[0].ref_id == rare
        assert not book.page("needle").is_capped


@pytest.mark.parametrize("query", ["common", "+common"])
def test_of_a_word_that_stands_everywhere_the_newest_rows_are_ranked(
    monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr(searchplan, "CAP_ROWS", 30)
    with searchable() as book:
        said = [book.say(f"common word {number}") for number in range(100)]
        page = book.page(query, limit=10)
        seen = [row.ref_id for row in page.found]
        assert page.is_capped
        while page.next_cursor is not None:
            page = book.page(query, page.next_cursor, limit=10)
            seen += [row.ref_id for row in page.found]
        assert sorted(seen) == sorted(said[70:])


def test_nothing_is_ranked_by_a_scan() -> None:
    with searchable() as book:
        filters = Filters(room_id="room:main", kind="message")
        sql = sql_of(True, filters, 1)
        values = ("a", NOW, "x", 0, 1, "room:main", "message", 0.0, 0)
        plan = [row[3] for row in book.connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
        assert any("VIRTUAL TABLE INDEX" in step for step in plan)
        assert any("SEARCH r USING INTEGER PRIMARY KEY" in step for step in plan)
        assert not any(step.startswith("SCAN r") for step in plan)
