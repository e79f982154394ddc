"""`ClientSession`: one window's connection to the server, without any drawing.

Owns the `ClientView`: bootstrap, event stream, paging and commands all go through here, and every
change of the view is followed by exactly one call of `on_change(view)`. In the view handed over,
`timeline.changed` names the blocks that differ since the previous call, so a widget that lays out
those (and looks at the order of `timeline.blocks`) is always right. The other half is the Textual
app, which only calls methods here and draws.

All methods run on the loop that runs `run`; none blocks it. They raise `RefusedError` (the server
refused; nothing was changed) or `ServerUnreachableError` (no answer; the stream keeps trying).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal

from groupx_shared.ids import MAIN_ROOM, new_id
from groupx_shared.runtime import read_runtime
from groupx_shared.text import safe_text
from groupx_shared.wire.bodies import MessageBody
from groupx_shared.wire.replies import (
    AdviceReply,
    CancelReply,
    ContextUsage,
    MessageAccepted,
    RestartReply,
    RoomInfo,
    RootContinued,
)
from groupx_shared.wire.roots import RootCancelled
from groupx_shared.wire.search import SearchReply
from groupx_shared.workspace import Workspace
from groupx_tui.client.backoff import Pause
from groupx_tui.client.endpoint import Endpoint, FindServer
from groupx_tui.client.events import Sleep
from groupx_tui.client.following import FIRST_EVENTS, Following
from groupx_tui.client.http import ServerClient
from groupx_tui.client.lineage import Lineage, read_lineage
from groupx_tui.client.moments import seq_at
from groupx_tui.client.outbox import Outbox, watch_of
from groupx_tui.client.records import Records
from groupx_tui.client.removals import Removals
from groupx_tui.client.side import SideTalk
from groupx_tui.client.viewstore import OnChange, ViewStore
from groupx_tui.client.windows import Windows, block_at, block_of_event
from groupx_tui.state.messages import message_block
from groupx_tui.state.model import (
    Block,
    BlockId,
    ClientView,
    MessageBlock,
    TimelineView,
    TurnBlock,
)
from groupx_tui.state.pending import drop_pending, with_full_text
from groupx_tui.state.reduce import (
    apply_bootstrap,
    with_connection,
    with_reader_side,
    with_room,
    with_upkeep,
)

MAX_BOOTSTRAP_TRIES: Final = 3
"""Reads of a room that the stream was ahead of; then its pages fill the rest."""


class ClientSession:
    """The view of one workspace's server and all that can be done with it.

    `find_server` is asked at the start and at each reconnect; by default it reads the runtime
    file of `workspace`. `room_id` is the room shown first.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        room_id: str = MAIN_ROOM,
        find_server: FindServer | None = None,
        sleep: Sleep | None = None,
    ) -> None:
        self._pause = Pause()
        wait = sleep or self._pause
        self._client = ServerClient(Endpoint(find_server or (lambda: read_runtime(workspace))))
        self.records = Records(self._client)
        """What is remembered, told and used."""
        self.removals = Removals(self._client)
        """Removing texts for good."""
        self.side = SideTalk(self._client, wait)
        """The conversation with the room assistant."""
        self._store = ViewStore(ClientView(room_id=room_id, timeline=TimelineView(room_id)))
        self._windows = Windows(self._store, self._client)
        self._outbox = Outbox(self._store, self._client, sleep or asyncio.sleep)
        self._following = Following(self._store, self._client, self._windows, wait)

    @property
    def view(self) -> ClientView:
        """The newest view; immutable. Its `changed` is empty: only `on_change` gets that."""
        return self._store.view

    @property
    def http(self) -> ServerClient:
        """The typed endpoints, for what needs no view (search, export, one turn…)."""
        return self._client

    async def run(self, on_change: OnChange) -> None:
        """Connect, follow the stream and reconnect, until cancelled.

        `on_change` is called on the loop, once for all events that were ready together; it should
        only note what changed. Never returns by itself; a lost server shows in `view.connection`.
        """
        self._store.on_change = on_change
        on_change(self.view)
        await self._following.run()

    def hurry(self) -> None:
        """A server was started just now: try to connect without waiting any longer."""
        if self.view.connection != "live":
            self._pause.cut()

    async def aclose(self) -> None:
        """Close the connections; call it after `run` was cancelled."""
        self._store.set(with_connection(self.view, "closed"))
        await self._client.aclose()

    async def send(
        self,
        text: str,
        to: Sequence[str] = (),
        reply_to_event_id: str | None = None,
        *,
        observers: Sequence[str] = (),
        brief: str = "",
        forwarded_event_id: str | None = None,
    ) -> MessageAccepted:
        """Post `text` to the shown room, and show its end. `observers` watch the agents in `to`;
        `brief` says what they shall look out for. `forwarded_event_id`: the message passed on.

        It shows at once as a pending block, becomes a message when the server has it on disk, or
        carries `refusal` (see `dismiss`). A lost connection is retried with the same command id a
        few times, so it is never posted twice.

        Raises: RefusedError, ServerUnreachableError (then nobody knows whether it arrived; the
        pending block says so).
        """
        if self.view.timeline.has_more_after:
            await self._windows.jump("last")
        watch = watch_of(observers, brief)
        return await self._outbox.send(text, to, reply_to_event_id, watch, forwarded_event_id)

    def dismiss(self, block_id: BlockId) -> None:
        """Take a refused own message off the timeline (its text went back to the composer)."""
        self._store.set(drop_pending(self.view, block_id))

    async def load_before(self) -> bool:
        """Load the page before the first loaded block; False when there is nothing more or a page
        is being loaded already."""
        return await self._windows.load_before()

    async def load_after(self) -> bool:
        """Load the page after the last loaded block; False as for `load_before`."""
        return await self._windows.load_after()

    async def jump(self, where: int | Literal["first", "last"]) -> BlockId | None:
        """Load the window around event `where` (its seq), or the first or last one, and return
        the block to show: the nearest one. Away from the end `timeline.has_more_after` is true
        and new events are only counted (`timeline.new_after`)."""
        return await self._windows.jump(where)

    async def jump_to_event(self, event_id: str) -> BlockId | None:
        """As `jump`, to a known event (a search hit, a reply's source); switches the room when
        the event is in another one. Raises: RefusedError (UNKNOWN_EVENT)."""
        if (loaded := block_of_event(self.view.timeline, event_id)) is not None:
            return loaded
        event = await self._client.event(event_id)
        if event.room_id != self.view.room_id:
            await self.switch_room(event.room_id)
        seq = event.seq or 0
        await self._windows.jump(seq)
        timeline = self.view.timeline
        return block_of_event(timeline, event_id) or block_at(timeline, seq)

    async def jump_to_time(self, at: datetime) -> BlockId | None:
        """As `jump`, to the first event of the room at or after a moment (aware); the last one
        when there is none after it."""
        seq = await seq_at(self._client, self.view.room_id, self.view.timeline.counted_seq, at)
        return await self._windows.jump("last" if seq is None else seq)

    async def search(
        self, query: str, *, everywhere: bool = False, limit: int = 500
    ) -> SearchReply:
        """The messages of the shown room, or of all, that a query finds, the best first."""
        room_id = None if everywhere else self.view.room_id
        return await self._client.search(query, room_id=room_id, limit=limit)

    def set_reader_side(self, side: Literal["start", "end"]) -> None:
        """Tell which half of the loaded blocks the reader looks at; what is dropped when too much
        is loaded is dropped at the other end. Cheap: call it on each scroll."""
        self._store.set_quietly(with_reader_side(self.view, side))

    async def switch_room(self, room_id: str) -> None:
        """Show another room, at its end; its unread count becomes 0."""
        move = self._windows.moved()
        reply = await self._client.bootstrap(room_id, FIRST_EVENTS)
        for _ in range(MAX_BOOTSTRAP_TRIES - 1):
            if reply.through_seq >= self.view.cursor:
                break
            reply = await self._client.bootstrap(room_id, FIRST_EVENTS)
        if move == self._windows.moves:
            self._windows.moved()
            self._store.set(apply_bootstrap(self.view, reply))
            await self._windows.catch_up()

    async def create_room(self, title: str) -> RoomInfo:
        """Make a room; it appears in `view.rooms`. Does not switch to it."""
        info = await self._client.create_room(title)
        self._store.set(with_room(self.view, info))
        return info

    async def change_room(
        self, room_id: str, *, title: str | None = None, archived: bool | None = None
    ) -> RoomInfo:
        """Rename, archive or restore a room."""
        info = await self._client.change_room(room_id, title=title, archived=archived)
        self._store.set(with_room(self.view, info))
        return info

    async def cancel(self, turn_id: str) -> CancelReply:
        """Ask to cancel a turn; `accepted` is False when it had ended already."""
        return await self._client.cancel_turn(turn_id, new_id("cmd"))

    async def advise(self, turn_id: str, content: str) -> AdviceReply:
        """Say something to the agent of a turn, and return what became of it. Raises: RefusedError
        (UNKNOWN_TURN)."""
        return await self._client.advise_turn(turn_id, content, new_id("cmd"))

    async def retry(self, turn_id: str) -> MessageAccepted:
        """Send an ended turn's message once more, as a new turn. Raises: RefusedError
        (STORE_CONFLICT while it is open)."""
        return await self._client.retry_turn(turn_id, new_id("cmd"))

    async def go_on(self, turn_id: str) -> MessageAccepted:
        """Ask the agent to go on with a turn that did not complete. Raises: RefusedError."""
        return await self._client.continue_turn(turn_id, new_id("cmd"))

    async def cancel_root(self, root_id: str) -> RootCancelled:
        """Cancel every open turn of a root. Raises: RefusedError (UNKNOWN_EVENT)."""
        return await self._client.cancel_root(root_id, new_id("cmd"))

    async def lineage(self, root_id: str) -> Lineage:
        """All that a message of the shown room led to, also what is not loaded. Raises:
        RefusedError (UNKNOWN_EVENT)."""
        return await read_lineage(self._client, self.view, root_id)

    async def continue_root(self, root_id: str) -> RootContinued:
        """Let the agents of a root go on that a limit stopped. Raises: RefusedError
        (STORE_CONFLICT when nothing of it is stopped)."""
        return await self._client.continue_root(root_id, new_id("cmd"))

    async def whole_message(self, event_id: str) -> MessageBlock:
        """Read a message with its whole text, loaded or not. Raises: RefusedError
        (UNKNOWN_EVENT)."""
        event = await self._client.event(event_id)
        body = MessageBody.model_validate(event.body)
        block = message_block(event, body, event.seq or 0, self.view.agents)
        if not block.is_cut:
            return block
        text = safe_text((await self._client.event_text(event_id)).text)
        return replace(block, text=text, is_cut=False)

    async def restart_agent(self, actor_id: str) -> RestartReply:
        """Restart an agent's program."""
        return await self._client.restart_agent(actor_id, new_id("cmd"))

    async def load_full_text(self, block_id: BlockId) -> str:
        """Fetch the whole text of a block whose `is_cut` is true, put it in the view, return it
        (cleaned). An unknown block, or one that has no event yet, gives an empty text."""
        block = next((b for b in self.view.timeline.blocks if b.block_id == block_id), None)
        event_id = _event_of(block)
        if event_id is None:
            return ""
        text = safe_text((await self._client.event_text(event_id)).text)
        self._store.set(with_full_text(self.view, block_id, text))
        return text

    async def context_usage(self) -> ContextUsage:
        """How full an agent's context packet of the shown room is, and how its latest summing up
        stands, which the view then shows."""
        usage = await self._client.context_usage(self.view.room_id)
        self._store.set(with_upkeep(self.view, usage.room_id, usage.compaction))
        return usage


def _event_of(block: Block | None) -> str | None:
    if isinstance(block, MessageBlock):
        return block.event_id or None
    return block.response_event_id if isinstance(block, TurnBlock) else None
