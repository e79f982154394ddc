"""Work beside other work: begun when there is something to do, ended with it.

A turn may have to write down what was answered, or to repeat a cancel; most turns end before
either. A task for each would cost every turn what few need. Invariant: nothing that was started
here outlives the block, and an error of it ends the block, as in the TaskGroup below it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

Work = Callable[[], Awaitable[None]]


class Beside:
    """Use as an async context manager; work goes on until its block ends, and is cancelled then."""

    def __init__(self) -> None:
        self._group = asyncio.TaskGroup()
        self._tasks: list[asyncio.Task[None]] = []
        self._timers: list[asyncio.TimerHandle] = []
        self._is_over = False

    def start(self, work: Work) -> None:
        """Begin now; nothing when the block ends already."""
        if not self._is_over:
            self._tasks.append(self._group.create_task(self._run(work)))

    def later(self, delay_s: float, work: Work) -> None:
        """Begin after `delay_s`, if the block lasts as long."""
        loop = asyncio.get_running_loop()
        self._timers.append(loop.call_later(delay_s, self.start, work))

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over = True
        for timer in self._timers:
            timer.cancel()
        for task in self._tasks:
            task.cancel()
        await self._group.__aexit__(kind, error, trace)

    async def _run(self, work: Work) -> None:
        try:
            await work()
        except BaseException:
            self._is_over = True  # the group takes no more
            raise
