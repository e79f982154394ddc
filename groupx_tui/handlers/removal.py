"""Removing a text for good: found by mark, id or number, shown once more, removed, reported.

Invariant: nothing is removed that was not shown with what goes, what stays and what is not reached;
while it takes its time the window does what it always does. Counterparts: `screens.remove`,
`screens.removed`, `client.removals`; the entry points are here, in `find`, `inspect` and `memory`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from groupx_shared.errors import GroupXError, ServerUnreachableError
from groupx_shared.text import safe_line
from groupx_tui.client.removals import KINDS
from groupx_tui.screens.chooser import Choice, Chooser
from groupx_tui.screens.record import name_of
from groupx_tui.screens.remove import Removal, Remove
from groupx_tui.screens.removed import removed_screen, removed_sentence
from groupx_tui.state.doomed import SIDE, Doomed, doomed_event, doomed_record, doomed_side
from groupx_tui.state.model import Block, MessageBlock, TurnBlock
from groupx_tui.widgets.timeline.words import moment

if TYPE_CHECKING:
    from groupx_shared.wire.assistant import SideMessage
    from groupx_shared.wire.events import Event
    from groupx_shared.wire.forgetting import RedactReply
    from groupx_tui.app import GroupXApp
    from groupx_tui.screens.record import Names
    from groupx_tui.state.remembered import Kept

NOTHING_MARKED: Final = (
    "Mark a message, an answer or a line first, or name it: /redact ID or NUMBER."
)
NOT_ENDED: Final = "This turn has not ended: stop it or wait for its end, then remove what it said."
NOT_SENT: Final = "This message is not on disk: there is nothing of it to remove."
NO_TEXT: Final = "There is no text in this that could be removed."
NO_ID: Final = (
    "“{}” is no id and no number of this room: ids begin with evt_, mem_, identity_ or side_; {} "
    "shows the one of what is marked."
)
UNKNOWN: Final = "Nobody knows yet whether it is removed: /redact {} once more tells."


class RemovalHandlers:
    """`removal.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._last: RedactReply | None = None

    def begin(self, argument: str) -> None:
        """Ask how the marked part, or what is named by id or number, is to be removed."""
        if argument.strip():
            self._named(argument.strip())
            return
        block = self._app.handlers.marked_block()
        if block is None:
            self._app.tell(NOTHING_MARKED)
        else:
            self.block(block)

    def result(self, argument: str) -> None:
        """Show what the last removal of this window did."""
        if self._last is None:
            self._app.tell("Nothing was removed from this window yet.")
        else:
            self._app.push_screen(removed_screen(self._app.keymap, self._last))

    # --- for all who show something

    def block(self, block: Block) -> None:
        """A part of the timeline."""
        if isinstance(block, TurnBlock):
            self.turn(block)
        elif isinstance(block, MessageBlock):
            if block.is_pending or block.refusal is not None:
                self._app.tell(NOT_SENT)
            else:
                self.event(block.event_id)
        else:
            self.event(block.block_id.removeprefix("note:"))

    def event(self, event_id: str) -> None:
        """An event, by its id."""
        work = self._app.session.removals.event(event_id)
        self._app.attempt(work, self._event)

    def turn(self, turn: TurnBlock) -> None:
        """What an agent said, thought or did in a turn: choose what of it."""
        if turn.order_seq is None:
            self._app.tell(NOT_ENDED)
            return
        work = self._app.session.removals.parts_of(
            turn.room_id or self._app.view.room_id, turn.turn_id, turn.order_seq
        )
        self._app.attempt(work, partial(self._parts, turn))

    def record(self, kept: Kept, names: Names) -> None:
        """A memory or identity record."""
        self._ask(doomed_record(kept, name_of(kept.author_id, names)))

    def side(self, asked: SideMessage) -> None:
        """A request to the room assistant, with its answer."""
        self._ask(doomed_side(asked))

    # --- finding it

    def _named(self, name: str) -> None:
        removals = self._app.session.removals
        kind = next((kind for start, kind in KINDS.items() if name.startswith(start)), "")
        if name.startswith("evt_"):
            self.event(name)
        elif kind in ("memory", "identity"):
            self._app.attempt(removals.record(name), lambda kept: self.record(kept, {}))
        elif kind:
            self._ask(Doomed(name, SIDE, "You", "", "(it is shown in the assistant's panel)"))
        elif name.lstrip("#").isdecimal():
            work = removals.event_at(self._app.view.room_id, int(name.lstrip("#")))
            self._app.attempt(work, self._event)
        else:
            inspect = self._app.keymap.shown("event.inspect")
            self._app.tell(NO_ID.format(safe_line(name, 40), inspect), "warning")

    def _event(self, event: Event) -> None:
        doomed = doomed_event(event)
        if doomed is None:
            self._app.tell(NO_TEXT)
        else:
            self._ask(doomed)

    def _parts(self, turn: TurnBlock, events: Sequence[Event]) -> None:
        found = [doomed_event(e, is_answer=e.event_id == turn.response_event_id) for e in events]
        parts = {part.ref_id: part for part in found if part is not None}
        if not parts:
            self._app.tell(NO_TEXT)
        elif len(parts) == 1:
            self._ask(next(iter(parts.values())))
        else:
            self._choose(turn, parts)

    def _choose(self, turn: TurnBlock, parts: dict[str, Doomed]) -> None:
        choices = [
            Choice(part.ref_id, part.what, safe_line(part.text, 200), moment(part.at)[11:19])
            for part in parts.values()
        ]

        def chosen(ref_id: str | None) -> None:
            if ref_id is not None:
                self._ask(parts[ref_id])

        title = f"Remove what of {turn.author.name}'s turn?"
        marked = turn.response_event_id or ""
        self._app.push_screen(Chooser(self._app.keymap, title, choices, marked=marked), chosen)

    # --- removing it

    def _ask(self, doomed: Doomed) -> None:
        def asked(how: Removal | None) -> None:
            if how is not None:
                self._remove(doomed, how)

        self._app.push_screen(Remove(self._app.keymap, doomed), asked)

    def _remove(self, doomed: Doomed, how: Removal) -> None:
        before = self._place()

        def removed(reply: RedactReply) -> None:
            self._last = reply
            self._app.handlers.room.forget_sent(doomed.whole)
            if self._place() == before:
                self._app.push_screen(removed_screen(self._app.keymap, reply))
            else:  # the person does something else by now
                bad = "warning" if reply.left_in else "information"
                self._app.tell(f"{removed_sentence(reply)} /removed shows all of it.", bad)

        def failed(error: GroupXError) -> str | None:
            if not isinstance(error, ServerUnreachableError):
                return None  # the server says how far it came
            return f"{error.message} {UNKNOWN.format(doomed.ref_id)}"

        work = self._app.session.removals.redact(doomed.ref_id, purge=how.purge, copies=how.copies)
        self._app.attempt(work, removed, failed)

    def _place(self) -> tuple[object, ...]:
        """What is on the screen but the question itself, and what is written."""
        shown = [id(s) for s in self._app.screen_stack if not isinstance(s, Remove)]
        return (*shown, self._app.view.room_id, self._app.room.composer.text)
