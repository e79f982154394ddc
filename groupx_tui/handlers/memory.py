"""What is remembered: the list, one record, its history; adding, correcting, pinning, taking back.

Invariant: the list shows what the server holds: after each change it is read anew.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from groupx_shared.ids import USER_WEB
from groupx_tui.screens.chooser import Chooser, Use
from groupx_tui.screens.record import history_screen, record_choice, record_screen
from groupx_tui.screens.write import Write
from groupx_tui.state.model import BlockId

if TYPE_CHECKING:
    from groupx_shared.wire.memory import MemoryList, MemoryRecord
    from groupx_tui.app import GroupXApp

EMPTY: Final = "Nothing is remembered like that."


class MemoryHandlers:
    """`memory.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._list: Chooser | None = None
        self._records: dict[str, MemoryRecord] = {}
        self._with_history = False

    def browse(self, argument: str) -> None:
        """Show all that is remembered, newest first."""
        self._list, self._with_history = None, False
        self._read()

    # --- the list

    def _read(self) -> None:
        reading = self._app.session.records.memories(with_history=self._with_history)
        self._app.attempt(reading, self._show_list)

    def _show_list(self, found: MemoryList) -> None:
        self._records = {record.memory_id: record for record in found.items}
        names = self._names()
        choices = [record_choice(record, names) for record in found.items]
        if self._list is not None and self._list.is_attached:
            self._list.replace_choices(self._title(found), choices)
            return
        offers: dict[str, Callable[[str], object]] = {
            "add": self._add,
            "history": self._toggle_history,
            "pin": partial(self._with_record, self._pin),
            "correct": partial(self._with_record, self._correct),
            "retract": partial(self._with_record, self._retract),
        }
        self._list = Chooser(
            self._app.keymap,
            self._title(found),
            choices,
            empty=EMPTY,
            use=Use(
                offers,
                partial(self._with_record, self._show),
                is_wide=True,
                words={"retract": "take back"},
            ),
        )
        self._app.push_screen(self._list)

    def _title(self, found: MemoryList) -> str:
        count = len(found.items)
        kind = "with what was corrected and taken back" if self._with_history else "what counts now"
        more = "the newest " if found.next_cursor else ""
        return f"Memory · {more}{count} · {kind}"

    def _names(self) -> dict[str, str]:
        view = self._app.view
        names = {agent.actor_id: agent.name for agent in view.agents}
        names |= {room.room_id: room.title for room in view.rooms}
        return {**names, USER_WEB: "You"}

    def _toggle_history(self, memory_id: str) -> None:
        self._with_history = not self._with_history
        self._read()

    def _with_record(self, do: Callable[[MemoryRecord], object], memory_id: str) -> None:
        if memory_id in self._records:
            do(self._records[memory_id])

    # --- one record

    def _show(self, record: MemoryRecord) -> None:
        offers: dict[str, Callable[[], object]] = {"history": partial(self._history, record)}
        if record.source_event_id is not None:
            offers["source"] = partial(self._go_to_source, record.source_event_id)
        if record.status == "active":
            offers["pin"] = partial(self._pin, record)
            offers["correct"] = partial(self._correct, record)
            offers["retract"] = partial(self._retract, record)
        self._app.push_screen(record_screen(self._app.keymap, record, self._names(), offers))

    def _history(self, record: MemoryRecord) -> None:
        def show(found: MemoryList) -> None:
            self._app.push_screen(history_screen(self._app.keymap, found.items, self._names()))

        self._app.attempt(self._app.session.records.versions(record.memory_id), show)

    def _go_to_source(self, event_id: str) -> None:
        self._app.close_dialogs()
        self._app.attempt(self._app.session.jump_to_event(event_id), self._arrived)

    def _arrived(self, block_id: BlockId | None) -> None:
        self._app.draw_view()
        self._app.room.timeline.focus()
        if block_id is None or not self._app.room.timeline.jump_to(block_id):
            self._app.tell("That message is not there any more.")

    # --- changes

    def _add(self, memory_id: str) -> None:
        def written(text: str | None) -> None:
            if text:
                room_id = self._app.view.room_id
                self._change(self._app.session.records.remember(room_id, "note", text))

        self._app.push_screen(Write(self._app.keymap, "Remember for this room"), written)

    def _correct(self, record: MemoryRecord) -> None:
        def written(text: str | None) -> None:
            if text and text != record.content:
                self._change(self._app.session.records.correct(record.memory_id, text))

        title = "Correct it; the old text stays in the history"
        self._app.push_screen(Write(self._app.keymap, title, record.content), written)

    def _pin(self, record: MemoryRecord) -> None:
        pinned = record.pinned_at is None
        self._change(self._app.session.records.pin(record.memory_id, pinned=pinned))

    def _retract(self, record: MemoryRecord) -> None:
        self._change(self._app.session.records.retract(record.memory_id))

    def _change(self, work: Coroutine[Any, Any, MemoryRecord]) -> None:
        self._app.attempt(work, lambda record: self._read())
