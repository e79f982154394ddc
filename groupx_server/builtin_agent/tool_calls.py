"""Puts a model's tool calls together from streamed fragments. Sans-IO, bounded.

Servers differ: some give an index and no id after the first fragment, some repeat the id, some
give every call the index 0, some give neither. One call is told from the next by a new id, a new
index, or a name that comes after arguments.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from groupx_server.builtin_agent.chunks import ToolFragment

MAX_CALLS: Final = 16
"""Tool calls taken from one answer; a model that wants more has lost its way."""
MAX_ARGUMENT_CHARS: Final = 65_536


class ToolArgumentsError(ValueError):
    """A call's arguments are no JSON object, or too long."""


@dataclass(slots=True)
class PendingCall:
    """One call as far as it is known."""

    call_id: str
    name: str
    index: int | None
    pieces: list[str] = field(default_factory=list)
    chars: int = 0
    record_id: str = ""
    """Id of the tool record that the client shows for it."""

    @property
    def arguments(self) -> str:
        """The argument JSON as text."""
        return "".join(self.pieces)

    def parse_arguments(self) -> dict[str, Any]:
        """Return the arguments. Raises: ToolArgumentsError with a sentence for the model."""
        if self.chars > MAX_ARGUMENT_CHARS:
            raise ToolArgumentsError(f"The arguments are over {MAX_ARGUMENT_CHARS:,} characters.")
        text = self.arguments.strip() or "{}"
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise ToolArgumentsError(f"The arguments are not valid JSON: {error}.") from error
        if not isinstance(value, dict):
            raise ToolArgumentsError("The arguments must be one JSON object.")
        return value


class ToolCallAssembler:
    """Takes fragments in order; `calls` holds the calls in the order they began."""

    def __init__(self) -> None:
        self.calls: list[PendingCall] = []
        self.ignored = 0

    def add(self, fragment: ToolFragment) -> None:
        """Take one fragment; calls over `MAX_CALLS` are only counted in `ignored`."""
        call = self._find(fragment)
        if call is None:
            if len(self.calls) >= MAX_CALLS:
                self.ignored += bool(fragment.name)
                return
            call = PendingCall(fragment.call_id, "", fragment.index)
            self.calls.append(call)
        call.call_id = call.call_id or fragment.call_id
        call.name = call.name or fragment.name
        call.chars += len(fragment.arguments)
        if fragment.arguments and call.chars <= MAX_ARGUMENT_CHARS:
            call.pieces.append(fragment.arguments)

    def _find(self, fragment: ToolFragment) -> PendingCall | None:
        if fragment.call_id:
            same = [call for call in self.calls if call.call_id == fragment.call_id]
            if same:
                return same[-1]
        candidates = [c for c in self.calls if c.index == fragment.index]
        last = candidates[-1] if candidates else None
        if last is None or (fragment.call_id and last.call_id):
            return None
        if fragment.name and last.name and last.chars:
            return None
        return last
