"""Reading request headers from the scope."""

from __future__ import annotations

import pytest

from groupx_server.http.headers import header_values, single_header
from groupx_shared.errors import RefusedError

SCOPE = {"headers": [(b"x-one", b" 1 "), (b"x-two", b"a"), (b"x-two", b"b")]}


def test_a_header_is_found_stripped_and_may_be_absent() -> None:
    assert single_header(SCOPE, b"x-one") == b"1"
    assert single_header(SCOPE, b"x-none") is None


def test_a_doubled_header_is_refused_by_name() -> None:
    with pytest.raises(RefusedError, match="x-two"):
        single_header(SCOPE, b"x-two")
    assert header_values(SCOPE, b"x-two") == [b"a", b"b"]
