"""Search as a use case: brings the index up to date, asks it, and cuts the snippets.

What was answered to anybody before a search began is found by it. Only while an index is built
anew (an upgraded ledger, a rebuild) may a search answer before that is done, and then it says how
far the index is behind. `run` indexes meanwhile, so that a search has little left to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from groupx_server.domain.snippet import make_snippet
from groupx_server.ledger.commands import once
from groupx_server.ledger.rooms import read_room
from groupx_server.ledger.search import Filters, Found, FoundPage, Meaning, search
from groupx_server.ledger.searchindex import Backlog, backlog, index_some, reset
from groupx_server.ledger.store import Ledger
from groupx_server.ledger.times import to_iso
from groupx_server.logs import get_logger
from groupx_server.rooms.meaning import OFF
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import GroupXError, RefusedError
from groupx_shared.settings import Config
from groupx_shared.wire.search import SearchHit, SearchIndexReply, SearchReply

GATHER_S: Final = 0.5
"""From a new event to indexing it in the background: a busy room is indexed in batches, and a
search does by itself what is newer."""

PATIENCE_S: Final = 2.0
"""How long a search waits for the index; it is longer only for one that is built anew."""

PAUSE_S: Final = 0.02
"""Between two steps in the background, so that accepting messages goes first."""

RETRY_S: Final = 5.0
"""After a step that failed (a full disk)."""

log = get_logger(__name__)


class Searching:
    """Search over one ledger."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._ledger: Ledger = runtime.ledger
        self._wanted = asyncio.Event()
        """Set when there is work that no event tells of."""

    async def find(
        self, text: str, filters: Filters, cursor: str | None, limit: int
    ) -> SearchReply:
        """The best hits. Raises: RefusedError (UNKNOWN_ROOM; a time or cursor that is none)."""
        left = await self.catch_up()
        meanings = self._runtime.meanings
        sense = OFF if meanings is None else await meanings.of_query(text)
        narrowed = Filters(
            room_id=filters.room_id,
            kind=filters.kind,
            actor_id=filters.actor_id,
            type=filters.type,
            root=filters.root,
            since=moment_of(filters.since, "since"),
            until=moment_of(filters.until, "until", is_end=True),
        )
        page = await self._ledger.read(
            partial(
                _checked_search,
                text=text,
                filters=narrowed,
                now=self._runtime.clock.now(),
                cursor=cursor,
                limit=limit,
                meaning=sense.meaning,
            )
        )
        is_missed = sense.state == "used" and not page.by_meaning and page.found and cursor is None
        return SearchReply(
            hits=tuple(_hit(found, page) for found in page.found),
            next_cursor=page.next_cursor,
            capped=page.is_capped,
            behind=left.events + left.records,
            meaning="incomplete" if is_missed else sense.state,
            meaning_problem=sense.problem,
        )

    async def rebuild(self, client_command_id: str) -> SearchIndexReply:
        """Empty the index; it is built anew in the background."""
        now = self._runtime.clock.now()

        def step(connection: sqlite3.Connection) -> SearchIndexReply:
            def act() -> dict[str, object]:
                reset(connection)
                left = backlog(connection)
                return {"behind": left.events + left.records}

            stored = once(connection, client_command_id, "search.rebuild", {}, act, now)
            return SearchIndexReply.model_validate(stored)

        reply = await self._ledger.write(step)
        self._wanted.set()
        return reply

    async def run(self) -> None:
        """Index in the background until cancelled, or until the ledger closes."""
        while True:
            seen = self._ledger.last_seq
            try:
                left = await self._ledger.read(backlog)
                if not left.is_empty:
                    left = await self._ledger.write(index_some)
                    self._tell_meanings()
            except GroupXError as error:
                if not self._ledger.is_open:
                    return
                log.warning("search.index_failed", reason=error.message)
                await asyncio.sleep(RETRY_S)
                continue
            if left.is_empty:
                await self._work(seen)
                await asyncio.sleep(GATHER_S)
            else:
                await asyncio.sleep(PAUSE_S)

    async def _work(self, seen: int) -> None:
        """Wait for an event after `seen`, or for `rebuild`."""
        self._wanted.clear()
        async with asyncio.TaskGroup() as tasks:
            event = tasks.create_task(self._event(seen))
            wanted = tasks.create_task(self._wanted.wait())
            await asyncio.wait((event, wanted), return_when=asyncio.FIRST_COMPLETED)
            event.cancel()
            wanted.cancel()

    async def _event(self, seen: int) -> None:
        with contextlib.suppress(GroupXError):  # it closes: the next step says so
            await self._ledger.changed(seen)

    async def catch_up(self) -> Backlog:
        """Bring the index up to date, within bounds; return what is left to do."""
        left = await self._ledger.read(backlog)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                while not left.is_empty:
                    left = await self._ledger.write(index_some)
                    self._tell_meanings()
        return left

    async def run_meanings(self) -> None:
        """Give vectors to what is indexed, meanwhile, where an endpoint is set up."""
        if self._runtime.meanings is not None:
            await self._runtime.meanings.run()

    def take(self, config: Config) -> None:
        """Other settings count from now on."""
        if self._runtime.meanings is not None:
            self._runtime.meanings.replace(config.search.embeddings)

    def _tell_meanings(self) -> None:
        if self._runtime.meanings is not None:
            self._runtime.meanings.wake()


def _checked_search(
    connection: sqlite3.Connection,
    text: str,
    filters: Filters,
    now: str,
    cursor: str | None,
    limit: int,
    meaning: Meaning | None,
) -> FoundPage:
    if filters.room_id is not None:
        read_room(connection, filters.room_id)
    return search(connection, text, filters, now, cursor=cursor, limit=limit, meaning=meaning)


def _hit(found: Found, page: FoundPage) -> SearchHit:
    snippet = make_snippet(found.content, page.query)
    return SearchHit.model_validate(
        {
            "kind": found.kind,
            "id": found.ref_id,
            "roomId": found.room_id,
            "seq": found.seq,
            "actorId": found.actor_id,
            "subjectActorId": found.subject_id,
            "type": found.type,
            "correlationId": found.root,
            "occurredAt": found.occurred_at,
            "snippet": snippet.text,
            "marks": snippet.marks,
            "score": round(-found.score, 6),
        }
    )


def moment_of(text: str | None, name: str, *, is_end: bool = False) -> str | None:
    """A day (`2026-01-31`, UTC) or a time, as the ledger stores it. A day as an end is whole.

    Raises: RefusedError naming the parameter.
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise RefusedError(
            f"“{name}” is no time; give a day like 2026-01-31 or a time like 2026-01-31T09:15:00Z."
        ) from error
    if moment.tzinfo is None:
        moment = datetime.fromisoformat(f"{moment.isoformat()}+00:00")
    is_day = len(text) == len("2026-01-31")
    if is_end and is_day:
        moment += timedelta(days=1, milliseconds=-1)
    return to_iso(moment)
