"""Changing one value of a JSON text and leaving every other character as it is.

A person's file keeps its order, indentation, numbers and spacing; a change in version control shows
the line that was changed. Pure. Invariant: the result, read as JSON, is the text read as JSON with
exactly this change (a property test holds it to that). Counterpart: `configedit`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_INDENTED: Final = re.compile(r'\n([ \t]+)"')
_INLINE_CHARS: Final = 76
"""A new value that is no longer stands on one line."""
_LINE_CHARS: Final = 100
"""An object that stands on one line and would pass this gets a line for each key."""
_DECODER: Final = json.JSONDecoder()


class _Member(NamedTuple):
    """One `"key": value` of an object: where the key and the value start, where the value ends."""

    key: str
    start: int
    value: int
    end: int


class _Object(NamedTuple):
    """An object in the text: the places of its braces, and what stands between."""

    start: int
    end: int
    members: list[_Member]


def with_value(text: str, path: Sequence[str], value: Any) -> str:
    """Return the JSON `text` with the value at `path` (keys of objects; missing objects are made)
    replaced, or added behind the others.

    Raises: ValueError when `text` is no JSON object, or something on the way is none.
    """
    found = _object_at(text, _skip(text, 0))
    for depth, key in enumerate(path):
        member = _member(found, key)
        rest = path[depth + 1 :]
        if member is None:
            for outer in reversed(rest):
                value = {outer: value}
            return _added(text, found, key, value)
        if not rest:
            new = _dump(text, value, _indent_of(text, member.start))
            return text[: member.value] + new + text[member.end :]
        found = _object_at(text, member.value)
    raise ValueError("a path names at least one key")


def without(text: str, path: Sequence[str]) -> str:
    """Return the JSON `text` without what is at `path`; the same text when nothing is there.

    Raises: ValueError as `with_value`.
    """
    found = _object_at(text, _skip(text, 0))
    for key in path[:-1]:
        member = _member(found, key)
        if member is None:
            return text
        found = _object_at(text, member.value)
    member = _member(found, path[-1])
    return text if member is None else _removed(text, found, member)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For `json.loads(object_pairs_hook=…)`. Raises: ValueError when a key is there twice."""
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {json.dumps(twice)} is there twice in one object")
    return made


def _member(found: _Object, key: str) -> _Member | None:
    return next((member for member in found.members if member.key == key), None)


def _object_at(text: str, at: int) -> _Object:
    """Read the members of the object at `at`."""
    if text[at : at + 1] != "{":
        raise ValueError(f"expected an object at character {at}")
    members: list[_Member] = []
    place = _skip(text, at + 1)
    while text[place] != "}":
        start = place
        key, place = _DECODER.raw_decode(text, start)
        value = _skip(text, _skip(text, place) + 1)
        _, end = _DECODER.raw_decode(text, value)
        members.append(_Member(str(key), start, value, end))
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return _Object(at, place, members)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _added(text: str, found: _Object, key: str, value: Any) -> str:
    name = json.dumps(key, ensure_ascii=False)
    if not found.members:
        outer = _indent_of(text, found.start)
        inner = outer + _unit(text)
        line = _newline(text)
        body = f"{line}{inner}{name}: {_dump(text, value, inner)}{line}{outer}"
        return text[: found.start + 1] + body + text[found.end :]
    first, last = found.members[0], found.members[-1]
    if "\n" in text[found.start : first.start]:
        indent = _indent_of(text, first.start)
        between, new = _newline(text) + indent, _dump(text, value, indent)
        return f"{text[: last.end]},{between}{name}: {new}{text[last.end :]}"
    new = json.dumps(value, ensure_ascii=False)
    line = text[text.rfind("\n", 0, found.start) + 1 : last.end]
    if "\n" in line or len(line) + len(name) + len(new) <= _LINE_CHARS:
        return f"{text[: last.end]}, {name}: {new}{text[last.end :]}"
    return _added(_spread(text, found), _object_at(_spread(text, found), found.start), key, value)


def _spread(text: str, found: _Object) -> str:
    """The text with the members of an object that stood on one line each on a line of its own."""
    outer, line = _indent_of(text, found.start), _newline(text)
    inner = line + outer + _unit(text)
    members = [f"{inner}{text[each.start : each.end]}" for each in found.members]
    return f"{text[: found.start + 1]}{','.join(members)}{line}{outer}{text[found.end :]}"


def _removed(text: str, found: _Object, member: _Member) -> str:
    index = found.members.index(member)
    if len(found.members) == 1:
        return text[: found.start + 1] + text[found.end :]
    if index + 1 < len(found.members):
        return text[: member.start] + text[found.members[index + 1].start :]
    return text[: found.members[index - 1].end] + text[member.end :]


def _dump(text: str, value: Any, indent: str) -> str:
    """The value as it stands behind a key on a line that is indented by `indent`."""
    inline = json.dumps(value, ensure_ascii=False)
    nested = isinstance(value, dict) and any(isinstance(item, dict) for item in value.values())
    if not nested and len(inline) <= _INLINE_CHARS:
        return inline
    whole = json.dumps(value, ensure_ascii=False, indent=_unit(text))
    return whole.replace("\n", _newline(text) + indent)


def _unit(text: str) -> str:
    """What one level is indented by: as in the first indented line, else two spaces."""
    found = _INDENTED.search(text)
    return "  " if found is None else found[1]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_of(text: str, at: int) -> str:
    """The white space that the line of character `at` begins with."""
    start = text.rfind("\n", 0, at) + 1
    found = _SPACE.match(text, start, at)
    return "" if found is None else found[0].replace("\r", "")
