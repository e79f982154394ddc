"""Waiting out a disk that is full, failing or held by another program.

What a person asks for is refused at once with the reason. But what an agent has done must be kept:
the steps of a turn are tried again, ever more slowly, until they are stored or the server stops.
Meanwhile the lane stands still, nothing more is sent, and health says why.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeVar

from groupx_server.ledger.batch import Step
from groupx_server.ledger.readers import Query
from groupx_server.ledger.store import Ledger
from groupx_server.logs import get_logger
from groupx_shared.errors import LedgerBusyError, LedgerCorruptError, LedgerDiskError

T = TypeVar("T")

FIRST_PAUSE_S: Final = 0.25
MAX_PAUSE_S: Final = 2.0
"""Pauses double between these two."""

DISK_TROUBLE: Final = (LedgerDiskError, LedgerBusyError, LedgerCorruptError)
"""Errors that say nothing about the step itself: nothing of it was stored, and the same step may
succeed later."""

log = get_logger(__name__)


async def write_patiently(ledger: Ledger, step: Step[T]) -> T:
    """`ledger.write(step)`, tried until the disk takes it.

    Raises: what the step raises; LedgerError (SHUTTING_DOWN).
    """
    return await _patiently(partial(ledger.write, step))


async def read_patiently(ledger: Ledger, query: Query[T]) -> T:
    """`ledger.read(query)`, tried until the disk gives it."""
    return await _patiently(partial(ledger.read, query))


async def _patiently(use: Callable[[], Awaitable[T]]) -> T:
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            return await use()
        except DISK_TROUBLE as error:
            if pause_s == FIRST_PAUSE_S:
                log.warning("ledger.waiting", error=error.message)
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, MAX_PAUSE_S)
