"""The left panel: rooms with what is new in them, agents with what they are doing.

One list with one mark, so that up and down go through all of it. Status words are the server's own
(`AgentState`); no state is guessed here. Draws only when rooms or agents changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from groupx_shared.agentstatus import status_word
from groupx_tui.keymap import KeyMap
from groupx_tui.state.model import AgentView, ClientView, RoomEntry
from groupx_tui.widgets.binding import bind_place

STATUS_MARKS: Final = {
    "ready": ("◉", "$text-success"),
    "working": ("▸", "$text-warning"),
    "waiting": ("⋯", "$text-warning"),
    "rate_limited": ("⋯", "$text-warning"),
    "needs_login": ("✗", "$text-error"),
    "starting": ("↻", "$text-warning"),
    "retrying": ("↻", "$text-warning"),
    "failed": ("✗", "$text-error"),
    "stopped": ("◌", "$muted"),
    "disabled": ("-", "$muted"),
}
"""A mark and its colour for each status. None of them is ambiguous in width; the word is always
beside it, so that nothing depends on colour or font."""
UNKNOWN_MARK: Final = ("?", "$muted")
GAPS: Final = 3
"""Lines of the panel that are neither room nor agent: two headings and a gap."""
FEWEST_ROOMS: Final = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One line; without `key` it is a heading or empty."""

    content: Content
    right: Content
    key: str = ""
    """Room id or actor id."""


class SidePanel(Widget, can_focus=True):
    """Rooms and agents."""

    DEFAULT_CSS = """
    SidePanel {
        width: 28;
        height: 1fr;
        background: $surface;
        border-right: solid $panel;
        padding: 0 1;
        &:focus { border-right: solid $primary; }
    }
    """

    class RoomChosen(Message):
        """Go to this room."""

        def __init__(self, room_id: str) -> None:
            super().__init__()
            self.room_id = room_id

    class AgentChosen(Message):
        """Address this agent."""

        def __init__(self, agent: AgentView) -> None:
            super().__init__()
            self.agent = agent

    def __init__(self, keymap: KeyMap) -> None:
        super().__init__(id="panel")
        self._view = ClientView()
        self._marked = ""
        bind_place(self, "panel", keymap)

    def show(self, view: ClientView) -> None:
        """Take over the newer view."""
        old, self._view = self._view, view
        if (old.rooms, old.agents, old.room_id) == (view.rooms, view.agents, view.room_id):
            return
        if self._marked not in self._keys() or old.room_id != view.room_id:
            self._marked = view.room_id
        self.refresh()

    def move(self, lines: int) -> None:
        """Mark another line."""
        keys = self._keys()
        if not keys:
            return
        index = keys.index(self._marked) if self._marked in keys else 0
        self._marked = keys[min(max(0, index + lines), len(keys) - 1)]
        self.refresh()

    def open(self) -> None:
        """Go to the marked room, or address the marked agent."""
        self._choose(self._marked)

    def render(self) -> Content:
        width = self.content_size.width
        return Content("\n").join(self._line(row, width) for row in self._rows())

    def on_click(self, event: events.Click) -> None:
        """Choose the clicked line."""
        rows = self._rows()
        index = event.y - self.gutter.top
        if 0 <= index < len(rows) and rows[index].key:
            self._marked = rows[index].key
            self.refresh()
            self._choose(self._marked)

    def on_mouse_scroll_down(self) -> None:
        """Mark the line after."""
        self.move(1)

    def on_mouse_scroll_up(self) -> None:
        """Mark the line before."""
        self.move(-1)

    def on_focus(self) -> None:
        """The mark is drawn only while the keyboard is here."""
        self.refresh()

    def on_blur(self) -> None:
        """Hide the mark."""
        self.refresh()

    def _keys(self) -> list[str]:
        rooms = [room.room_id for room in listed_rooms(self._view)]
        return [*rooms, *(agent.actor_id for agent in self._view.agents)]

    def _rows(self) -> list[Row]:
        return panel_rows(self._view, self.content_size.height, self._marked)

    def _choose(self, key: str) -> None:
        agents = [agent for agent in self._view.agents if agent.actor_id == key]
        if agents:
            self.post_message(self.AgentChosen(agents[0]))
        elif any(room.room_id == key for room in self._view.rooms):
            self.post_message(self.RoomChosen(key))

    def _line(self, row: Row, width: int) -> Content:
        right = row.right.truncate(max(0, width - 4))
        left = row.content.truncate(width - right.cell_length, ellipsis=True, pad=True)
        line = Content.assemble(left, right)
        is_marked = bool(row.key) and row.key == self._marked and self.has_focus
        return line.stylize("reverse") if is_marked else line


def listed_rooms(view: ClientView) -> list[RoomEntry]:
    """The rooms of the list: the archived ones are not there, unless one is shown."""
    return [room for room in view.rooms if not room.is_archived or room.room_id == view.room_id]


def panel_rows(view: ClientView, height: int, marked: str = "") -> list[Row]:
    """The lines of the panel, top to bottom, for `height` lines.

    The agents are always there: when not all fits, the rooms give way, and those around the marked
    (else the shown) one stay."""
    rooms = listed_rooms(view)
    agents = [_agent_row(agent) for agent in view.agents]
    shown = _around(rooms, height - len(agents) - GAPS, marked or view.room_id)
    hidden = len(rooms) - len(shown)
    blank = Content("")
    title = Content.styled(f"Rooms ({hidden} more)" if hidden else "Rooms", "$muted")
    return [
        Row(title, blank),
        *(_room_row(room, is_shown=room.room_id == view.room_id) for room in shown),
        Row(blank, blank),
        Row(Content.styled("Agents", "$muted"), blank),
        *agents,
    ]


def _around(rooms: list[RoomEntry], count: int, room_id: str) -> list[RoomEntry]:
    """At most `count` rooms (but a few), among them the one called `room_id`."""
    count = max(FEWEST_ROOMS, count)
    ids = [room.room_id for room in rooms]
    index = ids.index(room_id) if room_id in ids else 0
    start = min(max(0, index - count // 2), max(0, len(rooms) - count))
    return rooms[start : start + count]


def _room_row(room: RoomEntry, *, is_shown: bool) -> Row:
    mark = Content.styled("› ", "$text-accent") if is_shown else Content("  ")
    title = Content.styled(room.title, "bold" if is_shown or room.unread else "")
    right = Content("")
    if room.unread:
        right = Content.styled(f" {room.unread}", "bold $text-accent")
    elif room.open_turns:
        right = Content.styled(" ▸", "$text-warning")
    return Row(Content.assemble(mark, title), right, room.room_id)


def _agent_row(agent: AgentView) -> Row:
    mark, style = STATUS_MARKS.get(agent.status, UNKNOWN_MARK)
    name = Content.styled(agent.name, "" if agent.enabled else "$muted")
    waiting = f" +{agent.queued_turns}" if agent.queued_turns else ""
    right = Content.assemble(" ", (f"{status_word(agent.status)}{waiting}", style))
    return Row(Content.assemble((mark, style), " ", name), right, agent.actor_id)
