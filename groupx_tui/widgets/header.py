"""The first line: which room, how much of it is seen, and whether the server is there."""

from __future__ import annotations

from typing import Final

from textual.content import Content

from groupx_shared.names import unknown_name
from groupx_tui.state.model import ClientView, Connection
from groupx_tui.widgets.bar import Bar
from groupx_tui.widgets.timeline.messages import Position

CONNECTION_WORDS: Final[dict[Connection, tuple[str, str]]] = {
    "connecting": ("connecting", "$text-warning"),
    "live": ("live", "$text-success"),
    "reconnecting": ("reconnecting", "$text-warning"),
    "offline": ("offline", "$text-error"),
    "closed": ("closed", "$text-error"),
}


class RoomHeader(Bar):
    """Title at the left; place and connection at the right."""

    DEFAULT_CSS = """
    RoomHeader { background: $panel; color: $foreground; }
    """

    def __init__(self) -> None:
        super().__init__(name="header")
        self._view = ClientView()
        self._position = Position()

    def show(self, view: ClientView) -> None:
        """Take over the newer view."""
        self._view = view
        self._put()

    def show_position(self, position: Position) -> None:
        """The timeline shows other messages now."""
        self._position = position
        self._put()

    def _put(self) -> None:
        elsewhere = sum(
            room.unread for room in self._view.rooms if room.room_id != self._view.room_id
        )
        left = Content.assemble(("GroupX", "$muted"), "  ", (room_title(self._view), "bold"))
        word, style = CONNECTION_WORDS[self._view.connection]
        parts = [Content.styled(word, style)]
        if place := str(self._position):
            parts.insert(0, Content(place))
        if elsewhere:
            parts.insert(0, Content.styled(f"{elsewhere} new in other rooms", "$text-accent"))
        self.put(left, Content.styled("  ·  ", "$muted").join(parts))


def room_title(view: ClientView) -> str:
    """Title of the shown room; its id while the title is not known."""
    for room in view.rooms:
        if room.room_id == view.room_id:
            return f"{room.title} (archived)" if room.is_archived else room.title
    return view.room_id.removeprefix("room:")


def missing_room_sentence(view: ClientView) -> str:
    """Return what to say about a room that was asked for and is not there."""
    names = [room.room_id.removeprefix("room:") for room in view.rooms]
    sentence = unknown_name("room", view.missing_room.removeprefix("room:"), names)
    return f"{sentence} This is the main room; /new makes one."
