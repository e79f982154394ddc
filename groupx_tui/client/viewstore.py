"""The one place that holds the client's view while the session runs.

The invariant: each change of the view is followed by exactly one call of `on_change`, and the
`timeline.changed` it sees is that of this change alone.
"""

from __future__ import annotations

from collections.abc import Callable

from groupx_tui.state.model import ClientView
from groupx_tui.state.reduce import untouched

OnChange = Callable[[ClientView], None]


def _nobody(view: ClientView) -> None:
    """Nobody watches yet."""


class ViewStore:
    """Holds the view; all on one event loop, so a change is never interrupted."""

    def __init__(self, view: ClientView) -> None:
        self._view = view
        self.on_change: OnChange = _nobody

    @property
    def view(self) -> ClientView:
        """The newest view, with an empty `changed`."""
        return self._view

    def set(self, view: ClientView) -> None:
        """Take the next view and tell it, if it differs."""
        if view is self._view:
            return
        self._view = untouched(view)
        self.on_change(view)

    def set_quietly(self, view: ClientView) -> None:
        """Take a view that draws the same."""
        self._view = view
