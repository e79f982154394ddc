"""What is remembered, memory and identity alike: the list, one record, its history, its source.

Invariant: the list shows what the server holds: what is sought is asked of it, and after each
change the list is read anew. Counterpart: `handlers.memoryedit`, which changes records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from groupx_shared.ids import USER_WEB
from groupx_tui.handlers.memoryedit import MemoryEdit
from groupx_tui.screens.browser import Browser, Reading, filter_words, filters, title_of
from groupx_tui.screens.chooser import Chooser, Use
from groupx_tui.screens.record import Names, history_screen, record_choice, record_screen
from groupx_tui.state.model import BlockId
from groupx_tui.state.remembered import Kept, Sought
from groupx_tui.state.stale import WhenStale

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp
    from groupx_tui.client.shelf import Shelf

NO_SOURCE = "It names no message that it comes from: a person or a tool wrote it down as it is."


class MemoryHandlers:
    """`memory.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._edit = MemoryEdit(app, self._changed)
        self._list: Browser | None = None
        self._sought = Sought()
        self._shelf: Shelf | None = None
        self._kept: dict[str, Kept] = {}
        self._is_reading = False
        self._wanted = ""
        """What was written or corrected just now: it gets the mark."""

    def browse(self, argument: str) -> None:
        """Show what is remembered, newest first; with words, what they find."""
        self._sought = Sought(words=argument.strip())
        self._list = Browser(
            self._app.keymap,
            Use(
                self._offers(),
                partial(self._with_record, self._show),
                is_wide=True,
                sees=WhenStale(self._app.view, self._again),
                words={"retract": "take back", "next_part": "narrow", "redact": "remove for good"},
            ),
            Reading(self._look_for, self._read_on),
            self._sought.words,
        )
        self._app.push_screen(self._list)

    def _offers(self) -> dict[str, Callable[[str], object]]:
        return {
            "next_part": lambda record_id: self._narrow(),
            "add": lambda record_id: self._edit.add(self._sought, self._names()),
            "history": partial(self._with_record, self._history),
            "source": partial(self._with_record, self._source),
            "pin": partial(self._with_record, self._edit.pin),
            "correct": partial(self._with_record, self._correct),
            "retract": partial(self._with_record, self._edit.retract),
            "redact": partial(self._with_record, self._redact),
        }

    # --- the list

    def _look_for(self, words: str) -> None:
        self._seek(replace(self._sought, words=words))

    def _seek(self, sought: Sought) -> None:
        self._sought = sought
        self._again()

    def _changed(self, record_id: str) -> None:
        """Show what became of a record."""
        self._wanted = record_id
        self._again()

    def _again(self) -> None:
        """Read from the beginning."""
        shelf = self._shelf = self._app.session.records.shelf(self._sought)
        self._kept, self._is_reading = {}, False
        self._read_on()
        if not shelf.has_more:
            self._draw()

    def _read_on(self) -> None:
        """Read the next records, unless that is being done or there are none."""
        shelf = self._shelf
        if shelf is None or self._is_reading or not shelf.has_more:
            return
        self._is_reading = True

        def show(found: tuple[Kept, ...]) -> None:
            if shelf is self._shelf:  # else something else is sought by now
                self._is_reading = False
                self._kept |= {kept.record_id: kept for kept in found}
                self._draw()

        def failed(error: Exception) -> None:
            if shelf is self._shelf:
                self._is_reading = False
                if self._list is not None and self._list.is_attached:
                    self._list.say_unread()

        self._app.attempt(shelf.more(), show, failed)

    def _draw(self) -> None:
        if self._list is None or not self._list.is_attached or self._shelf is None:
            return
        names = self._names()
        title = title_of(len(self._kept), has_more=self._shelf.has_more)
        choices = [record_choice(kept, names) for kept in self._kept.values()]
        shown = filter_words(self._sought, names)
        self._list.show_records(title, shown, choices, self._wanted)
        self._wanted = "" if self._wanted in self._kept else self._wanted

    def _names(self) -> Names:
        view = self._app.view
        names = {room.room_id: room.title for room in view.rooms}
        names |= {agent.actor_id: agent.name for agent in view.agents}
        return {**names, USER_WEB: "You"}

    def _narrow(self) -> None:
        lines = list(filters(self._sought, self._names()))
        wanted = {choice.key: sought for choice, sought in lines}

        def chosen(key: str | None) -> None:
            if key is not None:
                self._seek(wanted[key])

        choices = [choice for choice, _ in lines]
        self._app.push_screen(Chooser(self._app.keymap, "Show only", choices), chosen)

    # --- one record

    def _with_record(self, do: Callable[[Kept], object], record_id: str) -> None:
        if record_id in self._kept:
            do(self._kept[record_id])

    def _show(self, kept: Kept) -> None:
        offers: dict[str, Callable[[], object]] = {"history": partial(self._history, kept)}
        if kept.source_event_id is not None:
            offers["source"] = partial(self._source, kept)
        if kept.status == "active":
            if not kept.is_identity:
                offers["pin"] = partial(self._edit.pin, kept)
            if kept.place != "dated":
                offers["correct"] = partial(self._correct, kept)
            offers["retract"] = partial(self._edit.retract, kept)
        offers["redact"] = partial(self._redact, kept)
        self._app.push_screen(record_screen(self._app.keymap, kept, self._names(), offers))

    def _correct(self, kept: Kept) -> None:
        self._edit.correct(kept, self._names())

    def _redact(self, kept: Kept) -> None:
        self._app.handlers.removal.record(kept, self._names())

    def _history(self, kept: Kept) -> None:
        def show(versions: list[Kept]) -> None:
            self._app.push_screen(history_screen(self._app.keymap, versions, self._names()))

        self._app.attempt(self._app.session.records.versions(kept), show)

    def _source(self, kept: Kept) -> None:
        if kept.source_event_id is None:
            self._app.tell(NO_SOURCE)
            return
        self._app.close_dialogs()
        self._app.attempt(self._app.session.jump_to_event(kept.source_event_id), self._arrived)

    def _arrived(self, block_id: BlockId | None) -> None:
        self._app.draw_view()
        self._app.room.timeline.focus()
        if block_id is None or not self._app.room.timeline.jump_to(block_id):
            self._app.tell("That message is not there any more.")
