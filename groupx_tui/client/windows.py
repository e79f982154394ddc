"""Moving the loaded window: pages at both ends, jumps, the search for a block.

The invariant: one page at a time for each end, and a page that was asked for before the window
moved is thrown away. Counterpart: `state.reduce.apply_page`.
"""

from __future__ import annotations

from typing import Final, Literal

from groupx_shared.wire.events import Event
from groupx_shared.wire.replies import EventPage
from groupx_shared.wire.requests import MAX_PAGE
from groupx_tui.client.http import ServerClient
from groupx_tui.client.viewstore import ViewStore
from groupx_tui.state.model import BlockId, MessageBlock, TimelineView, TurnBlock
from groupx_tui.state.reduce import apply_page, apply_reread, with_reader_side

PAGE_EVENTS: Final = 200
"""A page of this size is laid out well within a frame and is several screens."""
JUMP_EVENTS: Final = 200
MAX_CATCH_UP_PAGES: Final = 5
"""Pages read in a row to reach an end that moves on; then the reader scrolls for more."""

MAX_REREAD_PAGES: Final = 200
"""Of one reading anew: more events than a window can hold blocks of."""
MAX_REREADS: Final = 3
"""The window may move while it is read anew; then it is read from the start."""

Side = Literal["before", "after"]
Place = int | Literal["first", "last"]
"""A seq, or the room's first or last event."""


class Windows:
    """Loads pages of the shown room into the store."""

    def __init__(self, store: ViewStore, client: ServerClient) -> None:
        self._store = store
        self._client = client
        self.moves = 0
        """How often another window was shown; tells whether a reply is still wanted."""
        self._busy: set[Side] = set()

    def moved(self) -> int:
        """Say that another window is shown or wanted: pages on their way are thrown away.
        Returns the new count."""
        self.moves += 1
        return self.moves

    async def load_before(self) -> bool:
        """Load the page before the window; False when there is none or one is on its way."""
        timeline = self._store.view.timeline
        return timeline.has_more_before and await self._extend("before", timeline)

    async def load_after(self) -> bool:
        """Load the page after the window; False when there is none or one is on its way."""
        timeline = self._store.view.timeline
        return timeline.has_more_after and await self._extend("after", timeline)

    async def catch_up(self) -> None:
        """Load up to the end, if it is not loaded: it moved while the window was read."""
        for _ in range(MAX_CATCH_UP_PAGES):
            if not await self.load_after():
                return

    async def jump(self, where: Place) -> BlockId | None:
        """Show the window at `where` and return the block there."""
        timeline = self._store.view.timeline
        if not _is_loaded(timeline, where):
            move = self.moved()
            page = await self._page_at(timeline.room_id, where)
            if move != self.moves:
                return None
            self._store.set(apply_page(self._store.view, page, "replace"))
            if where == "last":
                await self.catch_up()
        return block_at(self._store.view.timeline, where)

    async def reread(self) -> bool:
        """Read all that is loaded anew: texts were removed from what was read before. False when
        the window moved each time meanwhile."""
        for _ in range(MAX_REREADS):
            asked, move = self._store.view.timeline, self.moves
            events = await self._loaded_events(asked)
            now = self._store.view.timeline
            if move == self.moves and _edges(now) == _edges(asked):
                self._store.set(apply_reread(self._store.view, events))
                return True
        return False

    async def _loaded_events(self, asked: TimelineView) -> list[Event]:
        events: list[Event] = []
        after = max(0, asked.first_seq - 1)
        for _ in range(MAX_REREAD_PAGES):
            page = await self._client.events(asked.room_id, after=after, limit=MAX_PAGE)
            events += [event for event in page.events if (event.seq or 0) <= asked.last_seq]
            after = max((event.seq or 0 for event in page.events), default=asked.last_seq)
            if after >= asked.last_seq or not page.has_more_after:
                break
        return events

    async def _page_at(self, room_id: str, where: Place) -> EventPage:
        if where == "first":
            return await self._client.events(room_id, after=0, limit=JUMP_EVENTS)
        if where == "last":
            return await self._client.events(room_id, limit=JUMP_EVENTS)
        return await self._client.events(room_id, around=where, limit=JUMP_EVENTS)

    async def _extend(self, side: Side, asked: TimelineView) -> bool:
        if side in self._busy:
            return False
        move = self.moves
        self._busy.add(side)
        try:
            page = await self._page_beside(asked, side)
        finally:
            self._busy.discard(side)
        now = self._store.view.timeline
        if move != self.moves or _edge(now, side) != _edge(asked, side):
            return False
        self._store.set(apply_page(self._store.view, page, side))
        return True

    async def _page_beside(self, timeline: TimelineView, side: Side) -> EventPage:
        room_id, edge = timeline.room_id, _edge(timeline, side)
        if side == "before":
            # From now on the reader is at the start: nothing is dropped there meanwhile.
            self._store.set_quietly(with_reader_side(self._store.view, "start"))
            return await self._client.events(room_id, before=edge, limit=PAGE_EVENTS)
        return await self._client.events(room_id, after=edge, limit=PAGE_EVENTS)


def _edge(timeline: TimelineView, side: Side) -> int:
    return timeline.first_seq if side == "before" else timeline.last_seq


def _edges(timeline: TimelineView) -> tuple[str, int, int]:
    return timeline.room_id, timeline.first_seq, timeline.last_seq


def _is_loaded(timeline: TimelineView, where: Place) -> bool:
    if where == "first":
        return not timeline.has_more_before
    if where == "last":
        return not timeline.has_more_after
    return timeline.first_seq <= where <= timeline.last_seq


def block_at(timeline: TimelineView, where: Place) -> BlockId | None:
    """Return the block at the first or last place, or the nearest one at or after a seq."""
    blocks = timeline.blocks
    if not blocks:
        return None
    if where == "first":
        return blocks[0].block_id
    if where == "last":
        return blocks[-1].block_id
    for block in blocks:
        if block.order_seq is None or block.order_seq >= where:
            return block.block_id
    return blocks[-1].block_id


def block_of_event(timeline: TimelineView, event_id: str) -> BlockId | None:
    """Return the block that shows a message or an answer, when it is loaded."""
    for block in timeline.blocks:
        if isinstance(block, MessageBlock) and block.event_id == event_id:
            return block.block_id
        if isinstance(block, TurnBlock) and block.response_event_id == event_id:
            return block.block_id
    return None
