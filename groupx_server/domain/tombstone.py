"""What stays of an event or record whose text a person had removed: its shape, and no word of it.

Pure. A body keeps ids, times, states and numbers, so that clients and the ledger's rules still read
it; every other text is replaced, whatever type of event it is, also of types that come later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

TOMBSTONE: Final = "[removed]"

_ENDINGS: Final = ("Id", "Ids", "At", "Ms", "Seq", "Kind", "Status", "Code", "Phase", "Certainty")
_KEPT: Final = frozenset(
    {
        "action",
        "agentMemoryType",
        "continues",
        "cursor",
        "delivery",
        "id",
        "kind",
        "limit",
        "mode",
        "nativeType",
        "operation",
        "phase",
        "reconciliation",
        "scope",
        "status",
        "stopReason",
        "targets",
        "to",
        "tool",
        "type",
        "until",
        "usage",
    }
)
"""Keys whose values are words of the program."""
_WHOLE: Final = frozenset({"input", "content", "locations", "entries"})
"""Keys whose lists and objects are text through and through, keys included."""


def blank(body: dict[str, Any]) -> dict[str, Any]:
    """The body with a tombstone for each text in it, and `redacted: true`."""
    return {**{key: _blank(key, value) for key, value in body.items()}, "redacted": True}


def _blank(key: str, value: Any) -> Any:
    if key in _KEPT or key.endswith(_ENDINGS):
        return value
    if isinstance(value, str):
        return TOMBSTONE if value else ""
    if key in _WHOLE and isinstance(value, list | dict):
        return [] if isinstance(value, list) else TOMBSTONE
    if isinstance(value, dict):
        return {name: _blank(name, item) for name, item in value.items()}
    if isinstance(value, list):
        return [_blank(key, item) for item in value]
    return value


def cut(body: dict[str, Any], spellings: Sequence[str]) -> dict[str, Any]:
    """The body with a tombstone in the place of each quote of a removed text."""
    return {key: _cut(key, value, spellings) for key, value in body.items()}


def cut_text(text: str, spellings: Sequence[str]) -> str:
    """A text with a tombstone in the place of each quote."""
    for spelling in spellings:
        text = text.replace(spelling, TOMBSTONE)
    return text


def _cut(key: str, value: Any, spellings: Sequence[str]) -> Any:
    if key in _KEPT or key.endswith(_ENDINGS):
        return value
    if isinstance(value, str):
        return cut_text(value, spellings)
    if isinstance(value, dict):
        return {cut_text(k, spellings): _cut(k, item, spellings) for k, item in value.items()}
    if isinstance(value, list):
        return [_cut(key, item, spellings) for item in value]
    return value


def texts_of(body: dict[str, Any]) -> list[str]:
    """The texts that `blank` would replace, without empty ones."""
    return [text for key, value in body.items() for text in _texts(key, value)]


def _texts(key: str, value: Any) -> list[str]:
    if key in _KEPT or key.endswith(_ENDINGS) or value == TOMBSTONE:
        return []
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, dict):
        return [text for name, item in value.items() for text in _texts(name, item)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(key, item)]
    return []
