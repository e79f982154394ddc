"""`send --wait`: follows the turns of an accepted message to their ends and prints the answers.

The wait can end early (time is up, Ctrl+C, the server stays away); the turns then go on, and the
person is told how to look at them and how to cancel them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any, Final

from groupx_shared.errors import GroupXError, ServerUnreachableError
from groupx_shared.text import safe_line, safe_text
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.answers import Answer, Answers, Change
from groupx_tui.cli.api import Api, short
from groupx_tui.cli.blocks import BlockPrinter
from groupx_tui.cli.clock import Clock, Deadline
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.feed import DeadlineReachedError, EventFeed, FeedRules

AWAY_S: Final = 30.0
"""How long a server may be away in the middle of a turn: a restart takes seconds."""
LOOK_AGAIN_S: Final = 1.0
"""Shortest time between two looks at a turn whose first pieces were missed."""


class Waiter:
    """Follows the turns of one accepted message. Without `write` nothing is printed meanwhile."""

    def __init__(
        self, api: Api, accepted: dict[str, Any], clock: Clock, write: Callable[[str], None] | None
    ) -> None:
        self.answers = Answers(accepted["turns"])
        self._api = api
        self._accepted = accepted
        self._clock = clock
        labels = {key: f"[{short(each.target)}]" for key, each in self.answers.by_id.items()}
        self._printer = BlockPrinter(labels, write) if write is not None else None
        self._looked: dict[str, float] = {}

    def wait(self, deadline: Deadline) -> ExitCode:
        """Wait for all turns and return the worst outcome; says on stderr what went wrong."""
        rules = FeedRules(deadline, AWAY_S, self._say_lost, self._say_found)
        after, room = int(self._accepted["seq"]), self._accepted["roomId"]
        feed = iter(EventFeed(self._api, after, room, rules, self._clock))
        try:
            with closing(feed):
                while self.answers.open:
                    self._take(next(feed).event)
        except DeadlineReachedError:
            return self._leave("The time is up.", ExitCode.STILL_RUNNING)
        except KeyboardInterrupt:
            return self._leave("Not waiting any longer.", ExitCode.UNCERTAIN)
        except ServerUnreachableError as error:
            return self._leave(error.message, ExitCode.UNCERTAIN)
        except BrokenPipeError:
            output.abandon()  # the reader has had enough, and never learns how the turn ended
            return ExitCode.UNCERTAIN
        return worst(list(self.answers.by_id.values()))

    def _take(self, event: dict[str, Any]) -> None:
        change = self.answers.apply(event)
        if change is not None and change.kind == "gap":
            self._fill(change.answer)
            change = self.answers.apply(event)
        if change is not None:
            self._show(change)

    def _show(self, change: Change) -> None:
        answer = change.answer
        if change.kind == "piece" and self._printer is not None:
            self._printer.piece(answer.turn_id, change.text)
        elif change.kind == "ended":
            self._conclude(answer)

    def _fill(self, answer: Answer) -> None:
        """Pieces were missed (they came before we listened): take them from the turn itself."""
        now = self._clock.now()
        if now - self._looked.get(answer.turn_id, -LOOK_AGAIN_S) < LOOK_AGAIN_S:
            return
        self._looked[answer.turn_id] = now
        change = self.answers.apply_snapshot(answer, self._api.turn(answer.turn_id))
        if change is not None:
            self._show(change)

    def _conclude(self, answer: Answer) -> None:
        self._complete(answer)
        if self._printer is not None:
            if rest := _rest(answer):
                self._printer.piece(answer.turn_id, rest)
            self._printer.end(answer.turn_id)
        if answer.status != "completed":
            diagnostics.say(_outcome(answer))

    def _complete(self, answer: Answer) -> None:
        """Get the whole text when the events hold a cut one, or none."""
        if answer.is_cut and answer.response_event_id is not None:
            answer.content = self._api.event_text(answer.response_event_id)
        elif answer.content is None and answer.status == "completed":
            answer.content = self._api.turn(answer.turn_id).get("content")

    def _leave(self, why: str, code: ExitCode) -> ExitCode:
        if self._printer is not None:
            self._printer.give_up()
        diagnostics.say(f"{why} What was asked goes on:")
        for answer in self.answers.open or self.answers.by_id.values():
            diagnostics.say(
                f"  {short(answer.target)}: see it: groupx turns show {answer.turn_id} · "
                f"cancel it: groupx turns cancel {answer.turn_id}"
            )
        return code

    def _say_lost(self, error: GroupXError) -> None:
        diagnostics.say(f"{error.message} Waiting for the server to come back …")

    def _say_found(self) -> None:
        diagnostics.say("The server is back.")


def worst(answers: list[Answer]) -> ExitCode:
    """The exit code for several ended turns: uncertain before failed before done."""
    if any(answer.is_uncertain for answer in answers):
        return ExitCode.UNCERTAIN
    if any(answer.status != "completed" for answer in answers):
        return ExitCode.TURN_FAILED
    return ExitCode.DONE


def _rest(answer: Answer) -> str:
    """What has not been printed yet of the answer's final text."""
    if answer.content is None:
        return ""
    printed = "".join(answer.pieces)
    if answer.content.startswith(printed):
        return answer.content[len(printed) :]
    whole, cleaned = safe_text(answer.content), safe_text(printed)
    if whole.startswith(cleaned):
        return whole[len(cleaned) :]
    diagnostics.say("The recorded answer differs from what was streamed; it follows whole.")
    return f"\n\n{answer.content}"


def _outcome(answer: Answer) -> str:
    code = f" ({safe_line(str(answer.error_code))})" if answer.error_code else ""
    reason = f": {safe_line(str(answer.error_message), 1000)}" if answer.error_message else "."
    uncertain = " Nobody knows whether it got the message." if answer.certainty == "unknown" else ""
    return (
        f"{short(answer.target)}: the turn was {answer.status}{code}{reason}{uncertain} "
        f"See: groupx turns show {answer.turn_id}"
    ).replace("the turn was failed", "the turn failed")
