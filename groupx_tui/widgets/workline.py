"""A line above the composer that tells how something stands that the server does beside the turns.

Never in the way. Invariant: it ticks only while there is something to tell, and goes by itself:
soon after a good end, later after a bad one. Counterparts: `upkeep` (summing a room up) and
`purgebar` (getting bytes out of the files), which say what of.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, Generic, Protocol, TypeVar

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from groupx_tui.state.model import ClientView
from groupx_tui.widgets.timeline import words

GOOD_S: Final = 20.0
BAD_S: Final = 300.0
"""How long an end is told."""


class Work(Protocol):
    """What has a beginning and, some time, an end."""

    @property
    def is_running(self) -> bool: ...

    @property
    def ended_at(self) -> str | None: ...


Shown = TypeVar("Shown", bound=Work)


def moment_now() -> datetime:
    """The present; replaced where a picture has to be the same each time."""
    return datetime.now(UTC)


class WorkLine(Static, Generic[Shown]):
    """Full width; hidden while there is nothing to tell."""

    DEFAULT_CSS = """
    WorkLine {
        height: auto;
        width: 1fr;
        padding: 0 1;
        background: $panel;
        color: $text-muted;
        display: none;
        &.-bad { color: $text-warning; }
    }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.sentence = ""
        self._work: Shown | None = None
        self._is_live = True
        self._ticker: Timer | None = None

    def work_of(self, view: ClientView) -> Shown | None:
        """What this line tells of."""
        raise NotImplementedError

    def is_bad(self, work: Shown) -> bool:
        """Whether it ended badly."""
        raise NotImplementedError

    def sentence_of(self, work: Shown, now: datetime) -> str:
        """What is told, in a sentence or two."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self._ticker = self.set_interval(1, self._say, pause=True)
        self._say()

    def show(self, view: ClientView) -> None:
        """Take over the newer view."""
        work, is_live = self.work_of(view), view.connection == "live"
        if (work, is_live) != (self._work, self._is_live):
            self._work, self._is_live = work, is_live
            self._say()

    def _say(self) -> None:
        work, now = self._work, moment_now()
        is_shown = work is not None and self._is_live and self._is_news(work, now)
        self.sentence = self.sentence_of(work, now) if work is not None and is_shown else ""
        self.display = bool(self.sentence)
        self.set_class(work is not None and self.is_bad(work), "-bad")
        self.update(Content(self.sentence))
        if self._ticker is not None:
            (self._ticker.resume if is_shown else self._ticker.pause)()

    def _is_news(self, work: Shown, now: datetime) -> bool:
        ended = words.parse_time(work.ended_at or "")
        if work.is_running or ended is None:
            return work.is_running
        return (now - ended).total_seconds() < (BAD_S if self.is_bad(work) else GOOD_S)
