"""What is begun at once is taken without waiting, or awaited as any other."""

from __future__ import annotations

import asyncio

import pytest

from groupx_server.http.begun import Begun

LIMIT_S = 5


async def test_what_does_not_wait_is_done_at_once() -> None:
    async def there() -> int:
        return 7

    begun = Begun(there())
    assert begun.is_done
    assert begun.result == 7
    assert await begun == 7


async def test_what_waits_is_awaited_to_its_end() -> None:
    gates = [asyncio.Event() for _ in range(3)]

    async def passing() -> str:
        for gate in gates:
            await gate.wait()
        return "through"

    begun = Begun(passing())
    assert not begun.is_done
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(_awaited(begun))
        for gate in gates:
            await asyncio.sleep(0)
            gate.set()
    assert waiting.result() == "through"
    assert begun.is_done


async def _awaited(begun: Begun[str]) -> str:
    return await begun


async def test_its_error_comes_out() -> None:
    async def failing(gate: asyncio.Event) -> None:
        await gate.wait()
        raise ValueError("late")

    async def failing_now() -> None:
        raise ValueError("early")

    gate = asyncio.Event()
    begun = Begun(failing(gate))
    gate.set()
    with pytest.raises(ValueError, match="late"):
        await begun
    with pytest.raises(ValueError, match="early"):
        Begun(failing_now())


async def test_it_ends_with_who_awaits_it() -> None:
    ended: list[str] = []

    async def waiting() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cleaned")

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await Begun(waiting())
    assert ended == ["cleaned"]


async def test_it_may_go_on_waiting_when_it_was_disturbed() -> None:
    gate = asyncio.Event()

    async def stubborn() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await gate.wait()
        return "on"

    async def at_once() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "out"
        return "never"

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        first = tasks.create_task(_awaited(Begun(stubborn())))
        second = tasks.create_task(_awaited(Begun(at_once())))
        await asyncio.sleep(0)
        first.cancel()
        second.cancel()
        await asyncio.sleep(0)
        gate.set()
    assert (first.result(), second.result()) == ("on", "out")
