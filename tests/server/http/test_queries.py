"""Query strings: strict, and every refusal names the parameter."""

from __future__ import annotations

import contextlib
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.http.queries import (
    BootstrapQuery,
    FollowQuery,
    NoQuery,
    PageQuery,
    QueryModel,
    TurnsQuery,
    parse_query,
)
from groupx_shared.errors import ErrorCode, RefusedError


def issue_of(raw: bytes, model: type[QueryModel]) -> tuple[str, str]:
    with pytest.raises(RefusedError) as caught:
        parse_query(raw, model)
    assert caught.value.code == ErrorCode.INVALID_ENVELOPE
    first = caught.value.details["issues"][0]
    return first["path"], first["code"]


def test_without_a_query_the_defaults_hold() -> None:
    query = parse_query(b"", BootstrapQuery)
    assert (query.room_id, query.limit) == ("room:main", 100)


def test_names_are_camel_case_and_values_are_decoded() -> None:
    query = parse_query(b"roomId=room%3Aa+b&limit=7", BootstrapQuery)
    assert (query.room_id, query.limit) == ("room:a b", 7)


def test_a_repeatable_parameter_collects() -> None:
    assert parse_query(b"type=a&type=b", PageQuery).type == ("a", "b")


@pytest.mark.parametrize(
    ("raw", "model", "path", "code"),
    [
        (b"foo=1", NoQuery, "foo", "unknown_key"),
        (b"room_id=room:main", BootstrapQuery, "room_id", "unknown_key"),
        (b"limit=1&limit=2", BootstrapQuery, "limit", "duplicate_parameter"),
        (b"limit=0", BootstrapQuery, "limit", "greater_than_equal"),
        (b"limit=501", BootstrapQuery, "limit", "less_than_equal"),
        (b"limit=", BootstrapQuery, "limit", "value_error"),
        (b"limit=1e2", BootstrapQuery, "limit", "value_error"),
        (b"limit=+5", BootstrapQuery, "limit", "value_error"),
        (b"limit=%2B5", BootstrapQuery, "limit", "value_error"),
        (b"limit=1_0", BootstrapQuery, "limit", "value_error"),
        (b"limit=" + quote("١").encode(), BootstrapQuery, "limit", "value_error"),
        (b"afterSeq=-1", FollowQuery, "afterSeq", "value_error"),
        (b"afterSeq=9223372036854775808", FollowQuery, "afterSeq", "less_than_equal"),
        (b"afterSeq=" + b"9" * 100, FollowQuery, "afterSeq", "value_error"),
        (b"roomId=", FollowQuery, "roomId", "string_too_short"),
        (b"roomId=" + b"x" * 257, FollowQuery, "roomId", "string_too_long"),
        (b"roomId=a%00b", FollowQuery, "roomId", "nul_character"),
        (b"status=all&status=all", TurnsQuery, "status", "duplicate_parameter"),
        (b"status=done", TurnsQuery, "status", "literal_error"),
        (b"before=1&after=2", PageQuery, "", "value_error"),
        (b"type=" + b"&type=".join([b"a"] * 33), PageQuery, "type", "too_long"),
        (b"limit", BootstrapQuery, "", "malformed"),
        (b"roomId=%ff", FollowQuery, "", "malformed"),
        (b"roomId=\xff", FollowQuery, "", "malformed"),
        (b"&".join([b"type=a"] * 65), PageQuery, "", "malformed"),
    ],
)
def test_what_does_not_fit_is_refused(
    raw: bytes, model: type[QueryModel], path: str, code: str
) -> None:
    assert issue_of(raw, model) == (path, code)


@pytest.mark.slow
@given(st.binary(max_size=200))
def test_any_bytes_are_a_query_or_a_refusal(raw: bytes) -> None:
    with contextlib.suppress(RefusedError):
        assert 1 <= parse_query(raw, PageQuery).limit <= 500


@pytest.mark.slow
@given(st.integers(0, 2**63 - 1))
def test_every_seq_comes_through_whole(seq: int) -> None:
    assert parse_query(b"afterSeq=%d" % seq, FollowQuery).after_seq == seq
