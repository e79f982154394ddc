"""A changed JSON text differs in the change alone."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_shared.jsontext import unique_keys, with_value, without

KEYS = st.sampled_from(["a", "b", "agents", "ü", 'q"uote', "", "back\\slash", "{", "a b"])
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=5)
FORMS = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, 0, 1, 2, 4, "\t"]),
        "ensure_ascii": st.booleans(),
        "separators": st.sampled_from([None, (",", ":"), (" , ", " : ")]),
    }
)
PATHS = st.lists(KEYS, min_size=1, max_size=3)


def is_open(document: Any, path: list[str]) -> bool:
    """Whether everything on the way to `path` is an object, or is not there."""
    for key in path[:-1]:
        if not isinstance(document, dict):
            return False
        if key not in document:
            return True
        document = document[key]
    return isinstance(document, dict)


def ordered(document: Any) -> Any:
    """The document with the order of its keys, for comparison."""
    if isinstance(document, dict):
        return [(key, ordered(value)) for key, value in document.items()]
    return [ordered(item) for item in document] if isinstance(document, list) else document


@given(OBJECTS, PATHS, VALUES, FORMS, st.booleans())
def test_setting_a_value_is_that_change_alone(
    document: dict[str, Any], path: list[str], value: Any, form: dict[str, Any], crlf: bool
) -> None:
    text = json.dumps(document, **form)
    if crlf:
        text = text.replace("\n", "\r\n")
    if not is_open(document, path):
        with pytest.raises(ValueError, match="expected an object"):
            with_value(text, path, value)
        return
    wanted = copy.deepcopy(document)
    place = wanted
    for key in path[:-1]:
        place = place.setdefault(key, {})
    place[path[-1]] = value
    changed = with_value(text, path, value)
    assert ordered(json.loads(changed)) == ordered(wanted)
    assert ordered(json.loads(with_value(changed, path, value))) == ordered(wanted)


@given(OBJECTS, PATHS, FORMS)
def test_removing_is_that_change_alone(
    document: dict[str, Any], path: list[str], form: dict[str, Any]
) -> None:
    text = json.dumps(document, **form)
    if not is_open(document, path):
        with pytest.raises(ValueError, match="expected an object"):
            without(text, path)
        return
    wanted = copy.deepcopy(document)
    place: Any = wanted
    for key in path[:-1]:
        place = place.get(key, {})
    place.pop(path[-1], None)
    assert ordered(json.loads(without(text, path))) == ordered(wanted)


@given(OBJECTS, KEYS, VALUES, FORMS)
def test_what_was_added_can_be_removed_without_a_trace(
    document: dict[str, Any], key: str, value: Any, form: dict[str, Any]
) -> None:
    text = json.dumps(document, **form)
    if key in document or not document or len(text) + len(json.dumps(value)) > 90:
        return
    assert without(with_value(text, [key], value), [key]) == text


FILE = """{
    "agents": {
        "guide": { "driver": "builtin", "name": "Guide" },
        "kimi":  {"driver":"kimi"}
    },
    "limits": {"hopCount": 1e1 }
}
"""


def test_a_file_keeps_its_own_form() -> None:
    added = with_value(FILE, ["agents", "gem"], {"driver": "gemini", "cwd": "."})
    assert added == FILE.replace(
        '{"driver":"kimi"}', '{"driver":"kimi"},\n        "gem": {"driver": "gemini", "cwd": "."}'
    )
    changed = with_value(FILE, ["agents", "kimi", "enabled"], False)
    assert changed == FILE.replace('{"driver":"kimi"}', '{"driver":"kimi", "enabled": false}')
    assert without(FILE, ["agents", "kimi"]) == FILE.replace(
        ',\n        "kimi":  {"driver":"kimi"}', ""
    )


def test_a_long_value_is_indented_like_the_rest() -> None:
    command = {"executable": "/a/long/path/to/a/program", "args": ["x" * 60]}
    lines = with_value(FILE, ["agents", "x"], {"command": command}).splitlines()
    at = lines.index('        "x": {')
    assert lines[at + 1 : at + 3] == [
        '            "command": {',
        '                "executable": "/a/long/path/to/a/program",',
    ]


def test_a_line_that_would_become_too_long_is_spread_and_numbers_keep_their_form() -> None:
    text = '{"a": {"x": 1e1, "text": "' + "y" * 60 + '"}}'
    longer = with_value(text, ["a", "z"], "z" * 30)
    assert longer.splitlines()[:2] == ['{"a": {', '  "x": 1e1,']
    assert json.loads(longer)["a"]["z"] == "z" * 30


@pytest.mark.parametrize("text", ["[]", "1", '"{}"'])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected an object"):
        with_value(text, ["a"], 1)


def test_a_key_that_is_there_twice_is_named() -> None:
    assert json.loads('{"a": {"b": 1}}', object_pairs_hook=unique_keys) == {"a": {"b": 1}}
    with pytest.raises(ValueError, match='"b" is there twice'):
        json.loads('{"a": {"b": 1, "b": 2}}', object_pairs_hook=unique_keys)
