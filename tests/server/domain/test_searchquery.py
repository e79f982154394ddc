"""Any text is a query."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupx_server.domain.searchquery import MAX_WORDS, parse_query


def test_plain_words_are_wanted_without_function_words() -> None:
    query = parse_query("What is the port of the server?")
    assert query.should == ["port", "server"]
    assert [*query.must, *query.must_not, *query.prefixes] == []


def test_a_query_of_function_words_alone_keeps_them() -> None:
    query = parse_query("who is it")
    assert (query.should, query.must) == ([], [("who",), ("is",), ("it",)])
    assert parse_query("who will").should == ["will"]
    assert parse_query("我").singles == ["我"]


def test_signs_say_what_must_and_must_not_be_there() -> None:
    query = parse_query('+port -draft "exact words" -"not these" deploy* plain')
    assert query.must == [("port",), ("exact", "words")]
    assert query.must_not == [("draft",), ("not", "these")]
    assert query.prefixes == ["deploy"]
    assert query.should == ["plain"]


def test_chinese_questions_keep_the_telling_pairs() -> None:
    query = parse_query("小王喜欢什么颜色")
    assert "喜欢" in query.should
    assert "颜色" in query.should
    assert "什么" not in query.should
    assert "什" not in query.singles


def test_dashes_inside_words_and_options_are_no_signs() -> None:
    assert parse_query("re-run --force").must_not == []
    assert parse_query("re-run --force").should == ["run", "force"]


def test_a_query_without_words_is_empty() -> None:
    assert parse_query("?!*()").is_empty
    assert parse_query("").is_empty
    assert not parse_query("-draft").is_empty
    assert not parse_query("-draft").asks_for_text


@given(st.text(max_size=2_000))
def test_no_text_is_refused_and_lists_stay_bounded(text: str) -> None:
    query = parse_query(text)
    for words in (query.should, query.singles, query.must, query.must_not, query.prefixes):
        assert len(words) <= MAX_WORDS
