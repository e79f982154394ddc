"""Blocking work beside the event loop, in a thread that never keeps the program from ending.

The loop's own executor is waited for at exit: a start of the server that takes 20 seconds would
hold the closing window for as long. Counterpart: `app`, which starts the server with it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


async def in_daemon_thread(work: Callable[[], Result], name: str) -> Result:
    """Run `work` in a thread and return its result, or raise what it raised.

    Cancelled, it returns at once; the thread goes on by itself and its result is dropped."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type] # None only when work returned None

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except BaseException as problem:  # noqa: BLE001 # handed to the waiting side as it is
            error = problem
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await done
