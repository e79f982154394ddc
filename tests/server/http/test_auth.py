"""Tokens: compared with the present table, bound to what they allow and to who they are."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.http.auth import Access, Credential, Credentials, authenticate
from groupx_server.ledger.accept import Source
from groupx_shared.errors import ErrorCode, RefusedError


def scope(*values: bytes, method: str = "GET") -> dict[str, Any]:
    return {"method": method, "headers": [(b"authorization", value) for value in values]}


def table() -> Credentials:
    agent = Credential(Access.READER, Source(actor_id="agent:guide", binding_id="binding:guide"))
    return Credentials({"secret": Credential(), "reading": agent})


def refused(credentials: Credentials, *values: bytes, method: str = "GET") -> ErrorCode:
    with pytest.raises(RefusedError) as caught:
        authenticate(scope(*values, method=method), credentials)
    return caught.value.code


def test_the_operators_token_may_do_everything() -> None:
    for method in ("GET", "POST", "PATCH", "DELETE"):
        found = authenticate(scope(b"Bearer secret", method=method), table())
        assert found.access is Access.OPERATOR


def test_a_readers_token_may_get_and_no_more() -> None:
    assert authenticate(scope(b"Bearer reading"), table()).source.actor_id == "agent:guide"
    assert refused(table(), b"Bearer reading", method="POST") == ErrorCode.FORBIDDEN_SCOPE


@pytest.mark.parametrize(
    "value",
    [b"Bearer other", b"Bearer", b"Bearer ", b"secret", b"Basic secret", b"Bearer secre", b""],
)
def test_any_other_header_is_refused(value: bytes) -> None:
    assert refused(table(), value) == ErrorCode.UNAUTHORIZED


def test_no_header_and_two_headers_are_refused() -> None:
    assert refused(table()) == ErrorCode.UNAUTHORIZED
    assert refused(table(), b"Bearer secret", b"Bearer secret") == ErrorCode.UNAUTHORIZED


def test_the_kind_is_not_case_sensitive_and_the_token_is() -> None:
    assert authenticate(scope(b"bearer secret"), table()).access is Access.OPERATOR
    assert refused(table(), b"Bearer SECRET") == ErrorCode.UNAUTHORIZED


def test_a_new_table_counts_from_the_next_request_on() -> None:
    credentials = table()
    credentials.replace({"fresh": Credential()})
    assert refused(credentials, b"Bearer secret") == ErrorCode.UNAUTHORIZED
    assert authenticate(scope(b"Bearer fresh"), credentials).access is Access.OPERATOR


def test_an_empty_table_lets_nobody_in() -> None:
    assert refused(Credentials({}), b"Bearer ") == ErrorCode.UNAUTHORIZED


def test_bytes_that_are_no_text_are_only_a_wrong_token() -> None:
    assert refused(table(), b"Bearer \xff\xfe\x00") == ErrorCode.UNAUTHORIZED
