"""Who watches whom: shown side by side; advised, steered, stopped by a person.

Invariant: what a person says to an agent here is a message like any other, on disk before it
leaves; a turn is stopped only after the message that takes its place was accepted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from groupx_shared.names import unknown_name
from groupx_tui.screens.ask import Ask
from groupx_tui.screens.chooser import Choice, Chooser
from groupx_tui.screens.watching import Deeds, WatchScreen
from groupx_tui.state.model import Pair, TurnBlock
from groupx_tui.state.watching import Watching, pairs_in, watching

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp

MAX_WORDS: Final = 8_000
ADVISED: Final = {
    "taken": "{name} has it in the turn it works on.",
    "queued": "{name} gets it as its next turn.",
    "unknown": "Whether {name} has it is not known; it is not sent again.",
}
NOBODY: Final = (
    "Nobody watches anybody in what is loaded of this room. {key} in the composer sets an agent on "
    "those who get your next message."
)


class WatchHandlers:
    """`watch.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    def show(self, argument: str) -> None:
        """Show the newest pair, that of `@agent`, or choose among those at work."""
        found = self._pairs()
        handle = argument.strip().lstrip("@").lower()
        if handle:
            known = [agent.handle.lower() for agent in self._app.view.agents]
            if handle not in known:
                self._app.tell(unknown_name("agent", handle, known), "warning")
                return
            found = [each for each in found if _has(each.pair, handle)]
        if not found:
            key = self._app.keymap.shown("composer.supervise")
            self._app.tell(NOBODY.format(key=key))
            return
        at_work = [each for each in found if each.is_open]
        if len(at_work) > 1:
            self._choose(at_work)
        else:
            self._open((at_work or found)[-1])

    def _pairs(self) -> list[Watching]:
        blocks = self._app.view.timeline.blocks
        return [watching(blocks, pair) for pair in pairs_in(blocks)]

    def _choose(self, found: list[Watching]) -> None:
        choices = [
            Choice(str(number), _names(each.pair.observers), f"watches {_names(each.pair.workers)}")
            for number, each in enumerate(found)
        ]

        def chosen(key: str | None) -> None:
            if key is not None:
                self._open(found[int(key)])

        self._app.push_screen(Chooser(self._app.keymap, "Which of them?", choices), chosen)

    def _open(self, found: Watching) -> None:
        deeds = Deeds(self._nudge, self._steer, self._stop, self._nothing)
        screen = WatchScreen(self._app.keymap, found, self._app.view, deeds)
        self._app.push_screen(screen)

    # --- what keys do there

    def _nudge(self, turn: TurnBlock) -> None:
        """Where its program takes a further message it gets this at once; which, is said then."""
        name = turn.author.name

        def send(words: str) -> None:
            advising = self._app.session.advise(turn.turn_id, words)
            self._app.attempt(
                advising, lambda reply: self._app.tell(ADVISED[reply.delivery].format(name=name))
            )

        title = f"Advise {name}: in this turn if it can be told now, else as its next turn"
        self._ask(title, send)

    def _steer(self, turn: TurnBlock) -> None:
        def send(words: str) -> None:
            sending = self._app.session.send(words, (turn.author.actor_id,))
            self._app.attempt(sending, lambda accepted: self._stop(turn))

        title = f"Steer {turn.author.name}: its turn is stopped, it gets this instead"
        self._ask(title, send)

    def _ask(self, title: str, send: Callable[[str], object]) -> None:
        def answered(words: str | None) -> None:
            if words:
                send(words)

        ask = Ask(self._app.keymap, title, max_length=MAX_WORDS, empty="Say what it shall do.")
        self._app.push_screen(ask, answered)

    def _stop(self, turn: TurnBlock) -> None:
        self._app.attempt(self._app.session.cancel(turn.turn_id))

    def _nothing(self) -> None:
        self._app.tell("Nobody on this side is at work.")


def _has(pair: Pair, handle: str) -> bool:
    return f"agent:{handle}" in (actor.lower() for actor in (*pair.workers, *pair.observers))


def _names(actors: tuple[str, ...]) -> str:
    return ", ".join(actor.removeprefix("agent:") for actor in actors)
