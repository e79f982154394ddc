"""JSON as it stands in the ledger: read, or spliced into a reply, also when it is none.

What is stored was written as JSON. A file may still hold something else (a bug of an earlier
program, a disk that changed a byte), and one such row must not make its neighbours unreadable: a
reply with it would be no JSON as a whole. It is read as an empty body that says so.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from orjson import Fragment, JSONDecodeError, dumps, loads

DAMAGED: Final[dict[str, Any]] = {
    "damaged": True,
    "content": "(This entry is damaged in the database; “groupx verify” finds such entries.)",
}
_DAMAGED_JSON: Final = dumps(DAMAGED)
KEPT_SPLICES: Final = 256
"""Lists of targets and origins are the same few in nearly all events; nobody's text is in them."""


def read_body(text: str) -> dict[str, Any]:
    """The body of an event; `DAMAGED` when it is no JSON object."""
    try:
        body = loads(text)
    except JSONDecodeError:
        return DAMAGED
    return body if isinstance(body, dict) else DAMAGED


def splice_body(text: str) -> Fragment:
    """The body as it is stored, without making it anew."""
    try:
        # Reading costs a sixth of what encoding the event costs.
        loads(text)
    except JSONDecodeError:
        return Fragment(_DAMAGED_JSON)
    return Fragment(text)


@functools.lru_cache(maxsize=KEPT_SPLICES)
def splice_list(text: str) -> Fragment:
    """A stored list of ids; empty when it is none."""
    try:
        loads(text)
    except JSONDecodeError:
        return Fragment(b"[]")
    return Fragment(text)


@functools.lru_cache(maxsize=KEPT_SPLICES)
def splice_provenance(text: str) -> Fragment:
    """Where an event comes from, as it is stored."""
    return splice_body(text)
