"""What is being looked for in the room: how many hits, which one is shown, and the keys.

There only while something is looked for. Counterpart: `handlers.find`.
"""

from __future__ import annotations

from textual.content import Content

from groupx_tui.keymap import KeyMap
from groupx_tui.widgets.bar import Bar


class FindBar(Bar):
    """One line above the composer."""

    DEFAULT_CSS = """
    FindBar { background: $panel; color: $foreground; display: none; }
    """

    def __init__(self, keymap: KeyMap) -> None:
        super().__init__(name="find")
        self._keymap = keymap

    def say(self, query: str, state: str) -> None:
        """Show what is looked for and how that stands; an empty query takes the line away."""
        self.display = bool(query)
        left = Content.assemble(("search ", "$muted"), (query, "bold"), f"  {state}")
        keys = (("find.older", "older"), ("find.newer", "newer"), ("timeline.back", "end"))
        hints = [
            Content.assemble((self._keymap.shown(action), "$text-accent"), f" {word}")
            for action, word in keys
            if self._keymap.of(action)
        ]
        self.put(left, Content("   ").join(hints))
