"""JSON as it stands in the ledger: read, or spliced into a reply, also when it is none.

What is stored was written as JSON. A file may still hold something else (a bug of an earlier
program, a disk that changed a byte), and one such row must not make its neighbours unreadable: a
reply with it would be no JSON as a whole. It is read as an empty body that says so.
"""

from __future__ import annotations

from typing import Any, Final

import orjson

DAMAGED: Final[dict[str, Any]] = {
    "damaged": True,
    "content": "(This entry is damaged in the database; “groupx verify” finds such entries.)",
}
_DAMAGED_JSON: Final = orjson.dumps(DAMAGED)
EMPTY_LIST: Final = orjson.Fragment(b"[]")


def read_body(text: str) -> dict[str, Any]:
    """The body of an event; `DAMAGED` when it is no JSON object."""
    try:
        body = orjson.loads(text)
    except orjson.JSONDecodeError:
        return DAMAGED
    return body if isinstance(body, dict) else DAMAGED


def splice_body(text: str) -> orjson.Fragment:
    """The body as it is stored, without making it anew."""
    return _splice(text, _DAMAGED_JSON)


def splice_list(text: str) -> orjson.Fragment:
    """A stored list; empty when it is none."""
    return EMPTY_LIST if text == "[]" else _splice(text, b"[]")


def _splice(text: str, instead: bytes) -> orjson.Fragment:
    # Reading costs a sixth of what encoding the event costs.
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return orjson.Fragment(instead)
    return orjson.Fragment(text)
