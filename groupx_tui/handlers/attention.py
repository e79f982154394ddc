"""Gets the attention of a person who looks elsewhere, and shows in the window's title what is new.

Invariant: nothing rings while the terminal has the focus, nor twice within `COOL_S`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from groupx_tui.attention import MODES, Mode, attention, sentence_of, shows_progress
from groupx_tui.screens.chooser import Choice, Chooser
from groupx_tui.state.model import ClientView, NoticeBlock, TimelineView
from groupx_tui.widgets.header import room_title
from groupx_tui.widgets.timeline.news import is_own

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp

COOL_S: Final = 3.0
"""Several agents end at about the same time; one sign is enough."""


class Attention:
    """Follows the views of one app."""

    def __init__(self, app: GroupXApp, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._monotonic = monotonic
        self._rang_s = float("-inf")
        self._is_away = False
        self._read: tuple[str, int] | None = None
        """The room that was left, and its newest event then; None until it is known."""
        self._has_progress = shows_progress(os.environ)

    @property
    def mode(self) -> Mode:
        """What the person chose."""
        return self._app.preferences.chosen.attention or "auto"

    def follow(self, view: ClientView) -> None:
        """A newer view has come; `view.ended` are the turns that ended in it."""
        self._note_read(view)
        self._app.set_progress(is_working=self._shows_work(view))
        sentence = sentence_of(view.ended)
        if not sentence or not self._is_away or self.mode == "off":
            return
        if self._monotonic() - self._rang_s >= COOL_S:
            self._rang_s = self._monotonic()
            self._app.write_terminal(attention(sentence, self.mode, os.environ))

    def focus_changed(self, view: ClientView, *, has_focus: bool) -> None:
        """The terminal got or lost the focus."""
        self._is_away, self._read = not has_focus, None
        self._note_read(view)

    def title(self, view: ClientView) -> str:
        """What the window is called now: how much is new, and the room."""
        unread = sum(room.unread for room in view.rooms if room.room_id != view.room_id)
        if self._read is not None and self._read[0] == view.room_id:
            unread += new_since(view.timeline, self._read[1])
        title = f"GroupX · {room_title(view)}"
        return f"({unread}) {title}" if unread else title

    def choose(self, argument: str) -> None:
        """`auto`, `bell` or `off`; else choose."""
        modes = {str(mode): mode for mode in MODES}
        if argument in modes:
            self._keep(modes[argument])
            return
        choices = [Choice(mode, mode, about) for mode, about in MODES.items()]

        def done(key: str | None) -> None:
            if key is not None:
                self._keep(modes[key])

        title = "When you look elsewhere and an answer has come"
        self._app.push_screen(Chooser(self._app.keymap, title, choices, marked=self.mode), done)

    def _note_read(self, view: ClientView) -> None:
        """While the terminal has no focus, what comes from now on is new."""
        if self._is_away and view.ledger_id and self._read is None:
            self._read = view.room_id, view.timeline.last_seq

    def _shows_work(self, view: ClientView) -> bool:
        """Whether an agent works, as far as that is known now."""
        if not self._has_progress or self.mode == "off" or view.connection != "live":
            return False
        return any(turn.phase != "queued" for turn in view.open_turns)

    def _keep(self, mode: Mode) -> None:
        self._app.remember(attention=mode)
        self._app.tell(f"While you look elsewhere, the sign for an answer is: {MODES[mode]}.")
        self.follow(self._app.view)


def new_since(timeline: TimelineView, seq: int) -> int:
    """How many messages of others, and ends of turns, came after `seq`."""
    count = timeline.new_after
    for block in reversed(timeline.blocks):
        if block.order_seq and block.order_seq <= seq:
            break
        count += bool(block.order_seq) and not isinstance(block, NoticeBlock) and not is_own(block)
    return count
