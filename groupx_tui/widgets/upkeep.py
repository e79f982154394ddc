"""The line that tells how a summing up of the room stands.

A bad end also stands in the failed turn, or is told by `groupx context usage`. Counterpart:
`workline`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from groupx_shared.english import counted
from groupx_tui.state.model import ClientView, UpkeepView
from groupx_tui.widgets.timeline import words
from groupx_tui.widgets.workline import WorkLine

MAX_PROBLEM: Final = 400


class UpkeepBar(WorkLine[UpkeepView]):
    """At most three lines."""

    DEFAULT_CSS = "UpkeepBar { max-height: 3; }"

    def __init__(self, preview_key: str = "") -> None:
        """`preview_key`: what people call the key that shows what agents are told."""
        super().__init__()
        self._key = preview_key

    def work_of(self, view: ClientView) -> UpkeepView | None:
        """The room's summing up."""
        return view.upkeep

    def is_bad(self, work: UpkeepView) -> bool:
        """It failed; that nobody writes summaries is no failure."""
        return work.phase in ("failed", "interrupted") and not work.has_no_writer

    def sentence_of(self, work: UpkeepView, now: datetime) -> str:
        """Who writes, which part of how many, for how long, and how it ended."""
        return upkeep_sentence(work, now, self._key)


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
