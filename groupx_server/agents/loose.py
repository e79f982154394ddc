"""Reading JSON that nobody vouches for: the wanted type, or its empty value.

Pure. Used by the protocol readers only; what we write ourselves is read strictly elsewhere.
"""

from __future__ import annotations

from typing import Any


def as_dict(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The array, or an empty one."""
    return list(value) if isinstance(value, list | tuple) else []


def as_text(value: Any) -> str:
    """The string, or an empty one."""
    return value if isinstance(value, str) else ""
