"""Keys of the composer that mean one thing or another, and what becomes of a sent text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from groupx_shared.errors import GroupXError, ServerUnreachableError
from groupx_shared.names import unknown_name
from groupx_tui.background import in_daemon_thread
from groupx_tui.screens.ask import Ask
from groupx_tui.screens.chooser import Choice, Chooser
from groupx_tui.state.model import AgentView
from groupx_tui.widgets.composer.composer import Composer
from groupx_tui.widgets.composer.targets import Watch
from groupx_tui.workfiles.finder import FileFinder

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp

MAX_BRIEF_CHARS: Final = 8_000
"""The server takes no longer one."""


class ComposerHandlers:
    """`composer.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._is_looking = False

    @property
    def _composer(self) -> Composer:
        return self._app.room.composer

    def send(self, argument: str) -> None:
        """Take the marked candidate, else run or send the text."""
        self._composer.submit()

    def newline(self, argument: str) -> None:
        """A new line at the caret."""
        editor = self._composer.editor
        editor.replace("\n", *editor.selection, maintain_selection_offset=False)

    def complete(self, argument: str) -> None:
        """Take the marked candidate; without a list go to the next part."""
        if not self._composer.take(self._composer.popup.marked):
            self._app.room.focus_part(1)

    def back(self, argument: str) -> None:
        """Close the list, else drop the reply or the watcher, else read."""
        if self._composer.popup.is_open:
            self._composer.close_list()
        elif self._composer.reply is not None:
            self._composer.set_reply(None)
        elif self._composer.forward is not None:
            self._composer.set_forward(None)
        elif self._composer.supervision is not None:
            self._composer.set_watch(None)
        else:
            self._app.room.set_focus(self._app.room.timeline)  # at once: see Editor._on_key

    def up(self, argument: str) -> None:
        """Up in the list, in the text, or into the history."""
        editor = self._composer.editor
        if self._composer.popup.is_open:
            self._composer.popup.move(-1)
        elif not editor.navigator.is_first_wrapped_line(editor.cursor_location):
            editor.action_cursor_up()
        elif not self._composer.recall(-1):
            editor.action_cursor_line_start()

    def down(self, argument: str) -> None:
        """Down in the list, in the text, or out of the history."""
        editor = self._composer.editor
        if self._composer.popup.is_open:
            self._composer.popup.move(1)
        elif not editor.navigator.is_last_wrapped_line(editor.cursor_location):
            editor.action_cursor_down()
        elif not self._composer.recall(1):
            editor.action_cursor_line_end()

    def open_paste(self, argument: str) -> None:
        """Show the pasted text in place of its chip."""
        if not self._composer.editor.open_chip():
            self._app.tell("There is no folded paste here.")

    def supervise(self, argument: str) -> None:
        """Let `@agent` watch those who get the message, else choose one."""
        handle, _, brief = argument.strip().lstrip("@").partition(" ")
        agents = {agent.handle.lower(): agent for agent in self._app.view.agents if agent.enabled}
        if not handle:
            self._choose_observer(list(agents.values()))
        elif handle.lower() in agents:
            self._composer.set_watch(Watch(agents[handle.lower()], brief.strip()))
        else:
            self._app.tell(unknown_name("agent", handle, agents), "warning")

    def _choose_observer(self, agents: Sequence[AgentView]) -> None:
        choices = [Choice(agent.actor_id, agent.name, f"@{agent.handle}") for agent in agents]
        if self._composer.supervision is not None:
            choices.append(Choice("", "Nobody", "nobody watches"))

        def chosen(actor_id: str | None) -> None:
            observer = next((agent for agent in agents if agent.actor_id == actor_id), None)
            if observer is not None:
                self._ask_brief(observer)
            elif actor_id is not None:
                self._composer.set_watch(None)

        title = "Who shall watch those who get the message?"
        self._app.push_screen(Chooser(self._app.keymap, title, choices), chosen)

    def _ask_brief(self, observer: AgentView) -> None:
        def answered(brief: str | None) -> None:
            if brief is not None:
                self._composer.set_watch(Watch(observer, brief))

        ask = Ask(
            self._app.keymap,
            f"What shall {observer.name} look out for?",
            placeholder="May stay empty",
            max_length=MAX_BRIEF_CHARS,
            empty="",
        )
        self._app.push_screen(ask, answered)

    def delete_or_quit(self, argument: str) -> None:
        """Delete to the right; with nothing written, close the window."""
        if self._composer.text:
            self._composer.editor.action_delete_right()
        else:
            self._app.leave()

    def send_message(self, message: Composer.Submitted) -> None:
        """Post it; a refused text comes back."""

        def failed(error: GroupXError) -> str | None:
            from groupx_tui.client.refusals import never_arrived  # loaded with the session

            # When nobody knows whether it arrived, the timeline says so, and the text is not put
            # back where one Enter would send it twice (the up key brings it).
            if not never_arrived(error):
                return None
            self._composer.restore(message.text, message.reply, message.watch, message.forward)
            self._dismiss_refused(message.text)
            if not isinstance(error, ServerUnreachableError):
                return None
            key = self._app.keymap.shown("server.start")
            how = f"{key} or /start" if key else "/start"
            return f"Not sent, your text is back: there is no server. {how} starts it."

        reply_to = None if message.reply is None else message.reply.event_id
        watch = message.watch
        sending = self._app.session.send(
            message.text,
            message.targets.actor_ids,
            reply_to,
            observers=() if watch is None else (watch.observer.actor_id,),
            brief="" if watch is None else watch.brief,
            forwarded_event_id=None if message.forward is None else message.forward.event_id,
        )
        self._app.attempt(sending, failed=failed)
        self._app.handlers.room.sent()
        self._app.room.timeline.action_end()

    def look_for_files(self) -> None:
        """Bring the list of files up to date, when it is not."""
        files = self._app.work_files
        if self._is_looking or not files.is_stale:
            return

        async def look() -> None:
            self._is_looking = True
            try:
                files.take(await in_daemon_thread(files.scan, "groupx-files"))
            finally:
                self._is_looking = False
            self._composer.offer_files(FileFinder(files.paths))

        self._app.run_worker(look(), group="commands")

    def _dismiss_refused(self, text: str) -> None:
        for block in self._app.view.timeline.blocks:
            if getattr(block, "refusal", None) and getattr(block, "text", None) == text:
                self._app.session.dismiss(block.block_id)
