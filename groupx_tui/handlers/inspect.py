"""Looking closely: what an agent would be told, an agent's card, an event as it stands.

Owns nothing; each asks the server when it is asked. Counterparts: `screens.preview`,
`screens.card`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from groupx_shared.names import unknown_name
from groupx_shared.text import safe_text
from groupx_tui.handlers.tool import text_screen
from groupx_tui.screens.card import card_screen
from groupx_tui.screens.chooser import Choice, Chooser
from groupx_tui.screens.confirm import Confirm
from groupx_tui.screens.preview import preview_screen, summary_screen
from groupx_tui.state.model import AgentView, Block, MessageBlock, TurnBlock
from groupx_tui.widgets.header import room_title
from groupx_tui.widgets.timeline.words import moment

ANEW: Final = (
    "Agents are told nothing any more of what was said here until now, and get new sessions with "
    "their next turn. Messages and memory stay as they are. What an agent's program keeps of its "
    "old session stays there."
)
SUMMED: Final = (
    "A summary goes with what it sums up: remove the message that says it (search finds it), and "
    "the summary is thrown away and written anew. /reset lets agents begin without any."
)
BEGUN_ANEW: Final = "Agents begin anew from here, in new sessions; all that was said stays to read."

if TYPE_CHECKING:
    from groupx_shared.wire.agents import AgentInfo
    from groupx_shared.wire.context import (
        CompactionReply,
        ContextPreview,
        ResetReply,
        SummaryReply,
    )
    from groupx_shared.wire.replies import CancelReply, TurnInfo, UsageReply
    from groupx_tui.app import GroupXApp


class ContextHandlers:
    """`context.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    def preview(self, argument: str) -> None:
        """What `@agent`, else the one that would get the message, would be told."""
        targets = [] if argument else list(self._app.room.composer.targets.agents)
        with_agent(self._app, argument, targets, "Whose context?", self._show)

    def compact(self, argument: str) -> None:
        """Have the older messages summed up; how it goes on stands above the composer."""

        def asked(reply: CompactionReply) -> None:
            if not reply.accepted:
                self._app.tell("There is nothing to sum up: what there is stays as it is.")

        self._app.attempt(self._app.session.records.compact(self._app.view.room_id), asked)

    def reset(self, argument: str) -> None:
        """Let agents begin anew in the shown room: what was said is not told to them any more."""
        view = self._app.view

        def reset(reply: ResetReply) -> None:
            nothing = "There is nothing to begin anew from: nothing was said since the last time."
            self._app.tell(BEGUN_ANEW if reply.reset else nothing)

        def asked(is_wanted: bool | None) -> None:
            if is_wanted:
                self._app.attempt(self._app.session.records.reset(view.room_id), reset)

        title = f"Begin anew in {room_title(view)}?"
        self._app.push_screen(Confirm(self._app.keymap, title, ANEW, "begin anew"), asked)

    def summary(self) -> None:
        """What stands for the room's older messages."""
        view = self._app.view

        def show(summary: SummaryReply) -> None:
            offers: dict[str, Callable[[], object]] = {}
            if summary.exists:
                offers["redact"] = lambda: self._app.tell(SUMMED)
            screen = summary_screen(self._app.keymap, summary, room_title(view), offers)
            self._app.push_screen(screen)

        self._app.attempt(self._app.session.records.summary(view.room_id), show)

    def _show(self, agent: AgentView) -> None:
        view, composer = self._app.view, self._app.room.composer
        draft = composer.text
        reply_to = None if composer.reply is None else composer.reply.event_id

        def show(preview: ContextPreview) -> None:
            from groupx_tui.client.records import MAX_DRAFT_CHARS  # loaded with the session

            unseen = max(0, len(draft) - MAX_DRAFT_CHARS)
            offers: dict[str, Callable[[], object]] = {"summary": self.summary}
            screen = preview_screen(
                self._app.keymap, preview, agent.name, room_title(view), offers, unseen=unseen
            )
            self._app.push_screen(screen)

        records = self._app.session.records
        self._app.attempt(records.preview(view.room_id, agent.actor_id, draft, reply_to), show)


class CardHandlers:
    """An agent's card."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    def card(self, argument: str) -> None:
        """All that is known of `@agent`, else of a chosen one."""
        with_agent(self._app, argument, [], "Whose card?", lambda agent: self.show(agent.actor_id))

    def show(self, actor_id: str) -> None:
        """The card of an agent; of nobody, nothing."""
        if not actor_id:
            return

        async def read() -> tuple[AgentInfo, UsageReply, TurnInfo | None]:
            records = self._app.session.records
            return (
                await records.agent(actor_id),
                await records.usage(actor_id=actor_id),
                await records.last_failure(actor_id),
            )

        self._app.attempt(read(), lambda found: self._show(*found))

    def _show(self, card: AgentInfo, usage: UsageReply, failure: TurnInfo | None) -> None:
        handle = card.actor_id.removeprefix("agent:")
        offers: dict[str, Callable[[], object]] = {
            "doctor": partial(self._app.handlers.tool.test_agent, handle)
        }
        if card.enabled:
            offers["restart"] = partial(self._app.handlers.agent.restart, handle)
        if card.active_turn_id is not None:
            offers["cancel"] = partial(self._cancel, card, card.active_turn_id)
        screen = card_screen(self._app.keymap, card, usage, self._words(failure), offers)
        self._app.push_screen(screen)

    def _words(self, failure: TurnInfo | None) -> str:
        """When, where and why its last turn without an answer ended so."""
        if failure is None:
            return ""
        titles = {room.room_id: room.title for room in self._app.view.rooms}
        room = titles.get(failure.room_id, failure.room_id)
        why = failure.error_message or failure.error_code or ""
        return f"{moment(failure.terminal_at)}, in {room}: {why}"

    def _cancel(self, card: AgentInfo, turn_id: str) -> None:
        def asked(reply: CancelReply) -> None:
            name = card.display_name
            stopped = f"{name} was asked to stop." if reply.accepted else "It had ended already."
            self._app.tell(stopped)

        self._app.attempt(self._app.session.cancel(turn_id), asked)


class EventHandlers:
    """`event.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    def inspect(self, argument: str) -> None:
        """The marked part as it stands in the ledger."""
        block = self._app.handlers.marked_block()
        records = self._app.session.records
        if isinstance(block, TurnBlock):
            self._app.attempt(records.raw_turn(block.turn_id), partial(self._show, "Turn", block))
        elif isinstance(block, MessageBlock) and block.event_id:
            work = records.raw_event(block.event_id)
            self._app.attempt(work, partial(self._show, "Event", block))
        elif block is not None and block.block_id.startswith("note:"):
            event_id = block.block_id.removeprefix("note:")
            self._app.attempt(records.raw_event(event_id), partial(self._show, "Event", block))
        else:
            self._app.tell("Mark a message, an answer or a line first.")

    def _show(self, title: str, block: Block, raw: str) -> None:
        with suppress(ValueError):  # then it is shown as it came
            raw = json.dumps(json.loads(raw), indent=2, ensure_ascii=False)
        remove = partial(self._app.handlers.removal.block, block)
        offers: dict[str, Callable[[], object]] = {"redact": remove}
        self._app.push_screen(text_screen(self._app, title, safe_text(raw), offers=offers))


def with_agent(
    app: GroupXApp,
    argument: str,
    meant: list[AgentView],
    title: str,
    do: Callable[[AgentView], object],
) -> None:
    """Do it with `@agent` of the argument, else with the only one of `meant`, else with a chosen
    one."""
    agents = {agent.handle.lower(): agent for agent in app.view.agents}
    handle = argument.strip().lstrip("@").lower()
    if handle in agents:
        do(agents[handle])
    elif handle:
        app.tell(unknown_name("agent", handle, agents), "warning")
    elif len(meant) == 1:
        do(meant[0])
    else:
        choices = [
            Choice(a.handle.lower(), a.name, f"@{a.handle}", a.status) for a in agents.values()
        ]

        def chosen(key: str | None) -> None:
            if key is not None:
                do(agents[key])

        app.push_screen(Chooser(app.keymap, title, choices, empty="There is no agent."), chosen)
