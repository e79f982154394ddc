"""Adding to what is remembered, correcting, pinning, taking back.

Invariant: what cannot be done is said with the way out, before anything is written or asked.
Counterpart: `handlers.memory`, which shows the records; the server rules in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final

from groupx_tui.screens.record import Names, name_of
from groupx_tui.screens.remember import Owner, Remember, Written
from groupx_tui.state.remembered import Kept, Sought

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp

IS_HISTORY: Final = (
    "This is history: it was corrected or taken back already. {history} shows all its versions; "
    "the newest one can be changed."
)
IS_A_DAY: Final = (
    "A day is written by its agent and cannot be corrected. Take it back with {retract}, or write "
    "down with {add} what counts, as something the agent keeps."
)
NO_PIN: Final = (
    "Who an agent is cannot be pinned: it goes along as far as it fits. What has to go with every "
    "turn is written down with {add} as a room's memory and pinned."
)


class MemoryEdit:
    """Changes records; `changed` is called after each change with the record's id as it is now."""

    def __init__(self, app: GroupXApp, changed: Callable[[str], object]) -> None:
        self._app = app
        self._changed = changed

    def add(self, sought: Sought, names: Names) -> None:
        """Write something down; for whom the list shows, if it shows somebody's."""
        owners = self._owners(names)
        wanted = f"{sought.place or ''} {sought.owner_id}"
        keys = [owner.key for owner in owners]
        chosen = next((key for key in (wanted, *keys) if key in keys), "")

        def written(what: Written | None) -> None:
            if what is not None:
                self._write(what, names)

        screen = Remember(
            self._app.keymap, owners, chosen=chosen, in_editor=self._app.handlers.window.edit_text
        )
        self._app.push_screen(screen, written)

    def correct(self, kept: Kept, names: Names) -> None:
        """Put another text in its place."""
        if self._is_history(kept):
            return
        if kept.place == "dated":
            self._say(IS_A_DAY)
            return

        def written(what: Written | None) -> None:
            if what is not None and (what.text, what.kind) != (kept.content, kept.kind):
                work = self._app.session.records.correct(kept, what.kind, what.text)
                self._do(work, "Corrected; the old text stays in the history.")

        owner = Owner(kept.place, kept.owner_id, name_of(kept.owner_id, names))
        screen = Remember(
            self._app.keymap,
            [owner],
            kept=kept,
            in_editor=self._app.handlers.window.edit_text,
        )
        self._app.push_screen(screen, written)

    def pin(self, kept: Kept) -> None:
        """Let it go with every turn, or not any more."""
        if self._is_history(kept):
            return
        if kept.is_identity:
            self._say(NO_PIN)
            return
        is_pinned = kept.pinned_at is None
        said = "Pinned: it goes before all others." if is_pinned else "Not pinned any more."
        self._do(self._app.session.records.pin(kept, pinned=is_pinned), said)

    def retract(self, kept: Kept) -> None:
        """Take it back."""
        if not self._is_history(kept):
            said = "Taken back: it is told to nobody. It stays in the history."
            self._do(self._app.session.records.retract(kept), said)

    def _write(self, what: Written, names: Names) -> None:
        owner = name_of(what.owner_id, names)
        work = self._app.session.records.remember(
            what.place, what.owner_id, what.kind, what.text, pinned=what.is_pinned
        )
        said = {"room": "Remembered for", "core": "Written down for", "identity": "Said of"}
        self._do(work, f"{said[what.place]} {owner}.")

    def _owners(self, names: Names) -> list[Owner]:
        """Whose a record can be: this room's first, then each agent's, then other rooms'."""
        view = self._app.view
        here = Owner("room", view.room_id, name_of(view.room_id, names))
        owners = [here]
        for agent in view.agents:
            owners.append(Owner("core", agent.actor_id, agent.name))
            owners.append(Owner("identity", agent.actor_id, agent.name))
        rooms = [room for room in view.rooms if room.room_id != here.owner_id]
        return owners + [Owner("room", room.room_id, room.title) for room in rooms]

    def _is_history(self, kept: Kept) -> bool:
        if kept.status == "active":
            return False
        self._say(IS_HISTORY)
        return True

    def _say(self, sentence: str) -> None:
        keys = {
            name: self._app.keymap.shown(f"dialog.{name}") for name in ("history", "retract", "add")
        }
        self._app.tell(sentence.format(**keys), "warning")

    def _do(self, work: Coroutine[Any, Any, Kept], said: str) -> None:
        def done(kept: Kept) -> None:
            self._app.tell(said)
            self._changed(kept.record_id)

        self._app.attempt(work, done)
