"""JSON with characters that act on a terminal says the same and acts on nothing."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from groupx_shared.text import safe_json
from support.hostile import HOSTILE, unsafe_characters


@given(st.text() | st.just(HOSTILE) | st.dictionaries(st.text(), st.text()))
def test_it_parses_to_the_same_value_and_holds_nothing_unsafe(value: object) -> None:
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    safe = safe_json(data)
    assert json.loads(safe) == json.loads(data)
    assert unsafe_characters(safe.decode()) == set()


def test_harmless_json_is_not_copied() -> None:
    data = '{"text": "你好 👋"}'.encode()
    assert safe_json(data) is data
