"""Keeps the composer's context meter, and how a summing up stands, in step with the shown room.

Invariant: one question at a time and at most one each `COOL_S`, only after something was said, a
summing up ended or the connection came back; no timer runs while nothing happens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from groupx_shared.errors import GroupXError
from groupx_tui.state.model import ClientView

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp

COOL_S: Final = 3.0
"""Several agents may speak at once; the meter need not follow each word."""


class ContextMeter:
    """Asks the server how full the agents' context of the shown room is."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._asked: tuple[str, int, str | None, int] | None = None
        self._is_cooling = False
        self._was_live = False
        self._connections = 0

    def follow(self, view: ClientView) -> None:
        """A newer view is shown."""
        is_live = view.connection == "live"
        self._connections += is_live and not self._was_live
        self._was_live = is_live
        ended_at = None if view.upkeep is None else view.upkeep.ended_at
        place = view.room_id, view.timeline.total_messages, ended_at, self._connections
        if self._asked is None or self._asked[0] != view.room_id:
            self._app.room.composer.show_context(None)
        if not is_live or place == self._asked or self._is_cooling:
            return
        self._asked, self._is_cooling = place, True
        self._app.run_worker(self._ask(view.room_id), group="commands")
        self._app.set_timer(COOL_S, self._cooled)

    def _cooled(self) -> None:
        self._is_cooling = False
        self.follow(self._app.view)

    async def _ask(self, room_id: str) -> None:
        try:
            usage = await self._app.session.context_usage()
        except GroupXError:
            return  # the next message asks again; a meter is not worth a sentence
        if usage.room_id == room_id == self._app.view.room_id:
            self._app.room.composer.show_context(usage.utilization_percent)
