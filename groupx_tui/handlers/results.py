"""What takes a moment to find: said at once, looked for beside everything else, shown calmly.

Invariant: a result opens by itself only when nothing was done since it was asked for. Whoever has
begun to write, to read or to look elsewhere goes on with it and is told that it is ready; asking
once more shows it. Counterpart: `widgets.workbar`, which tells.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from groupx_shared.errors import GroupXError

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp

Result = TypeVar("Result")


class Results(Generic[Result]):
    """Results of one kind; the latest that nobody has seen is kept."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._working: dict[str, str] = {}
        """What is looked for, with its title."""
        self._ready: Callable[[], object] | None = None
        """Shows what the bar offers."""

    def fetch(
        self,
        title: str,
        how: str,
        work: Callable[[], Coroutine[Any, Any, Result]],
        show: Callable[[Result], object],
    ) -> None:
        """Do `work` and `show` what it gives. `how`: what people do to ask for the same again."""
        bar = self._app.room.workbar
        if bar.offered == how and self._ready is not None:
            bar.clear()
            self._ready()
            return
        if how in self._working:
            return
        self._working[how] = title
        before = self._doing()
        bar.works(title)

        def done(result: Result) -> None:
            self._end(how)
            if self._doing() == before:
                show(result)
                return
            self._ready = lambda: show(result)
            bar.ready(title, how)

        def failed(error: GroupXError) -> None:
            self._end(how)

        self._app.attempt(work(), done, failed)

    def _end(self, how: str) -> None:
        del self._working[how]
        title = next(iter(self._working.values()), "")
        if title:
            self._app.room.workbar.works(title)
        else:
            self._app.room.workbar.clear()

    def _doing(self) -> tuple[object, ...]:
        """Where the person is and what is written there."""
        room = self._app.room
        editor = room.composer.editor
        return self._app.screen, room.focused, self._app.view.room_id, editor.text, editor.selection
