"""Keeping the view in step with the server: bootstrap, stream, reconnect, another database.

The invariant: whatever happens to the connection, the view is that of the ledger up to its
cursor; what it shows is never of two databases. Counterpart: `events`, which reads the stream.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Final

from groupx_shared.errors import ErrorCode, GroupXError
from groupx_shared.ids import MAIN_ROOM
from groupx_shared.wire.events import Event, EventType
from groupx_shared.wire.requests import MAX_PAGE
from groupx_tui.client.backoff import Backoff
from groupx_tui.client.events import EventStream, LedgerChangedError, Sleep, StreamState
from groupx_tui.client.http import ServerClient
from groupx_tui.client.viewstore import ViewStore
from groupx_tui.client.windows import Windows
from groupx_tui.state.model import Connection
from groupx_tui.state.purges import with_purges
from groupx_tui.state.reduce import (
    apply_bootstrap,
    apply_events,
    with_agents,
    with_connection,
    with_open_turns,
)

FIRST_EVENTS: Final = 200
"""Events of the room loaded at first: several screens."""
MAX_WAITING_BATCHES: Final = 64
"""Batches read from the socket and not yet taken in; then the socket waits."""
MAX_EVENTS_AT_ONCE: Final = 256
"""Events of one reduction: about 10 ms, so that keys are answered during a long replay."""

Arrivals = asyncio.Queue[tuple[Event, ...] | None]
"""None: the server has another ledger."""


class Following:
    """Follows one server for the store; `run` never returns."""

    def __init__(
        self, store: ViewStore, client: ServerClient, windows: Windows, sleep: Sleep
    ) -> None:
        self._store = store
        self._client = client
        self._windows = windows
        self._sleep = sleep
        self._backoff = Backoff()
        self._is_outdated = False
        """What is loaded holds texts that were removed since."""

    async def run(self) -> None:
        """Follow, for ever."""
        while True:
            await self._bootstrap()
            await self._windows.catch_up()
            await self._follow()
            await self._sleep(self._backoff.next_pause())

    async def _bootstrap(self) -> None:
        """Load the shown room anew, however long it takes until a server is there."""
        while True:
            room_id = self._store.view.room_id
            try:
                self._client.endpoint.refresh()
                reply = await self._client.bootstrap(room_id, FIRST_EVENTS)
                turns = await self._client.turns(limit=MAX_PAGE)
            except GroupXError as error:
                if error.code == ErrorCode.UNKNOWN_ROOM and room_id != MAIN_ROOM:
                    self._store.set(
                        replace(self._store.view, room_id=MAIN_ROOM, missing_room=room_id)
                    )
                    continue
                pause = self._backoff.next_pause()
                self._show(StreamState("reconnecting", error.message, pause))
                await self._sleep(pause)
            else:
                break
        self._windows.moved()
        view = apply_bootstrap(replace(self._store.view, ledger_id=""), reply)
        self._store.set(with_open_turns(view, turns.turns, is_first=True))

    async def _follow(self) -> None:
        """Take in what the stream brings; returns when the server has another ledger."""
        arrivals: Arrivals = asyncio.Queue(MAX_WAITING_BATCHES)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._read(arrivals, group), name="event-stream")
            has_ended = False
            while not has_ended:
                events, has_ended = await _next_events(arrivals)
                await self._take(events)

    async def _take(self, events: list[Event]) -> None:
        """Take events in, many of them in parts with a breath between."""
        for start in range(0, len(events), MAX_EVENTS_AT_ONCE):
            if start:
                await asyncio.sleep(0)
            part = events[start : start + MAX_EVENTS_AT_ONCE]
            self._store.set(apply_events(self._store.view, part))
        if any(event.type == EventType.CONTENT_REDACTED for event in events):
            self._is_outdated = True
            await self._reread()

    async def _reread(self) -> None:
        """Read anew what is loaded, if a text was removed: quotes of it, reasoning and results of
        tools are not named one by one. Without an answer it is done after the next reconnect."""
        if self._is_outdated:
            with suppress(GroupXError):
                self._is_outdated = not await self._windows.reread()

    async def _read(self, arrivals: Arrivals, group: asyncio.TaskGroup) -> None:
        view = self._store.view

        def on_state(state: StreamState) -> None:
            was_lost = self._store.view.connection in ("reconnecting", "offline")
            self._show(state)
            if state.phase == "live" and was_lost:
                group.create_task(self._refresh(), name="refresh")

        stream = EventStream(
            self._client,
            after_seq=view.cursor,
            ledger_id=view.ledger_id,
            on_state=on_state,
            sleep=self._sleep,
            backoff=self._backoff,
        )
        try:
            async with aclosing(stream.batches()) as batches:
                async for batch in batches:
                    await arrivals.put(batch)
        except LedgerChangedError:
            await arrivals.put(None)

    async def _refresh(self) -> None:
        """After a break: ask for what the stream does not repeat, the text of open turns and the
        agents' cards. When the server does not tell, a text shows a gap until its turn ends."""
        asked_at = self._store.view.agents
        try:
            turns = await self._client.turns(limit=MAX_PAGE)
            agents = await self._client.agents()
            purges = await self._client.purges()
        except GroupXError:
            return
        view = with_agents(self._store.view, agents.agents, asked_at)
        view = with_purges(view, purges)
        self._store.set(with_open_turns(view, turns.turns, is_first=False))
        await self._reread()

    def _show(self, state: StreamState) -> None:
        view = self._store.view
        if state.phase == "live":
            self._store.set(with_connection(view, "live"))
        elif state.phase == "reconnecting":
            is_found = self._client.endpoint.is_found
            kind: Connection = "reconnecting" if is_found else "offline"
            detail = f"{state.reason} Next try in {state.next_try_s or 0.0:.1f} s."
            self._store.set(with_connection(view, kind, detail))


async def _next_events(arrivals: Arrivals) -> tuple[list[Event], bool]:
    """Wait for events and take all that are there (bounded); True when the ledger changed."""
    events: list[Event] = []
    batch = await arrivals.get()
    while batch is not None:
        events.extend(batch)
        if arrivals.empty() or len(events) >= MAX_EVENTS_AT_ONCE:
            return events, False
        batch = arrivals.get_nowait()
    return events, True
