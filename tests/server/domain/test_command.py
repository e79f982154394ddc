"""The hash of a command is the same for the same command, in every version of the program."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groupx_server.domain.command import canonical_hash

SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
CONTENT = st.dictionaries(
    st.text(), SCALAR | st.lists(st.text()) | st.lists(SCALAR) | st.dictionaries(st.text(), SCALAR)
)


def as_first_written(command_type: str, content: dict[str, Any]) -> str:
    """What receipts hold: the standard library's JSON, its keys sorted."""
    kept = {key: value for key, value in content.items() if value is not None}
    text = json.dumps(
        {"commandType": command_type, **kept},
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    )
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@given(st.text(), CONTENT)
@example("message.send", {"content": '\x00\x1f\x7f\u2028/\\"<>\ud800', "to": ["agent:a"]})
@example("message.send", {"content": "\x00\x08\x0b\x1f\x7f\u2028/\\\"<>&'\U0001f600"})
@example("x", {"n": 2**64, "m": -(2**63), "f": 1e16, "é": 1, "z": 2, "\U0001f600": 3, "\uffff": 4})
def test_a_hash_is_what_receipts_hold(command_type: str, content: dict[str, Any]) -> None:
    assert canonical_hash(command_type, content) == as_first_written(command_type, content)


@pytest.mark.parametrize(
    "content", [{"content": "b"}, {"content": "a", "roomId": "room:b"}, {"content": ["a"]}]
)
def test_another_command_has_another_hash(content: dict[str, Any]) -> None:
    assert canonical_hash("message.send", content) != canonical_hash(
        "message.send", {"content": "a"}
    )


def test_what_is_none_is_as_if_it_were_not_there() -> None:
    assert canonical_hash("x", {"a": None}) == canonical_hash("x", {})
