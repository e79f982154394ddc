"""Client commands: what makes a repeated request the same request.

A client chooses `client_command_id`; the ledger keeps its canonical hash. The same id with the
same hash returns the first result; with another hash it is a conflict (contract §7).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

import orjson

_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
"""Hashes that were stored must come out the same: its output is not to change."""

_SAME_IN_BOTH: Final = frozenset({str, int, bool})
"""Written to the letter the same by the quick encoder, which takes a tenth of the time. Not so
fractions, nor what it refuses (lone surrogates, very large numbers)."""


def canonical_hash(command_type: str, content: Mapping[str, Any]) -> str:
    """SHA-256 hex of the command with its keys sorted; None values do not count."""
    kept = {key: value for key, value in content.items() if value is not None}
    return hashlib.sha256(_canonical({"commandType": command_type, **kept})).hexdigest()


def _canonical(command: dict[str, Any]) -> bytes:
    if all(map(_is_same_in_both, command.values())):
        try:
            return orjson.dumps(command, option=orjson.OPT_SORT_KEYS)
        except TypeError:
            pass
    return _CANONICAL.encode(command).encode("utf-8", "surrogatepass")


def _is_same_in_both(value: object) -> bool:
    if type(value) is list:
        return _SAME_IN_BOTH.issuperset(map(type, value))
    return type(value) in _SAME_IN_BOTH
