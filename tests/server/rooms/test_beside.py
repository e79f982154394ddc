"""Work beside other work: begun when it is asked for, ended with its block."""

from __future__ import annotations

import asyncio

import pytest

from groupx_server.rooms.beside import Beside


async def test_work_is_begun_at_once_or_later_and_ended_with_the_block() -> None:
    begun: list[str] = []
    ended: list[str] = []
    has_both = asyncio.Event()

    async def work(name: str) -> None:
        begun.append(name)
        if len(begun) == 2:
            has_both.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    async with Beside() as beside:
        beside.later(0.001, lambda: work("later"))
        beside.start(lambda: work("now"))
        await asyncio.wait_for(has_both.wait(), 5)
    assert begun == ["now", "later"]
    assert sorted(ended) == ["later", "now"]


async def test_what_was_not_due_when_the_block_ended_is_never_begun() -> None:
    begun: list[str] = []

    async def work() -> None:
        begun.append("work")

    async with Beside() as beside:
        beside.later(0.001, work)
    beside.start(work)
    has_passed = asyncio.Event()
    asyncio.get_running_loop().call_later(0.005, has_passed.set)
    await asyncio.wait_for(has_passed.wait(), 5)
    assert begun == []


async def test_an_error_of_the_work_ends_the_block_and_nothing_is_begun_after_it() -> None:
    begun: list[str] = []

    async def fail() -> None:
        raise ValueError("broken")

    async def work() -> None:
        begun.append("work")

    async def block() -> None:
        async with Beside() as beside:
            beside.start(fail)
            try:
                await asyncio.wait_for(asyncio.Event().wait(), 5)
            finally:
                beside.start(work)  # the block is ending

    with pytest.raises(ExceptionGroup) as caught:
        await block()
    assert [str(error) for error in caught.value.exceptions] == ["broken"]
    assert begun == []


async def test_a_cancel_from_outside_ends_work_and_block() -> None:
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def block() -> None:
        async with Beside() as beside:
            beside.start(work)
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(block())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
    assert task.cancelled()
    assert ended.is_set()
