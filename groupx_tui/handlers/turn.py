"""Turns: stopping one, taking one back, taking one up again, and its details."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from groupx_shared.names import unknown_name
from groupx_shared.text import safe_line
from groupx_tui.handlers.withdrawal import Withdrawal
from groupx_tui.screens.chooser import Choice, Chooser
from groupx_tui.screens.turn import PHASE_WORDS, turn_screen
from groupx_tui.state.model import MessageBlock, NoticeBlock, TurnBlock
from groupx_tui.widgets.timeline.hints import goes_on

if TYPE_CHECKING:
    from groupx_shared.wire.replies import MessageAccepted, RootContinued
    from groupx_tui.app import GroupXApp

ALL: Final = "*"
MAX_ASKED: Final = 60
"""Of the message that a turn answers: enough to tell it from another one."""


class TurnHandlers:
    """`turn.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._withdrawal = Withdrawal(app)

    def cancel(self, argument: str) -> None:
        """Stop the marked turn, else the only one, else choose; `@agent` names it."""
        turns = open_turns(self._app)
        if argument:
            turns = [turn for turn in turns if _handle(turn) == _typed(argument)]
        if not turns:
            self._app.tell("No agent works on anything in this room.")
            return
        marked = self._marked()
        if marked in turns:
            self._stop([marked])
        elif len(turns) == 1:
            self._stop(turns)
        else:
            self._choose(turns)

    def retry(self, argument: str) -> None:
        """Send the message of a turn that did not complete once more."""
        turn = self._unfinished(argument, lambda turn: turn.can_retry, "be retried")
        if turn is not None:
            self._retry(turn)

    def continue_(self, argument: str) -> None:
        """Ask the agent to go on with a turn that did not complete, or let agents go on that a
        limit stopped."""
        stopped = self._stopped_loop(argument)
        if stopped is not None:
            self._app.attempt(self._app.session.continue_root(stopped.root_id), self._let_go_on)
            return
        turn = self._unfinished(argument, lambda turn: turn.can_continue, "go on")
        if turn is not None:
            self._go_on(turn)

    def details(self, argument: str) -> None:
        """Show the facts about the marked turn, else the newest one."""
        marked = self._app.handlers.marked_block()
        turns = shown_turns(self._app)
        turn = marked if isinstance(marked, TurnBlock) else (turns[-1] if turns else None)
        if turn is None:
            self._app.tell("There is no turn here yet.")
            return
        self.show(turn)

    def show(self, turn: TurnBlock) -> None:
        """Show the facts about a turn, and what can be done about it."""
        offers: dict[str, Callable[[], object]] = {}
        if turn.can_retry:
            offers["retry"] = partial(self._retry, turn)
        if turn.can_continue:
            offers["continue"] = partial(self._go_on, turn)
        if not turn.is_open:
            offers["redact"] = partial(self._app.handlers.removal.turn, turn)
        self._app.push_screen(turn_screen(self._app.keymap, turn, offers))

    # --- inside

    def _marked(self) -> TurnBlock | None:
        """The marked turn while one reads: elsewhere nobody sees a mark."""
        if self._app.room.place != "timeline":
            return None
        marked = self._app.handlers.marked_block()
        return marked if isinstance(marked, TurnBlock) else None

    def _stopped_loop(self, argument: str) -> NoticeBlock | None:
        """The stopped loop that is meant: the marked one, else the newest, when no turn that could
        go on is newer."""
        blocks = self._app.view.timeline.blocks
        waiting = [
            block
            for index, block in enumerate(blocks)
            if isinstance(block, NoticeBlock)
            and block.loop == "stopped"
            and not any(goes_on(block, later) for later in blocks[index + 1 :])
        ]
        if argument or not waiting:
            return None
        if self._app.room.place == "timeline":
            marked = self._app.handlers.marked_block()
            return marked if marked in waiting and isinstance(marked, NoticeBlock) else None
        turns = [turn.order_seq or 0 for turn in shown_turns(self._app) if turn.can_continue]
        return waiting[-1] if waiting[-1].order_seq > max(turns, default=0) else None

    def _let_go_on(self, reply: RootContinued) -> None:
        if not reply.messages:
            self._app.tell("They may go on.")
        self._app.room.timeline.action_end()

    def _unfinished(
        self, argument: str, fits: Callable[[TurnBlock], bool], what: str
    ) -> TurnBlock | None:
        """The turn that is meant: of `@agent`, else the marked one, else the newest that fits."""
        turns = [turn for turn in shown_turns(self._app) if fits(turn)]
        handle = _typed(argument)
        if handle and handle not in (known := [a.handle.lower() for a in self._app.view.agents]):
            self._app.tell(unknown_name("agent", handle, known), "warning")
            return None
        if handle:
            turns = [turn for turn in turns if _handle(turn) == handle]
        elif (marked := self._marked()) is not None:
            turns = [turn for turn in turns if turn is marked]
        if not turns:
            self._app.tell(f"No turn here can {what}: only one that ended without an answer.")
            return None
        return turns[-1]

    def _retry(self, turn: TurnBlock) -> None:
        self._app.attempt(self._app.session.retry(turn.turn_id), self._taken_up)

    def _go_on(self, turn: TurnBlock) -> None:
        self._app.attempt(self._app.session.go_on(turn.turn_id), self._taken_up)

    def _taken_up(self, accepted: MessageAccepted) -> None:
        """Show the new message where it appears: at the end."""
        if accepted.room_id == self._app.view.room_id:
            self._app.room.timeline.action_end()

    def _choose(self, turns: Sequence[TurnBlock]) -> None:
        asked = {
            block.event_id: block.text
            for block in self._app.view.timeline.blocks
            if isinstance(block, MessageBlock)
        }
        choices = [
            Choice(
                turn.turn_id, turn.author.name, _about(turn, asked.get(turn.source_event_id or ""))
            )
            for turn in turns
        ]
        choices.append(Choice(ALL, "All of them", f"{len(turns)} turns"))

        def done(key: str | None) -> None:
            if key is not None:
                self._stop([turn for turn in turns if key in (ALL, turn.turn_id)])

        self._app.push_screen(Chooser(self._app.keymap, "Stop which turn?", choices), done)

    def _stop(self, turns: Sequence[TurnBlock | None]) -> None:
        for turn in turns:
            if turn is not None:
                self._withdrawal.stop(turn)


def shown_turns(app: GroupXApp) -> list[TurnBlock]:
    """The loaded turns of the shown room, oldest first."""
    return [block for block in app.view.timeline.blocks if isinstance(block, TurnBlock)]


def open_turns(app: GroupXApp) -> list[TurnBlock]:
    """The turns of the shown room that have not ended, oldest first."""
    return [turn for turn in shown_turns(app) if turn.is_open]


def _handle(turn: TurnBlock) -> str:
    return turn.author.actor_id.removeprefix("agent:").lower()


def _typed(argument: str) -> str:
    return argument.lstrip("@").lower()


def _about(turn: TurnBlock, asked: str | None) -> str:
    """How it stands, and what it is about, as far as that is loaded."""
    stands = PHASE_WORDS.get(turn.phase, turn.phase)
    if asked is None:
        return stands
    return f"{stands.partition(':')[0]} · “{safe_line(asked, MAX_ASKED)}”"
