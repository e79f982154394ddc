"""Cleaning of what events carry, at the border where it enters the view models.

The invariant: no string leaves here with a character that a terminal acts on, and no value is
deeper or wider than a widget can draw. The other half is `groupx_shared.text`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from groupx_shared.text import clip_text, safe_line, safe_text
from groupx_shared.wire.events import EventActor
from groupx_tui.state.model import Author

MAX_ID_CHARS: Final = 256
"""The wire's own bound for references."""
MAX_NAME_CHARS: Final = 64
MAX_TITLE_CHARS: Final = 300
MAX_SENTENCE_CHARS: Final = 2_000
"""An error sentence; the server writes at most about half of it."""
MAX_STEP_CHARS: Final = 500
"""Of one entry of a plan; the server's own bound."""
MAX_DEPTH: Final = 24
"""Deeper JSON than this is drawn as an ellipsis."""
MAX_NODES: Final = 5_000
"""Values kept of one JSON value: more than anybody reads in a folded record."""


def clean_id(value: str) -> str:
    """Return an identifier that may be drawn; ids made by the server come back unchanged."""
    return safe_line(value, MAX_ID_CHARS)


def clean_name(value: str) -> str:
    """Return a display name or title as one short line."""
    return safe_line(value, MAX_NAME_CHARS)


def clean_sentence(value: str | None) -> str | None:
    """Return an error or status sentence; None stays None."""
    return None if value is None else clip_text(safe_text(value), MAX_SENTENCE_CHARS)


def optional_line(value: str | None, max_chars: int = MAX_ID_CHARS) -> str | None:
    """`safe_line` for a value that may be absent."""
    return None if value is None else safe_line(value, max_chars)


def clean_plan(entries: Iterable[Mapping[str, str]]) -> tuple[dict[str, str], ...]:
    """Return the entries of a plan, each value as one line."""
    return tuple(
        {safe_line(key): safe_line(value, MAX_STEP_CHARS) for key, value in entry.items()}
        for entry in entries
    )


def author_of(actor: EventActor) -> Author:
    """Return who wrote an event, cleaned; an empty name becomes the id's last part."""
    actor_id = clean_id(actor.actor_id)
    name = clean_name(actor.display_name) or actor_id.rpartition(":")[2]
    return Author(actor_id=actor_id, name=name, kind=actor.kind)


def clean_json(value: Any) -> Any:
    """Return a copy of a JSON value with every string and key cleaned, bounded in depth and in
    number of values; what is left out shows as an ellipsis."""
    return _JsonCleaner().clean(value, MAX_DEPTH)


def clean_object(value: dict[str, Any]) -> dict[str, Any]:
    """`clean_json` for an object."""
    return _JsonCleaner().object(value, MAX_DEPTH)


class _JsonCleaner:
    """Counts the values of one document down to `MAX_NODES`."""

    def __init__(self) -> None:
        self._left = MAX_NODES

    def clean(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if isinstance(value, str):
            return safe_text(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        if depth <= 0 or self._left <= 0:
            return "…"
        if isinstance(value, dict):
            return self.object(value, depth)
        if isinstance(value, list | tuple):
            return self._array(value, depth)
        return safe_line(str(value))

    def object(self, value: dict[str, Any], depth: int) -> dict[str, Any]:
        cleaned: dict[str, Any] = {}
        for key, item in value.items():
            if self._left <= 0:
                cleaned["…"] = "…"
                break
            cleaned[safe_line(str(key))] = self.clean(item, depth - 1)
        return cleaned

    def _array(self, value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        cleaned: list[Any] = []
        for item in value:
            if self._left <= 0:
                cleaned.append("…")
                break
            cleaned.append(self.clean(item, depth - 1))
        return cleaned
