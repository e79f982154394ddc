"""Blocking work beside the loop: its result, its error, and nobody waiting for it at the end."""

from __future__ import annotations

import asyncio
import threading

import pytest

from groupx_shared.errors import WorkspaceError
from groupx_tui.background import in_daemon_thread


async def test_the_result_comes_back() -> None:
    assert await in_daemon_thread(lambda: threading.current_thread().name, "work") == "work"


async def test_the_error_comes_back() -> None:
    def fail() -> None:
        raise WorkspaceError("no")

    with pytest.raises(WorkspaceError, match="no"):
        await in_daemon_thread(fail, "work")


def test_a_loop_ends_while_the_work_goes_on() -> None:
    release, ended = threading.Event(), threading.Event()

    def work() -> None:
        release.wait(5)
        ended.set()

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(in_daemon_thread(work, "work"), 0.01)

    asyncio.run(give_up())
    assert not ended.is_set()
    release.set()
    assert ended.wait(5)
