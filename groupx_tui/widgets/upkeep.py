"""The line that tells how a summing up of the room stands, above the composer. Never in the way.

Invariant: it ticks only while one runs, and goes by itself: soon after a good end, later after a
bad one, which also stands in the failed turn or is told by `groupx context usage`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from groupx_shared.english import counted
from groupx_tui.state.model import ClientView, UpkeepView
from groupx_tui.widgets.timeline import words

GOOD_S: Final = 20.0
BAD_S: Final = 300.0
"""How long an end is told."""
MAX_PROBLEM: Final = 400


class UpkeepBar(Static):
    """Full width, at most three lines; hidden while there is nothing to tell."""

    DEFAULT_CSS = """
    UpkeepBar {
        height: auto;
        max-height: 3;
        width: 1fr;
        padding: 0 1;
        background: $panel;
        color: $text-muted;
        display: none;
        &.-bad { color: $text-warning; }
    }
    """

    def __init__(self, preview_key: str = "") -> None:
        """`preview_key`: what people call the key that shows what agents are told."""
        super().__init__(markup=False)
        self.sentence = ""
        self._key = preview_key
        self._upkeep: UpkeepView | None = None
        self._is_live = True
        self._ticker: Timer | None = None

    def on_mount(self) -> None:
        self._ticker = self.set_interval(1, self._say, pause=True)
        self._say()

    def show(self, view: ClientView) -> None:
        """Take over the newer view."""
        is_live = view.connection == "live"
        if (view.upkeep, is_live) != (self._upkeep, self._is_live):
            self._upkeep, self._is_live = view.upkeep, is_live
            self._say()

    def _say(self) -> None:
        upkeep, now = self._upkeep, moment_now()
        is_shown = upkeep is not None and self._is_live and _is_news(upkeep, now)
        self.sentence = upkeep_sentence(upkeep, now, self._key) if upkeep and is_shown else ""
        self.display = bool(self.sentence)
        self.set_class(upkeep is not None and _is_bad(upkeep), "-bad")
        self.update(Content(self.sentence))
        if self._ticker is not None:
            (self._ticker.resume if is_shown else self._ticker.pause)()


def moment_now() -> datetime:
    """The present; replaced where a picture has to be the same each time."""
    return datetime.now(UTC)


def _is_bad(upkeep: UpkeepView) -> bool:
    return upkeep.phase in ("failed", "interrupted") and not upkeep.has_no_writer


def _is_news(upkeep: UpkeepView, now: datetime) -> bool:
    ended = words.parse_time(upkeep.ended_at or "")
    if upkeep.is_running or ended is None:
        return upkeep.is_running
    return (now - ended).total_seconds() < (BAD_S if _is_bad(upkeep) else GOOD_S)


def upkeep_sentence(upkeep: UpkeepView, now: datetime, key: str) -> str:
    """What is told, in a sentence or two."""
    what = _what(upkeep)
    if upkeep.phase == "completed":
        who = f"{upkeep.writer} summed up" if upkeep.writer else "Summed up"
        where = f" · {key} shows it" if key else ""
        return f"✓ {who} {what} in {upkeep.summary_characters:,}{where}"
    if upkeep.has_no_writer:
        return "Nobody here writes summaries: agents are told the newest messages that fit"
    if upkeep.phase in ("failed", "interrupted"):
        word = "Not summed up" if upkeep.phase == "failed" else "Summing up was interrupted"
        return f"✗ {word}: {upkeep.problem[:MAX_PROBLEM]} /compact tries again"
    parts = [_doing(upkeep)]
    if upkeep.parts > 1:
        parts.append(f"part {upkeep.part} of {upkeep.parts}")
    if upkeep.phase == "retrying":
        parts.append(f"try {upkeep.attempt}")
    since = words.parse_time(upkeep.started_at or "")
    if since is not None:
        parts.append(words.whole_seconds(max(0.0, (now - since).total_seconds())))
    return " · ".join(parts)


def _what(upkeep: UpkeepView) -> str:
    count = counted(upkeep.messages, "message")
    return f"{count} ({upkeep.characters:,} characters)" if upkeep.characters else count


def _doing(upkeep: UpkeepView) -> str:
    count = counted(upkeep.messages, "message")
    if upkeep.step == "days":
        return f"⟳ Agents write down their days before {count} are summed up"
    return f"⟳ {upkeep.writer} sums up {count}" if upkeep.writer else f"⟳ Summing up {count}"
