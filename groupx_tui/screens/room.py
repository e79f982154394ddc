"""The room: header, rooms and agents, timeline, composer, key line.

Wiring only: takes a newer `ClientView` in `show` and hands its parts to the widgets. Invariant:
below `WIDE` columns the side panel is folded unless the person asked for it, and nothing but a
person's own doing moves what is being read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widget import Widget

from groupx_tui.actions import Where
from groupx_tui.keymap import KeyMap
from groupx_tui.state.model import ClientView
from groupx_tui.widgets.banner import Banner
from groupx_tui.widgets.binding import bind_place
from groupx_tui.widgets.composer.composer import Composer
from groupx_tui.widgets.composer.popup import CompletionPopup
from groupx_tui.widgets.findbar import FindBar
from groupx_tui.widgets.header import RoomHeader
from groupx_tui.widgets.keybar import KeyBar, ListState
from groupx_tui.widgets.purgebar import PurgeBar
from groupx_tui.widgets.sidepanel import SidePanel
from groupx_tui.widgets.timeline.hints import KeyHints
from groupx_tui.widgets.timeline.widget import Timeline
from groupx_tui.widgets.upkeep import UpkeepBar
from groupx_tui.widgets.workbar import WorkBar

WIDE: Final = 100
"""From this many columns on the side panel shows by itself."""
BUILTIN: Final = "builtin"
ADD_AGENTS: Final = "Only the built-in guide is here: /agents-setup adds an agent's program."


class RoomScreen(Screen[None], inherit_bindings=False):
    """The main screen."""

    AUTO_FOCUS = "#editor"

    DEFAULT_CSS = """
    RoomScreen {
        layers: base popup;
        background: $background;
        #middle { height: 1fr; }
        Timeline { width: 1fr; height: 1fr; }
        ToastRack { dock: top; align: right top; margin: 1 1 0 0; }
        Toast { width: auto; max-width: 60; padding: 0 1; margin: 0 0 1 0; }
    }
    """

    def __init__(
        self,
        keymap: KeyMap,
        act: Callable[[str], Awaitable[None]],
        *,
        view: ClientView,
        panel: bool | None = None,
    ) -> None:
        """`act` does the action of an id; `view` is shown until the server answers; `panel`:
        whether the person wants the side panel."""
        super().__init__()
        self._wants_panel = panel
        self.header = RoomHeader()
        self.panel = SidePanel(keymap)
        self.timeline = Timeline(id="timeline", keys=key_hints(keymap))
        self.findbar = FindBar(keymap)
        self.banner = Banner(keymap.shown("server.start"))
        self.upkeep = UpkeepBar(keymap.shown("context.preview"))
        self.purgebar = PurgeBar("/removed")
        self.workbar = WorkBar()
        self.popup = CompletionPopup()
        self.composer = Composer(keymap, self.popup, act)
        self.keybar = KeyBar(keymap)
        self._view = view
        bind_place(self, "anywhere", keymap)
        bind_place(self.timeline, "timeline", keymap)

    def compose(self) -> ComposeResult:
        yield self.header
        with Horizontal(id="middle"):
            yield self.panel
            yield self.timeline
        yield self.findbar
        yield self.upkeep
        yield self.purgebar
        yield self.workbar
        yield self.banner
        yield self.composer
        yield self.keybar
        yield self.popup

    def on_mount(self) -> None:
        """Draw the state before the server answered."""
        self.panel.display = self.shows_panel
        self.timeline.visible = False
        self.show(self._view)

    def show(self, view: ClientView) -> None:
        """Draw a newer view."""
        self._view = view
        self.header.show(view)
        self.upkeep.show(view)
        self.purgebar.show(view)
        self.banner.show(view)
        self.panel.show(view)
        self.composer.show(view)
        if view.ledger_id:
            # Before, nobody knows whether the room is empty, so nothing is said about it.
            self.timeline.visible = True
            self.timeline.hint_when_empty(*_first_steps(view))
            self.timeline.show(view.timeline, is_live=view.connection == "live")
        self._draw_keys()

    @property
    def place(self) -> Where:
        """Where the keyboard is."""
        if self.focused is self.timeline:
            return "timeline"
        if self.focused is self.panel:
            return "panel"
        return "composer"

    @property
    def shows_panel(self) -> bool:
        """Whether the side panel is there."""
        return self.app.size.width >= WIDE if self._wants_panel is None else self._wants_panel

    def toggle_panel(self) -> bool:
        """Fold or unfold the side panel; returns whether it shows now."""
        self._wants_panel = not self.shows_panel
        self._fold()
        return self._wants_panel

    def focus_part(self, step: int) -> None:
        """Give the keyboard to the next (1) or previous (-1) part."""
        parts: list[Widget] = [self.composer.editor, self.timeline]
        if self.panel.display:
            parts.append(self.panel)
        here = parts.index(self.focused) if self.focused in parts else 0
        self.set_focus(parts[(here + step) % len(parts)])  # at once: see Editor._on_key

    def on_resize(self, event: events.Resize) -> None:
        """Fold or unfold the panel with the width."""
        self._fold()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Other keys work now."""
        self._draw_keys()

    @on(Composer.Resized)
    def _composer_resized(self, event: Composer.Resized) -> None:
        # The popup stands on the composer, whatever its height.
        self.popup.styles.margin = (0, 0, event.height + self.keybar.size.height, 0)

    @on(CompletionPopup.Changed)
    def _candidates_changed(self) -> None:
        self._draw_keys()

    @on(CompletionPopup.Taken)
    def _candidate_clicked(self, event: CompletionPopup.Taken) -> None:
        self.composer.take(event.candidate)

    def _fold(self) -> None:
        self.panel.display = self.shows_panel
        if not self.panel.display and self.focused is self.panel:
            self.composer.editor.focus()

    def _draw_keys(self) -> None:
        is_running = any(agent.active_turn_id for agent in self._view.agents)
        state: ListState = "open" if self.composer.takes_candidate else "typed"
        if not self.popup.is_open:
            state = "closed"
        self.keybar.show(self.place, is_running=is_running, list_state=state)


def key_hints(keymap: KeyMap) -> KeyHints:
    """What the timeline calls the keys that it hints at."""
    return KeyHints(
        keymap.shown("turn.retry"), keymap.shown("turn.continue"), keymap.shown("turn.cancel")
    )


def _first_steps(view: ClientView) -> list[str]:
    """What to do where no agent's program is set up yet."""
    drivers = {agent.driver for agent in view.agents if agent.enabled}
    return [ADD_AGENTS] if drivers == {BUILTIN} else []
