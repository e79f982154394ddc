"""The line that tells how getting the bytes of a removed text out of the files stands.

Invariant: it says that nothing is left only when somebody looked. Counterpart: `workline`.
"""

from __future__ import annotations

from datetime import datetime

from groupx_shared.purgewords import STAGE_WORDS
from groupx_tui.state.model import ClientView, PurgeView
from groupx_tui.widgets.timeline import words
from groupx_tui.widgets.workline import WorkLine


class PurgeBar(WorkLine[PurgeView]):
    """At most two lines."""

    DEFAULT_CSS = "PurgeBar { max-height: 2; }"

    def __init__(self, report: str = "") -> None:
        """`report`: what people type to see all that became of it."""
        super().__init__()
        self._report = report

    def work_of(self, view: ClientView) -> PurgeView | None:
        """The purge."""
        return view.purge

    def is_bad(self, work: PurgeView) -> bool:
        """It failed, or some file still has the text."""
        return work.stage == "failed" or bool(work.left_in)

    def sentence_of(self, work: PurgeView, now: datetime) -> str:
        """Which stage, for how long, and how it ended."""
        return purge_sentence(work, now, self._report)


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
