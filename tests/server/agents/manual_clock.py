"""A clock that stands still until the test moves it."""

from __future__ import annotations

import asyncio


class ManualClock:
    """Implements `agents.clock.Clock`; `advance` wakes whoever waits for a time that came."""

    def __init__(self) -> None:
        self._now = 1_000.0
        self._moved = asyncio.Event()
        self.waits: list[float | None] = []
        """How long each wait would have lasted, in seconds; None: without end."""

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds
        self._moved.set()
        self._moved = asyncio.Event()

    async def wait(self, event: asyncio.Event, until: float | None) -> bool:
        self.waits.append(None if until is None else until - self._now)
        while not event.is_set() and (until is None or self._now < until):
            await _first_of(event, self._moved)
        return event.is_set()


async def _first_of(*events: asyncio.Event) -> None:
    first = asyncio.Event()

    async def pass_on(event: asyncio.Event) -> None:
        await event.wait()
        first.set()

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(pass_on(event)) for event in events]
        await first.wait()
        for task in tasks:
            task.cancel()
