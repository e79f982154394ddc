"""Reads all that one message led to, wherever it stands, without moving what is shown.

The server names the turns of the root; the pages from its message on are read until all of them
were seen. Invariants: bounded pages, and what was read is given although something is missing
(`is_whole` says so). Counterpart: `state.lineage`, which makes a tree of the blocks.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from groupx_shared.wire.roots import RootReply
from groupx_tui.client.http import ServerClient, segment
from groupx_tui.state.lineage import blocks_of_root
from groupx_tui.state.model import Block, BlockId, ClientView, TurnBlock
from groupx_tui.state.reduce import apply_page

MAX_PAGES: Final = 10
PAGE_EVENTS: Final = 500
"""So a root whose turns lie within 5,000 events of its message is read whole."""


class Lineage(NamedTuple):
    """What one message led to."""

    blocks: list[Block]
    """In the order of the timeline."""
    is_whole: bool
    """False when turns of it lie too far away to be read."""


async def read_lineage(client: ServerClient, view: ClientView, root_id: str) -> Lineage:
    """All blocks of a root of the shown room. Raises: RefusedError, ServerUnreachableError."""
    told = await client.get(RootReply, f"/api/roots/{segment(root_id)}")
    wanted = {turn.turn_id for turn in told.turns}
    first = (await client.event(told.root.message_event_id)).seq or 1
    page = await client.events(told.root.room_id, after=first - 1, limit=PAGE_EVENTS)
    found: dict[BlockId, Block] = {}
    now = apply_page(view, page, "replace")
    for _ in range(MAX_PAGES):
        for block in (*now.timeline.blocks, *now.open_turns):
            found |= {each.block_id: each for each in blocks_of_root([block], root_id)}
        seen = {block.turn_id for block in found.values() if isinstance(block, TurnBlock)}
        if wanted <= seen or not page.has_more_after or not page.events:
            return Lineage(list(found.values()), wanted <= seen)
        last = page.events[-1].seq or 0
        page = await client.events(told.root.room_id, after=last, limit=PAGE_EVENTS)
        now = apply_page(now, page, "after")
    return Lineage(list(found.values()), is_whole=False)
