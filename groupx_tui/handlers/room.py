"""Rooms: going to one, making, naming and archiving; and what is remembered of each.

Owns the drafts and the input histories of the rooms seen in this window, and up to where each was
read. Invariant: whatever switches the room, the old room's draft is kept before the new one's is
shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from groupx_shared.ids import MAIN_ROOM
from groupx_shared.names import unknown_name
from groupx_tui.matching import best_matches
from groupx_tui.screens.ask import Ask
from groupx_tui.screens.chooser import Choice, Chooser
from groupx_tui.screens.confirm import Confirm
from groupx_tui.state.model import ClientView, RoomEntry
from groupx_tui.widgets.composer.history import InputHistory
from groupx_tui.widgets.header import missing_room_sentence, room_title

if TYPE_CHECKING:
    from groupx_shared.wire.replies import RoomInfo
    from groupx_tui.app import GroupXApp


class RoomHandlers:
    """`room.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._shown = ""
        self._missed = ""
        self._histories: dict[str, InputHistory] = {}
        self._read_to: dict[str, int] = {}
        self._away_since: int | None = None
        """Newest event when the terminal lost the focus; None while it has it, or once marked."""

    # --- told by the app

    def before_show(self, view: ClientView) -> None:
        """A newer view is about to be drawn: when it is of another room, bring its draft."""
        if view.room_id == self._shown:
            return
        if self._shown:
            self.keep_draft(self._app.room.composer.text)
        self._shown = view.room_id
        self._app.handlers.searching.left(view.room_id)
        draft = self._app.drafts.load(view.room_id)
        self._app.room.composer.open_room(draft, self._history_of(view.room_id))
        self._app.handlers.block.room_opened(view.room_id)

    def after_show(self, view: ClientView) -> None:
        """It is drawn: mark what is new since this room, or the terminal, was left."""
        self._tell_missing(view)
        self._app.handlers.themes.follow()
        read_to = self._read_to.pop(view.room_id, self._away_since)
        if read_to is not None and view.timeline.last_seq > read_to:
            self._away_since = None
            self._app.room.timeline.mark_unread(read_to)

    def looked_away(self, view: ClientView, *, is_away: bool) -> None:
        """The terminal lost the focus (or has it again): what comes now is new."""
        self._away_since = view.timeline.last_seq if is_away and view.ledger_id else None

    def keep_draft(self, text: str) -> None:
        """What is written in the shown room is this now."""
        if self._shown:
            self._app.drafts.save(self._shown, text)

    def sent(self) -> None:
        """A message went out: the draft is done, and what was new has been seen."""
        self.keep_draft("")
        self._app.room.timeline.mark_unread(None)

    # --- actions

    def switch(self, argument: str) -> None:
        """Go to the room of this name, else choose one."""
        rooms = [room for room in self._app.view.rooms if not room.is_archived]
        if argument:
            self._go_by_name(argument, rooms)
            return
        self._choose("Go to a room", rooms, self.go)

    def next(self, argument: str) -> None:
        """The room below."""
        self._step(1)

    def previous(self, argument: str) -> None:
        """The room above."""
        self._step(-1)

    def create(self, argument: str) -> None:
        """Make a room and go there."""

        def make(title: str | None) -> None:
            if title:
                self._app.attempt(self._app.session.create_room(title), self._created)

        if argument:
            make(argument)
        else:
            self._app.push_screen(Ask(self._app.keymap, "New room", placeholder="Title"), make)

    def rename(self, argument: str) -> None:
        """Give the shown room another title."""
        view = self._app.view

        def name(title: str | None) -> None:
            if title:
                self._app.attempt(self._app.session.change_room(view.room_id, title=title))

        if argument:
            name(argument)
        else:
            ask = Ask(self._app.keymap, "Title of this room", room_title(view))
            self._app.push_screen(ask, name)

    def archive(self, argument: str) -> None:
        """Take the shown room off the list, after a question."""
        view = self._app.view
        if view.room_id == MAIN_ROOM:
            self._app.tell("The main room always stays; it can be renamed but not archived.")
            return
        text = (
            f"“{room_title(view)}” leaves the list. All messages stay on disk and can be searched "
            "and exported; /restore brings the room back."
        )

        def answered(yes: bool | None) -> None:
            if yes:
                self._app.attempt(
                    self._app.session.change_room(view.room_id, archived=True), self._archived
                )

        self._app.push_screen(
            Confirm(self._app.keymap, "Archive the room?", text, "archive it"), answered
        )

    def restore(self, argument: str) -> None:
        """Put an archived room back."""
        rooms = [room for room in self._app.view.rooms if room.is_archived]
        if not rooms:
            self._app.tell("No room is archived.")
        elif argument:
            found = _by_name(argument, rooms)
            if found is None:
                self._app.tell(unknown_name("archived room", argument, _titles(rooms)), "warning")
            else:
                self._restore(found.room_id)
        else:
            self._choose("Restore a room", rooms, self._restore)

    def go(self, room_id: str) -> None:
        """Show this room."""
        view = self._app.view
        if room_id == view.room_id:
            return
        self._read_to[view.room_id] = view.timeline.last_seq
        self._app.attempt(self._app.session.switch_room(room_id))
        self._app.room.composer.editor.focus()

    def forget_sent(self, text: str) -> None:
        """A text was removed for good: do not offer it to be sent again."""
        if text:
            self._app.kept_history.forget(text)
            for history in self._histories.values():
                history.forget(text)

    # --- inside

    def _tell_missing(self, view: ClientView) -> None:
        """Say once that a room that was asked for is not there."""
        if not view.ledger_id or view.missing_room in ("", self._missed):
            return
        self._missed = view.missing_room
        self._app.tell(missing_room_sentence(view), "warning")

    def _history_of(self, room_id: str) -> InputHistory:
        if room_id not in self._histories:
            kept = self._app.kept_history
            self._histories[room_id] = InputHistory(kept.load(room_id), partial(kept.add, room_id))
        return self._histories[room_id]

    def _choose(self, title: str, rooms: Sequence[RoomEntry], chosen: object) -> None:
        choices = [
            Choice(
                room.room_id,
                room.title,
                room.room_id,
                f"{room.unread} new" if room.unread else "",
            )
            for room in rooms
        ]

        def done(room_id: str | None) -> None:
            if room_id is not None and callable(chosen):
                chosen(room_id)

        chooser = Chooser(
            self._app.keymap, title, choices, marked=self._app.view.room_id, empty="No such room."
        )
        self._app.push_screen(chooser, done)

    def _go_by_name(self, name: str, rooms: Sequence[RoomEntry]) -> None:
        found = _by_name(name, rooms)
        if found is None:
            self._app.tell(unknown_name("room", name, _titles(rooms)), "warning")
        else:
            self.go(found.room_id)

    def _step(self, step: int) -> None:
        rooms = [room.room_id for room in self._app.view.rooms if not room.is_archived]
        if len(rooms) < 2:
            self._app.tell("There is no other room. /new makes one.")
            return
        here = rooms.index(self._app.view.room_id) if self._app.view.room_id in rooms else 0
        self.go(rooms[(here + step) % len(rooms)])

    def _created(self, info: RoomInfo) -> None:
        self.go(info.room_id)

    def _archived(self, info: RoomInfo) -> None:
        rest = [
            room.room_id
            for room in self._app.view.rooms
            if not room.is_archived and room.room_id != info.room_id
        ]
        if rest:
            self.go(rest[0])
        self._app.tell("The room is archived; /restore brings it back.")

    def _restore(self, room_id: str) -> None:
        self._app.attempt(
            self._app.session.change_room(room_id, archived=False),
            lambda info: self.go(info.room_id),
        )


def _by_name(name: str, rooms: Sequence[RoomEntry]) -> RoomEntry | None:
    found = best_matches(name, rooms, lambda room: (room.title, room.room_id))
    return found[0] if found else None


def _titles(rooms: Sequence[RoomEntry]) -> list[str]:
    return [room.title for room in rooms]
