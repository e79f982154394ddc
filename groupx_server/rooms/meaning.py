"""What texts mean, beside their words: vectors for the index, made in the background, and for
queries. Off unless an endpoint is set up.

Invariants: accepting a message and finding by words never wait for it; texts go to the endpoint in
bounded batches, and so many a day; an endpoint that fails is left alone for longer and longer, and
answers say so. The counterpart is `searching`.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections import OrderedDict
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from groupx_server.domain.searchtext import fold, pieces
from groupx_server.domain.vectors import unpack
from groupx_server.ledger.search import Meaning
from groupx_server.ledger.searchvectors import (
    Calls,
    Purpose,
    Source,
    calls_on,
    next_sources,
    note_calls,
    put_vectors,
)
from groupx_server.ledger.store import Ledger
from groupx_server.logs import get_logger
from groupx_server.rooms.clock import Clock
from groupx_server.rooms.embedding import EmbeddingEndpoint, EmbeddingError
from groupx_shared.errors import GroupXError
from groupx_shared.settings import EmbeddingSettings
from groupx_shared.wire.search import SearchMeaning

FIRST_PAUSE_S: Final = 5.0
LONGEST_PAUSE_S: Final = 300.0
"""After failures in a row: twice as long each time."""
LEDGER_PAUSE_S: Final = 5.0
DAY_PAUSE_S: Final = 600.0
"""Between two looks whether a new day has begun, when the calls of one are used up."""
KNOWN_QUERIES: Final = 256
"""Vectors of queries that are kept: later pages, and what people ask again."""
AT_ONCE: Final = 4
"""Queries that are asked of the endpoint at the same time; others wait."""

_SIGNS: Final = re.compile(r'(?:(?<=\s)|^)-(?:"[^"]*"?|\S+)|["“”«»+*]')

log = get_logger(__name__)


class Sense(NamedTuple):
    """What a query means, or why that is not known."""

    meaning: Meaning | None
    state: SearchMeaning
    problem: str | None = None


OFF: Final = Sense(None, "off")


class Meanings:
    """The vectors of one ledger."""

    def __init__(self, ledger: Ledger, clock: Clock, settings: EmbeddingSettings) -> None:
        self._ledger = ledger
        self._clock = clock
        self._wanted = asyncio.Event()
        self._replaced = asyncio.Event()
        self.settled = asyncio.Event()
        """Set while all rows have what they can get."""
        self._at_once = asyncio.Semaphore(AT_ONCE)
        self.replace(settings)

    def replace(self, settings: EmbeddingSettings) -> None:
        """Other settings count from now on."""
        self._settings = settings
        self._endpoint = EmbeddingEndpoint(settings) if settings.enabled else None
        self._known: OrderedDict[str, bytes] = OrderedDict()
        self._batch = settings.batch_size
        self._failures = 0
        self._not_before = 0.0
        self._problem: str | None = None
        self._counts: dict[Purpose, Calls] = {}
        self._day = ("", 0)
        self._replaced.set()
        self.wake()

    def wake(self) -> None:
        """There may be rows without vectors."""
        self.settled.clear()
        self._wanted.set()

    # Queries

    async def of_query(self, text: str) -> Sense:
        """What a query means. Never raises, and takes no longer than `queryTimeoutMs`."""
        settings, endpoint = self._settings, self._endpoint
        asked = " ".join(_SIGNS.sub(" ", text).split())[: settings.characters]
        if endpoint is None:
            return OFF
        if not asked or (settings.english_only and _has_runs(asked)):
            return Sense(None, "skipped")
        try:
            vector = await self._query_vector(endpoint, asked)
        except EmbeddingError as error:
            return Sense(None, "failing", error.message)
        return Sense(Meaning(unpack(vector), settings.weight, settings.least_nearness), "used")

    async def _query_vector(self, endpoint: EmbeddingEndpoint, asked: str) -> bytes:
        if (known := self._known.get(asked)) is not None:
            self._known.move_to_end(asked)
            return known
        if self._left_s() > 0:
            raise EmbeddingError(self._problem or "the endpoint did not answer")
        try:
            async with asyncio.timeout(self._settings.query_timeout_ms / 1000), self._at_once:
                [vector] = await self._ask("query", endpoint, [asked])
        except TimeoutError as error:
            raise EmbeddingError(f"{endpoint.shown} has too much to do") from error
        self._known[asked] = vector
        if len(self._known) > KNOWN_QUERIES:
            self._known.popitem(last=False)
        return vector

    # Rows

    async def run(self) -> None:
        """Give vectors to rows until cancelled, or until the ledger closes."""
        while True:
            self._wanted.clear()
            self._replaced.clear()
            try:
                pause_s = await self._step()
            except GroupXError as error:
                if not self._ledger.is_open:
                    return
                log.warning("meaning.not_stored", reason=error.message)
                pause_s = LEDGER_PAUSE_S
            await self._rest(pause_s)

    async def _rest(self, pause_s: float | None) -> None:
        """Wait for so long, or until other settings came; None: until there is something to do."""
        if pause_s is None:
            if not self._wanted.is_set():
                self.settled.set()
            await self._wanted.wait()
        else:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self._replaced.wait()

    async def _step(self) -> float | None:
        """One batch. Returns how long to wait before the next one."""
        await self._flush()
        endpoint = self._endpoint
        if endpoint is None:
            return None
        if (left_s := self._left_s()) > 0:
            return left_s
        read = partial(
            next_sources,
            model=endpoint.model,
            count=self._batch,
            chars=self._settings.characters,
        )
        sources = await self._ledger.read(read)
        if not sources:
            return None
        try:
            return await self._index(endpoint, sources)
        except EmbeddingError as error:
            log.warning("meaning.failed", reason=error.message)
            return self._left_s() or FIRST_PAUSE_S

    async def _index(self, endpoint: EmbeddingEndpoint, sources: list[Source]) -> float:
        """Give vectors to these rows. Raises: EmbeddingError; GroupXError of the ledger."""
        vectors: dict[int, bytes | None]
        try:
            found = await self._ask("index", endpoint, [source.text for source in sources])
            vectors = {row.row_id: vector for row, vector in zip(sources, found, strict=True)}
            self._batch = min(self._settings.batch_size, 2 * self._batch)
        except EmbeddingError as error:
            if not error.is_too_much:
                raise
            if len(sources) > 1:
                self._batch = max(1, len(sources) // 2)
                return 0.0
            vectors = {sources[0].row_id: None}
        if endpoint is self._endpoint:
            await self._ledger.write(partial(put_vectors, model=endpoint.model, vectors=vectors))
        return 0.0

    # Calls

    async def _ask(
        self, purpose: Purpose, endpoint: EmbeddingEndpoint, texts: list[str]
    ) -> list[bytes]:
        """Ask the endpoint, and count it. Raises: EmbeddingError."""
        await self._keep_to_the_day()
        is_query = purpose == "query"
        timeout_ms = self._settings.query_timeout_ms if is_query else self._settings.timeout_ms
        failed = 1
        try:
            vectors = await endpoint.embed(texts, timeout_ms / 1000)
            failed = 0
            self._failures, self._not_before, self._problem = 0, 0.0, None
        except EmbeddingError as error:
            if not error.is_too_much and endpoint is self._endpoint:  # not one that was replaced
                self._note_failure(error.message)
            raise
        finally:
            self._count(purpose, Calls(1, failed, len(texts), sum(map(len, texts))))
        return vectors

    def _note_failure(self, problem: str) -> None:
        pause_s = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2**self._failures)
        self._failures = min(self._failures + 1, 16)
        self._not_before = asyncio.get_running_loop().time() + pause_s
        self._problem = problem

    def _left_s(self) -> float:
        """How long the endpoint is left alone."""
        return max(0.0, self._not_before - asyncio.get_running_loop().time())

    def _count(self, purpose: Purpose, calls: Calls) -> None:
        before = self._counts.get(purpose, Calls())
        self._counts[purpose] = Calls(*map(sum, zip(before, calls, strict=True)))
        self.wake()

    async def _keep_to_the_day(self) -> None:
        """Count a call before it is made. Raises: EmbeddingError: the day has no more."""
        limit, today = self._settings.calls_per_day, self._clock.now()[: len("2026-01-31")]
        if self._day[0] != today:
            before = await self._ledger.read(partial(calls_on, day=today))
            if self._day[0] != today:  # nobody else looked meanwhile
                self._day = (today, before)
        if limit and self._day[1] >= limit:
            self._problem = f"the {limit:,} calls of a day (callsPerDay) are used up"
            self._not_before = asyncio.get_running_loop().time() + DAY_PAUSE_S
            raise EmbeddingError(self._problem)
        self._day = (today, self._day[1] + 1)

    async def _flush(self) -> None:
        """Note on disk what was asked."""
        counts, endpoint = self._counts, self._endpoint
        if not counts or endpoint is None:
            return
        self._counts = {}
        day = self._clock.now()[: len("2026-01-31")]

        def step(connection: sqlite3.Connection) -> None:
            note_calls(connection, day, endpoint.model, counts)

        await self._ledger.write(step)


def _has_runs(text: str) -> bool:
    """Whether it has a script without spaces, which models of English do not know."""
    return any(is_run for _, is_run in pieces(fold(text)))
