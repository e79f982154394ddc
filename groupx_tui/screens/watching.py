"""Who works and who watches, side by side and live; one below the other where it is narrow.

Draws what it is handed. The marked side is the one that keys are about. Invariant: reading in one
side moves nothing in the other, and nothing in the room behind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static

from groupx_shared.text import safe_line
from groupx_tui.keymap import KeyMap
from groupx_tui.screens.dialog import Dialog
from groupx_tui.state.model import Block, ClientView, TimelineView, TurnBlock
from groupx_tui.state.watching import Watching, turns_in, watching
from groupx_tui.widgets.timeline import messages
from groupx_tui.widgets.timeline.widget import Timeline

WIDE: Final = 100
"""From this many columns on the two sides stand beside each other."""
Side = Literal["worker", "observer"]
HEADINGS: Final[dict[Side, str]] = {"worker": "works", "observer": "watches"}


@dataclass(frozen=True, slots=True)
class Deeds:
    """What keys do to the turn that is meant: the newest open one of the marked side."""

    nudge: Callable[[TurnBlock], object]
    steer: Callable[[TurnBlock], object]
    stop: Callable[[TurnBlock], object]
    nothing: Callable[[], object]
    """Nobody at that side is at work."""


class WatchScreen(Dialog[None]):
    """The two sides."""

    DEFAULT_CSS = """
    WatchScreen {
        .dialog-box { width: 100%; height: 100%; }
        .dialog-title { padding-bottom: 0; }
        .watch-sides { height: 1fr; layout: horizontal; }
        .watch-side { width: 1fr; height: 1fr; border-top: solid $panel; }
        .watch-side.-marked { border-top: solid $primary; }
        .watch-side Timeline { background: $surface; }
        #observer-side { margin-left: 1; }
        .watch-name { height: 1; color: $muted; }
        .-marked .watch-name { color: $foreground; text-style: bold; }
        &.-narrow .watch-sides { layout: vertical; }
        &.-narrow #observer-side { margin-left: 0; }
    }
    """

    def __init__(self, keymap: KeyMap, pair: Watching, view: ClientView, deeds: Deeds) -> None:
        hints = [
            f"{keymap.shown('dialog.next_part')} other side",
            f"{keymap.shown('dialog.nudge')} advise",
            f"{keymap.shown('dialog.steer')} steer",
            f"{keymap.shown('dialog.cancel')} stop",
            f"{keymap.shown('dialog.close')} close",
        ]
        super().__init__(keymap, "Who watches whom", "   ".join(hints))
        self._pair = pair.pair
        self._found = pair
        self._view = view
        self._deeds = deeds
        self.marked: Side = "worker"
        self.sides: dict[Side, Timeline] = {
            "worker": Timeline(is_part=True),
            "observer": Timeline(is_part=True),
        }
        self._names: dict[Side, Static] = {
            side: Static(classes="watch-name", markup=False) for side in self.sides
        }

    def body(self) -> ComposeResult:
        with Container(classes="watch-sides"):
            for side, lines in self.sides.items():
                lines.can_focus = False  # the keys are the dialog's; the wheel scrolls either
                with Vertical(id=f"{side}-side", classes="watch-side"):
                    yield self._names[side]
                    yield lines

    def on_mount(self) -> None:
        """Draw what there is."""
        for lines in self.sides.values():
            lines.action_toggle_threads()  # one side is one agent: there is nothing to fold away
        self._mark()
        self.take_view(self._view)

    def on_resize(self, event: events.Resize) -> None:
        """Beside each other, or one below the other."""
        self.set_class(event.size.width < WIDE, "-narrow")

    def take_view(self, view: ClientView) -> None:
        """Draw a newer view, unless the reader went to another room behind."""
        if view.room_id != self._view.room_id:
            return
        self._view = view
        self._found = watching(view.timeline.blocks, self._pair)
        parts: dict[Side, tuple[Block, ...]] = {
            "worker": self._found.worker,
            "observer": self._found.observer,
        }
        for side, blocks in parts.items():
            self.sides[side].show(
                TimelineView(view.room_id, blocks, changed=view.timeline.changed),
                is_live=view.connection == "live",
            )
            self._names[side].update(Content(self._heading(side, blocks)))

    def _heading(self, side: Side, blocks: tuple[Block, ...]) -> str:
        names = list(dict.fromkeys(turn.author.name for turn in turns_in(blocks)))
        mark = "▸ " if side == self.marked else "  "
        named = safe_line(", ".join(names), 60) or "nobody in what is loaded"
        return f"{mark}{HEADINGS[side]}: {named}"

    def _mark(self) -> None:
        for side in self.sides:
            self.query_one(f"#{side}-side").set_class(side == self.marked, "-marked")

    def move(self, lines: int) -> None:
        """Scroll the marked side by lines."""
        self.sides[self.marked].scroll_lines(lines)

    def page(self, pages: int) -> None:
        """Scroll the marked side by pages."""
        lines = self.sides[self.marked]
        (lines.action_page_up if pages < 0 else lines.action_page_down)()

    def accept(self) -> None:
        """Enter opens or closes what is folded in the marked side."""
        self.sides[self.marked].action_toggle_tools()
        self.sides[self.marked].action_toggle_reasoning()

    def offer(self, name: str) -> bool:
        """The other side; or advise, steer, stop who is at work in the marked one."""
        if name in ("next_part", "previous_part"):
            self.marked = "observer" if self.marked == "worker" else "worker"
            self._mark()
            self.take_view(self._view)
            return True
        deeds = {"nudge": self._deeds.nudge, "steer": self._deeds.steer, "cancel": self._deeds.stop}
        if name not in deeds:
            return False
        blocks = self._found.worker if self.marked == "worker" else self._found.observer
        open_ = [turn for turn in turns_in(blocks) if turn.is_open]
        if open_:
            deeds[name](open_[-1])
        else:
            self._deeds.nothing()
        return True

    def copy_text(self) -> tuple[str, str] | None:
        """The newest answer of the marked side."""
        blocks = self._found.worker if self.marked == "worker" else self._found.observer
        answers = [str(turn.text) for turn in turns_in(blocks) if len(turn.text)]
        return (answers[-1], "the newest answer") if answers else None

    @on(messages.PositionChanged)
    @on(messages.NeedBefore)
    @on(messages.NeedAfter)
    @on(messages.NeedEnd)
    @on(messages.SelectionMade)
    def _stays_here(
        self,
        event: messages.PositionChanged
        | messages.NeedBefore
        | messages.NeedAfter
        | messages.NeedEnd
        | messages.SelectionMade,
    ) -> None:
        event.stop()  # what these lines tell is not about the room's timeline
