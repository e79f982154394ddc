"""Steps of a watched turn: what its observers are told of it, one after the other.

No text, no argument, no result: only that the turn began, that a tool of some kind began or ended,
that the answer grew by a page, that the turn ended. The first step of a turn is always its start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

StepKind = Literal["turn.started", "tool.started", "tool.completed", "content", "turn.ended"]

STARTED_NUMBER: Final = 1
CONTENT_CHARS: Final = 4_096
"""The answer grew by so much: one step."""
MAX_STEPS: Final = 2_000
"""Of one turn before its end; a turn with more has long been out of hand."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `tool` is the kind of the tool (read, edit, execute…), `chars` how long the answer
    is by then."""

    number: int
    kind: StepKind
    at: str
    tool_call_id: str | None = None
    tool: str | None = None
    status: str | None = None
    chars: int | None = None


class StepLog:
    """Collects the steps of one turn between its start and its end."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._saved = 0
        self._pages = 0

    @property
    def unsaved(self) -> list[Step]:
        """What is not on disk yet."""
        return self._steps[self._saved :]

    def saved(self, steps: list[Step]) -> None:
        """These are on disk."""
        self._saved += len(steps)

    def tool(self, kind: StepKind, at: str, call_id: str, tool: str, status: str) -> None:
        """A tool began or ended."""
        self._add(kind, at, tool_call_id=call_id, tool=tool, status=status)

    def content(self, at: str, chars: int) -> None:
        """The answer is so long now."""
        pages = chars // CONTENT_CHARS
        if pages > self._pages:
            self._pages = pages
            self._add("content", at, chars=chars)

    def _add(
        self,
        kind: StepKind,
        at: str,
        *,
        tool_call_id: str | None = None,
        tool: str | None = None,
        status: str | None = None,
        chars: int | None = None,
    ) -> None:
        if len(self._steps) < MAX_STEPS:
            number = STARTED_NUMBER + 1 + len(self._steps)
            self._steps.append(Step(number, kind, at, tool_call_id, tool, status, chars))
