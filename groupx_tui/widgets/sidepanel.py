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

from groupx_tui.keymap import KeyMap
from groupx_tui.state.model import AgentView, ClientView, RoomEntry
from groupx_tui.widgets.binding import bind_place

STATUS_MARKS: Final = {
    "ready": ("◉", "$text-success"),
    "working": ("▸", "$text-warning"),
    "waiting": ("⋯", "$text-warning"),
    "starting": ("↻", "$text-warning"),
    "retrying": ("↻", "$text-warning"),
    "failed": ("✗", "$text-error"),
    "stopped": ("◌", "$muted"),
    "disabled": ("-", "$muted"),
}
"""A mark and its colour for each status. None of them is ambiguous in width; the word is always
beside it, so that nothing depends on colour or font."""
UNKNOWN_MARK: Final = ("?", "$muted")


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
        self._rows: list[Row] = []
        self._marked = ""
        self._top = 0
        bind_place(self, "panel", keymap)

    def show(self, view: ClientView) -> None:
        """Take over the newer view."""
        old, self._view = self._view, view
        if (old.rooms, old.agents, old.room_id) == (view.rooms, view.agents, view.room_id):
            return
        self._rows = panel_rows(view)
        keys = [row.key for row in self._rows]
        if self._marked not in keys or old.room_id != view.room_id:
            self._marked = view.room_id
        self.refresh()

    def move(self, lines: int) -> None:
        """Mark another line."""
        keys = [row.key for row in self._rows if row.key]
        if not keys:
            return
        index = keys.index(self._marked) if self._marked in keys else 0
        self._marked = keys[min(max(0, index + lines), len(keys) - 1)]
        self._keep_in_view()
        self.refresh()

    def open(self) -> None:
        """Go to the marked room, or address the marked agent."""
        self._choose(self._marked)

    def render(self) -> Content:
        width, height = self.content_size
        shown = self._rows[self._top : self._top + height]
        return Content("\n").join(self._line(row, width) for row in shown)

    def on_click(self, event: events.Click) -> None:
        """Choose the clicked line."""
        index = self._top + event.y - self.gutter.top
        if 0 <= index < len(self._rows) and self._rows[index].key:
            self._marked = self._rows[index].key
            self.refresh()
            self._choose(self._marked)

    def on_mouse_scroll_down(self) -> None:
        """Show later lines."""
        self._scroll(3)

    def on_mouse_scroll_up(self) -> None:
        """Show earlier lines."""
        self._scroll(-3)

    def on_focus(self) -> None:
        """The mark is drawn only while the keyboard is here."""
        self._keep_in_view()
        self.refresh()

    def _choose(self, key: str) -> None:
        agents = [agent for agent in self._view.agents if agent.actor_id == key]
        if agents:
            self.post_message(self.AgentChosen(agents[0]))
        elif any(room.room_id == key for room in self._view.rooms):
            self.post_message(self.RoomChosen(key))

    def _scroll(self, lines: int) -> None:
        most = max(0, len(self._rows) - self.content_size.height)
        self._top = min(max(0, self._top + lines), most)
        self.refresh()

    def _keep_in_view(self) -> None:
        row = next((i for i, row in enumerate(self._rows) if row.key == self._marked), 0)
        height = max(1, self.content_size.height)
        self._top = min(max(self._top, row - height + 1), max(0, row - 1))

    def _line(self, row: Row, width: int) -> Content:
        right = row.right.truncate(max(0, width - 4))
        left = row.content.truncate(width - right.cell_length, ellipsis=True, pad=True)
        line = Content.assemble(left, right)
        is_marked = bool(row.key) and row.key == self._marked and self.has_focus
        return line.stylize("reverse") if is_marked else line


def panel_rows(view: ClientView) -> list[Row]:
    """The lines of the panel, top to bottom."""
    rooms = [room for room in view.rooms if not room.is_archived or room.room_id == view.room_id]
    blank = Content("")
    return [
        Row(Content.styled("Rooms", "$muted"), blank),
        *(_room_row(room, is_shown=room.room_id == view.room_id) for room in rooms),
        Row(blank, blank),
        Row(Content.styled("Agents", "$muted"), blank),
        *(_agent_row(agent) for agent in view.agents),
    ]


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
    right = Content.assemble(" ", (f"{agent.status}{waiting}", style))
    return Row(Content.assemble((mark, style), " ", name), right, agent.actor_id)
