"""The room assistant's panel: opened, asked, stopped, cleared.

The conversation is followed only while the panel is open; what goes on without it is there when
it is opened again.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from textual.actions import SkipAction

from groupx_shared.errors import GroupXError, RefusedError
from groupx_shared.text import safe_line
from groupx_shared.wire.assistant import ENDED
from groupx_tui.screens.assistant import AssistantScreen, Deeds
from groupx_tui.screens.chooser import Choice, Chooser
from groupx_tui.screens.confirm import Confirm
from groupx_tui.state.removal import AfterRemovals
from groupx_tui.state.side import SideView, apply_frame, with_page, with_trouble
from groupx_tui.widgets.timeline.words import moment

if TYPE_CHECKING:
    from groupx_shared.wire.assistant import AssistantCancelled, AssistantMessages
    from groupx_tui.app import GroupXApp

GROUP: Final = "assistant"
FORGET: Final = "The assistant begins anew. What it did stays in the rooms."


class AssistantHandlers:
    """`assistant.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._view = SideView()
        self._screen: AssistantScreen | None = None

    def open(self, argument: str) -> None:
        """Open the panel; with words, ask at once."""
        if self._screen is None:
            after = AfterRemovals(self._app.view, self._read_anew)
            deeds = Deeds(
                self._ask, self._cancel, self._clear, self._load_older, self._redact, after
            )
            self._screen = AssistantScreen(self._app.keymap, self._view, deeds)
            self._app.push_screen(self._screen, self._closed)
            self._app.run_worker(self._follow(), group=GROUP, exclusive=True)
        if argument.strip():
            self._ask(argument.strip())

    def cancel(self, argument: str) -> None:
        """In the panel: stop the answer under way."""
        self._offer("cancel")

    def clear(self, argument: str) -> None:
        """In the panel: forget the conversation."""
        self._offer("clear")

    def _offer(self, name: str) -> None:
        screen = self._app.screen
        if not isinstance(screen, AssistantScreen):
            raise SkipAction
        screen.offer(name)

    def _closed(self, result: None) -> None:
        self._screen = None
        self._app.workers.cancel_group(self._app, GROUP)

    async def _follow(self) -> None:
        """Keep the panel in step until it is closed."""
        side = self._app.session.side
        try:
            page = await side.older(None)
            self._show(with_page(SideView(), page.messages, page.next_before))
        except GroupXError as error:
            self._lost(error.message)
        try:
            async with aclosing(side.follow(self._lost)) as batches:
                async for frames in batches:
                    view = self._view
                    for frame in frames:
                        view = apply_frame(view, frame)
                    self._show(view)
        except RefusedError as error:
            self._lost(error.message)

    def _lost(self, why: str) -> None:
        self._show(with_trouble(self._view, why))

    def _show(self, view: SideView) -> None:
        self._view = view
        if self._screen is not None:
            self._screen.show(view)

    def _ask(self, text: str) -> None:
        def failed(error: GroupXError) -> None:
            if self._screen is not None:
                self._screen.give_back(text)

        side, room_id = self._app.session.side, self._app.view.room_id
        self._app.attempt(side.ask(text, room_id), failed=failed)

    def _cancel(self) -> None:
        def done(reply: AssistantCancelled) -> None:
            if not reply.accepted:
                self._app.tell("The assistant does nothing that could be stopped.")

        self._app.attempt(self._app.session.side.cancel(), done)

    def _clear(self) -> None:
        def answered(is_sure: bool | None) -> None:
            if is_sure:
                self._app.attempt(self._app.session.side.clear())

        title = "Forget this conversation?"
        self._app.push_screen(Confirm(self._app.keymap, title, FORGET, "forget it"), answered)

    def _redact(self) -> None:
        """Remove a request with its answer for good: choose which."""
        asked = [m for m in self._view.messages if m.role == "user" and m.status in ENDED]
        requests = {message.message_id: message for message in reversed(asked)}
        choices = [
            Choice(key, moment(message.created_at)[5:16], safe_line(message.content, 200))
            for key, message in requests.items()
        ]

        def chosen(message_id: str | None) -> None:
            if message_id is not None:
                self._app.handlers.removal.side(requests[message_id])

        title, empty = "Remove which request, with its answer?", "No request was answered yet."
        self._app.push_screen(Chooser(self._app.keymap, title, choices, empty=empty), chosen)

    def _read_anew(self) -> None:
        """Texts were removed, maybe from the conversation too."""

        def done(page: AssistantMessages) -> None:
            view = SideView(status=self._view.status)
            self._show(with_page(view, page.messages, page.next_before))

        self._app.attempt(self._app.session.side.older(None), done)

    def _load_older(self) -> None:
        before = self._view.older_before
        if before is None:
            return

        def done(page: AssistantMessages) -> None:
            self._show(with_page(self._view, page.messages, page.next_before))

        self._app.attempt(self._app.session.side.older(before), done)
