"""Turns: stopping one, and its details."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from groupx_tui.screens.chooser import Choice, Chooser
from groupx_tui.screens.turn import PHASE_WORDS, turn_screen
from groupx_tui.state.model import TurnBlock

if TYPE_CHECKING:
    from groupx_shared.wire.replies import CancelReply
    from groupx_tui.app import GroupXApp

ALL: Final = "*"


class TurnHandlers:
    """`turn.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    def cancel(self, argument: str) -> None:
        """Stop the marked turn, else the only one, else choose; `@agent` names it."""
        turns = open_turns(self._app)
        if argument:
            handle = argument.lstrip("@").lower()
            turns = [turn for turn in turns if _handle(turn) == handle]
        if not turns:
            self._app.tell("No agent works on anything in this room.")
            return
        is_reading = self._app.room.place == "timeline"
        marked = self._app.handlers.marked_block() if is_reading else None
        if isinstance(marked, TurnBlock) and marked in turns:
            self._stop([marked])
        elif len(turns) == 1:
            self._stop(turns)
        else:
            self._choose(turns)

    def details(self, argument: str) -> None:
        """Show the facts about the marked turn, else the newest one."""
        marked = self._app.handlers.marked_block()
        turns = [block for block in self._app.view.timeline.blocks if isinstance(block, TurnBlock)]
        turn = marked if isinstance(marked, TurnBlock) else (turns[-1] if turns else None)
        if turn is None:
            self._app.tell("There is no turn here yet.")
            return
        self._app.push_screen(turn_screen(self._app.keymap, turn))

    def _choose(self, turns: Sequence[TurnBlock]) -> None:
        choices = [
            Choice(turn.turn_id, turn.author.name, _about(turn), turn.phase) for turn in turns
        ]
        choices.append(Choice(ALL, "All of them", f"{len(turns)} turns"))

        def done(key: str | None) -> None:
            if key is not None:
                self._stop([turn for turn in turns if key in (ALL, turn.turn_id)])

        self._app.push_screen(Chooser(self._app.keymap, "Stop which turn?", choices), done)

    def _stop(self, turns: Sequence[TurnBlock]) -> None:
        for turn in turns:
            self._app.attempt(self._app.session.cancel(turn.turn_id), self._asked)

    def _asked(self, reply: CancelReply) -> None:
        if not reply.accepted:
            self._app.tell("That turn had ended already.")


def open_turns(app: GroupXApp) -> list[TurnBlock]:
    """The turns of the shown room that have not ended, oldest first."""
    return [
        block
        for block in app.view.timeline.blocks
        if isinstance(block, TurnBlock) and block.is_open
    ]


def _handle(turn: TurnBlock) -> str:
    return turn.author.actor_id.removeprefix("agent:").lower()


def _about(turn: TurnBlock) -> str:
    return PHASE_WORDS.get(turn.phase, turn.phase)
