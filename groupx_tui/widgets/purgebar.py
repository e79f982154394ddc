"""The line that tells how getting the bytes of a removed text out of the files stands.

Above the composer, never in the way. Invariant: it ticks only while one runs, and says that nothing
is left only when somebody looked. It goes by itself: soon after a good end, later after a bad one.
"""

from __future__ import annotations

from datetime import datetime

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from groupx_shared.purgewords import STAGE_WORDS
from groupx_tui.state.model import ClientView, PurgeView
from groupx_tui.widgets import upkeep
from groupx_tui.widgets.timeline import words


class PurgeBar(Static):
    """Full width, at most two lines; hidden while there is nothing to tell."""

    DEFAULT_CSS = """
    PurgeBar {
        height: auto;
        max-height: 2;
        width: 1fr;
        padding: 0 1;
        background: $panel;
        color: $text-muted;
        display: none;
        &.-bad { color: $text-warning; }
    }
    """

    def __init__(self, report: str = "") -> None:
        """`report`: what people type to see all that became of it."""
        super().__init__(markup=False)
        self.sentence = ""
        self._report = report
        self._purge: PurgeView | None = None
        self._is_live = True
        self._ticker: Timer | None = None

    def on_mount(self) -> None:
        self._ticker = self.set_interval(1, self._say, pause=True)
        self._say()

    def show(self, view: ClientView) -> None:
        """Take over the newer view."""
        is_live = view.connection == "live"
        if (view.purge, is_live) != (self._purge, self._is_live):
            self._purge, self._is_live = view.purge, is_live
            self._say()

    def _say(self) -> None:
        purge, now = self._purge, upkeep.moment_now()
        is_shown = purge is not None and self._is_live and _is_news(purge, now)
        self.sentence = purge_sentence(purge, now, self._report) if purge and is_shown else ""
        self.display = bool(self.sentence)
        self.set_class(purge is not None and _is_bad(purge), "-bad")
        self.update(Content(self.sentence))
        if self._ticker is not None:
            (self._ticker.resume if is_shown else self._ticker.pause)()


def _is_bad(purge: PurgeView) -> bool:
    return purge.stage == "failed" or bool(purge.left_in)


def _is_news(purge: PurgeView, now: datetime) -> bool:
    ended = words.parse_time(purge.ended_at or "")
    if purge.is_running or ended is None:
        return purge.is_running
    return (now - ended).total_seconds() < (upkeep.BAD_S if _is_bad(purge) else upkeep.GOOD_S)


def purge_sentence(purge: PurgeView, now: datetime, report: str) -> str:
    """What is told, in a sentence or two."""
    if purge.stage == "failed":
        return _failed(purge)
    where = f" · {report} shows all of it" if report else ""
    if purge.left_in:
        return f"✗ The text is removed, but still stands in {', '.join(purge.left_in)}{where}"
    if purge.stage == "done":
        took = words.between(purge.started_at, purge.ended_at)
        how_long = f" · {words.duration(took)}" if took is not None else ""
        left = "no byte of it is left in the files" if purge.is_checked else "the files are purged"
        return f"✓ The text is removed; {left}{how_long}{where}"
    steps = f" · {purge.steps:,} steps" if purge.steps else ""
    since = words.parse_time(purge.started_at or "")
    took = 0.0 if since is None else max(0.0, (now - since).total_seconds())
    return f"⟳ {STAGE_WORDS[purge.stage]}{steps} · {words.whole_seconds(took)}"


def _failed(purge: PurgeView) -> str:
    if not purge.is_removed:
        return f"✗ Not removed: {purge.problem}"
    return f"✗ The text is removed, but its bytes are still in the files: {purge.problem}"
