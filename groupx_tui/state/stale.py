"""When a list that was read from the server is to be read anew. Pure."""

from __future__ import annotations

from collections.abc import Callable

from groupx_tui.state.model import ClientView
from groupx_tui.state.removal import AfterRemovals


class WhenStale:
    """Has what shows texts read anew: when some were removed since `view`, and when the server
    answers again after it did not."""

    def __init__(self, view: ClientView, read_anew: Callable[[], object]) -> None:
        self._after_removals = AfterRemovals(view, read_anew)
        self._was_live = view.connection == "live"
        self._read_anew = read_anew

    def __call__(self, view: ClientView) -> None:
        """A newer view."""
        is_live = view.connection == "live"
        is_back, self._was_live = is_live and not self._was_live, is_live
        if is_back:
            self._read_anew()
        self._after_removals(view)
