"""An awaitable that is begun at once, to see whether it has to wait at all.

A task or a timer for what is there already costs more than taking it. Invariant: what was begun is
either done, or awaited to its end exactly once, and is cancelled with whoever awaits it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Begun(Generic[T]):
    """`is_done` says whether it came to its end without waiting; otherwise await it."""

    def __init__(self, work: Awaitable[T]) -> None:
        """Raises: what `work` raises before it waits."""
        self.is_done = False
        self._result: T
        self._steps = work.__await__()
        try:
            self._waits_for = next(self._steps)
        except StopIteration as end:
            self._end(end.value)

    @property
    def result(self) -> T:
        """What it gave; only when it is done."""
        return self._result

    def _end(self, result: T) -> None:
        self._result = result
        self.is_done = True

    def __await__(self) -> Generator[Any, Any, T]:
        if not self.is_done:
            self._end((yield from self._rest()))
        return self._result

    def _rest(self) -> Generator[Any, Any, T]:
        try:
            yield self._waits_for
        except BaseException as error:  # noqa: BLE001 - handed to what was begun, which raises it
            try:
                self._waits_for = self._steps.throw(error)
            except StopIteration as end:
                result: T = end.value
                return result
            return (yield from self._rest())
        return (yield from self._steps)
