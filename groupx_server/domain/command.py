"""Client commands: what makes a repeated request the same request.

A client chooses `client_command_id`; the ledger keeps its canonical hash. The same id with the
same hash returns the first result; with another hash it is a conflict (contract §7).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
"""Hashes that were stored must come out the same: its output is not to change."""


def canonical_hash(command_type: str, content: Mapping[str, Any]) -> str:
    """SHA-256 hex of the command with its keys sorted; None values do not count."""
    kept = {key: value for key, value in content.items() if value is not None}
    canonical = _CANONICAL.encode({"commandType": command_type, **kept})
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
