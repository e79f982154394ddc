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

from collections.abc import Callable, Sequence
from typing import Literal

from groupx_shared.runtime import RuntimeFile
from groupx_shared.wire.replies import (
    CancelReply,
    ContextUsage,
    MessageAccepted,
    RestartReply,
    RoomInfo,
)
from groupx_shared.workspace import Workspace
from groupx_tui.client.http import ServerClient
from groupx_tui.state.model import BlockId, ClientView

OnChange = Callable[[ClientView], None]
FindServer = Callable[[], RuntimeFile | None]
"""Returns where the server is now; None when none runs (the session then waits and asks again)."""


class ClientSession:
    """The view of one workspace's server and all that can be done with it.

    `find_server` is asked at the start and at each reconnect; by default it reads the runtime
    file of `workspace`. `room_id` is the room shown first.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        room_id: str = "room:main",
        find_server: FindServer | None = None,
    ) -> None:
        raise NotImplementedError

    @property
    def view(self) -> ClientView:
        """The newest view; immutable."""
        raise NotImplementedError

    @property
    def http(self) -> ServerClient:
        """The typed endpoints, for what needs no view (search, export, one turn…)."""
        raise NotImplementedError

    async def run(self, on_change: OnChange) -> None:
        """Connect, follow the stream and reconnect, until cancelled.

        `on_change` is called on the loop, once for all events that were ready together; it should
        only note what changed. Never returns by itself; a lost server shows in `view.connection`.
        """
        raise NotImplementedError

    async def aclose(self) -> None:
        """Close the connections; call it after `run` was cancelled."""
        raise NotImplementedError

    async def send(
        self, text: str, to: Sequence[str] = (), reply_to_event_id: str | None = None
    ) -> MessageAccepted:
        """Post `text` to the shown room. It shows at once as a pending block, becomes a message
        when the server has it on disk, or carries `refusal` (see `dismiss`). A lost connection is
        retried with the same command id a few times, so it is never posted twice.

        Raises: RefusedError, ServerUnreachableError (then nobody knows whether it arrived; the
        pending block says so).
        """
        raise NotImplementedError

    def dismiss(self, block_id: BlockId) -> None:
        """Take a refused own message off the timeline (its text went back to the composer)."""
        raise NotImplementedError

    async def load_before(self) -> bool:
        """Load the page before the first loaded block; False when there is nothing more or a page
        is being loaded already."""
        raise NotImplementedError

    async def load_after(self) -> bool:
        """Load the page after the last loaded block; False as for `load_before`."""
        raise NotImplementedError

    async def jump(self, where: int | Literal["first", "last"]) -> BlockId | None:
        """Load the window around event `where` (its seq), or the first or last one, and return
        the block to show: the nearest one. Away from the end `timeline.has_more_after` is true
        and new events are only counted (`timeline.new_after`)."""
        raise NotImplementedError

    async def jump_to_event(self, event_id: str) -> BlockId | None:
        """As `jump`, to a known event (a search hit, a reply's source); switches the room when
        the event is in another one. Raises: RefusedError (UNKNOWN_EVENT)."""
        raise NotImplementedError

    def set_reader_side(self, side: Literal["start", "end"]) -> None:
        """Tell which half of the loaded blocks the reader looks at; what is dropped when too much
        is loaded is dropped at the other end. Cheap: call it on each scroll."""
        raise NotImplementedError

    async def switch_room(self, room_id: str) -> None:
        """Show another room, at its end; its unread count becomes 0."""
        raise NotImplementedError

    async def create_room(self, title: str) -> RoomInfo:
        """Make a room; it appears in `view.rooms`. Does not switch to it."""
        raise NotImplementedError

    async def change_room(
        self, room_id: str, *, title: str | None = None, archived: bool | None = None
    ) -> RoomInfo:
        """Rename, archive or restore a room."""
        raise NotImplementedError

    async def cancel(self, turn_id: str) -> CancelReply:
        """Ask to cancel a turn; `accepted` is False when it had ended already."""
        raise NotImplementedError

    async def restart_agent(self, actor_id: str) -> RestartReply:
        """Restart an agent's program."""
        raise NotImplementedError

    async def load_full_text(self, block_id: BlockId) -> str:
        """Fetch the whole text of a block whose `is_cut` is true, put it in the view, return it
        (cleaned)."""
        raise NotImplementedError

    async def context_usage(self) -> ContextUsage:
        """How full an agent's context packet of the shown room is."""
        raise NotImplementedError
