"""`Composer`: the text, who gets it, what it answers, and the list of completions.

Owns nothing that outlives it: drafts and history are handed in by room. Invariants: a text leaves
the editor only when it was handed on as `Submitted`, and what is refused comes back with
`restore`; what goes out is the whole text, what is shown has chips for large pastes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea

from groupx_tui.keymap import KeyMap
from groupx_tui.state.model import ClientView
from groupx_tui.widgets.bar import Bar
from groupx_tui.widgets.composer.completion import (
    BUILTIN_DRIVER,
    NO_FILES,
    Candidate,
    Completion,
    Known,
    complete,
    names_file,
)
from groupx_tui.widgets.composer.editor import Editor
from groupx_tui.widgets.composer.history import InputHistory
from groupx_tui.widgets.composer.lines import (
    Reply,
    chip_hint,
    counter,
    forward_line,
    meter,
    reply_line,
    target_line,
    too_long,
)
from groupx_tui.widgets.composer.pastes import PasteShelf
from groupx_tui.widgets.composer.popup import CompletionPopup
from groupx_tui.widgets.composer.slash import SlashCommand, message_text, parse_slash
from groupx_tui.widgets.composer.targets import Targets, Watch, find_targets
from groupx_tui.workfiles.finder import FileFinder

PLACEHOLDER = "Message, @agent, @file or /command"
NOBODY_KNOWN = (
    "Not sent: which agents are here is not known until the room is connected. Your text stays."
)


class Composer(Vertical):
    """The lower part of the room."""

    DEFAULT_CSS = """
    Composer {
        height: auto;
        background: $surface;
        padding: 0 1;
        border-top: solid $panel;
        &:focus-within { border-top: solid $primary; }
        Bar { padding: 0; }
        .composer-text { height: auto; }
        #prompt { width: 2; color: $accent; }
    }
    """

    class Submitted(Message):
        """Enter was pressed on a message."""

        def __init__(
            self,
            text: str,
            targets: Targets,
            reply: Reply | None,
            watch: Watch | None = None,
            forward: Reply | None = None,
        ) -> None:
            super().__init__()
            self.text = text
            self.targets = targets
            self.reply = reply
            self.watch = watch
            self.forward = forward

    class Commanded(Message):
        """Enter was pressed on a slash command of this client."""

        def __init__(self, command: SlashCommand) -> None:
            super().__init__()
            self.command = command

    class Refused(Message):
        """Enter was pressed on a text that cannot be sent; it is still there."""

        def __init__(self, why: str) -> None:
            super().__init__()
            self.why = why

    class TextChanged(Message):
        """What is written is another text now: a draft to keep."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class FilesWanted(Message):
        """A file may be meant: a list of them, not too old, is wanted."""

    class Resized(Message):
        """It has another height."""

        def __init__(self, height: int) -> None:
            super().__init__()
            self.height = height

    def __init__(
        self, keymap: KeyMap, popup: CompletionPopup, act: Callable[[str], Awaitable[None]]
    ) -> None:
        super().__init__(id="composer")
        self._keymap = keymap
        self.popup = popup
        self._pastes = PasteShelf()
        self._act = act
        self.editor = Editor(keymap, self._act_on_what_is_written, PLACEHOLDER, self._pastes)
        self.reply_bar = Bar(name="reply")
        self.reply_bar.display = False
        self.target_bar = Bar(name="targets")
        self._view = ClientView()
        self._themes: Sequence[str] = ()
        self._history = InputHistory()
        self.reply: Reply | None = None
        self.supervision: Watch | None = None
        self.forward: Reply | None = None
        self._context_percent: float | None = None
        self._files = NO_FILES
        self._given = ""
        """The text last put in by the program: not typed, so it opens no list."""
        self._offered_for = ""
        """The text that was last looked at for something to complete."""

    def compose(self) -> ComposeResult:
        yield self.reply_bar
        yield self.target_bar
        with Horizontal(classes="composer-text"):
            yield Static("❯", id="prompt", markup=False)
            yield self.editor

    # --- what the room tells it

    def show(self, view: ClientView, themes: Sequence[str] = ()) -> None:
        """Take over agents, rooms and limit of a newer view."""
        is_same = (view.agents, view.rooms, view.connection) == (
            self._view.agents,
            self._view.rooms,
            self._view.connection,
        )
        self._view, self._themes = view, themes or self._themes
        if not is_same:
            self._draw()

    def open_room(self, draft: str, history: InputHistory) -> None:
        """Another room: its draft and its history."""
        self._history = history
        self.supervision = None
        self.set_reply(None)
        self.set_forward(None)
        self._load(draft)

    def set_reply(self, reply: Reply | None) -> None:
        """Answer this message; None: no reply."""
        self.reply = reply
        self.forward = None
        self.reply_bar.display = reply is not None
        if reply is not None:
            self.reply_bar.put(*reply_line(reply, self._keymap.shown("composer.back")))
        self._draw()

    def set_forward(self, forward: Reply | None) -> None:
        """Pass this message on with what is written; None: nothing."""
        self.forward = forward
        if forward is not None:
            self.reply = None
            self.reply_bar.put(*forward_line(forward, self._keymap.shown("composer.back")))
        self.reply_bar.display = forward is not None or self.reply is not None
        self._draw()

    def set_watch(self, watch: Watch | None) -> None:
        """Let this agent watch those who get the message; None: nobody watches."""
        self.supervision = watch
        self._draw()

    def restore(
        self,
        text: str,
        reply: Reply | None,
        watch: Watch | None = None,
        forward: Reply | None = None,
    ) -> None:
        """Give back a text that the server refused, before what was written meanwhile."""
        current = self.text
        self._put(f"{text}\n\n{current}" if current.strip() else text)
        if reply is not None:
            self.set_reply(reply)
        if watch is not None:
            self.set_watch(watch)
        if forward is not None:
            self.set_forward(forward)

    def insert(self, text: str) -> None:
        """Put `text` at the caret, with a space after it, and take the keyboard."""
        self.editor.insert(f"{text} ", maintain_selection_offset=False)
        self.editor.focus()

    # --- what keys do here (called by the composer's handlers)

    @property
    def text(self) -> str:
        """What is written, with what the chips stand for."""
        return self._pastes.expand(self.editor.text)

    def replace_all(self, text: str) -> None:
        """Put `text` in place of what is written, as one undo step."""
        self._put(text)

    @property
    def targets(self) -> Targets:
        """Who would get the text now."""
        author = None if self.reply is None else self.reply.author
        targets = find_targets(self.editor.text, self._view.agents, author)
        # While the list offers what it may become, a name is not a mistake yet.
        is_known = self.popup.is_open or targets.unknown in self._files
        return replace(targets, unknown="") if is_known else targets

    def submit(self) -> None:
        """Enter: take the marked candidate, else run or send what is written."""
        if self.takes_candidate:
            self.take(self.popup.marked)
            return
        shown = self.editor.text
        if not shown.strip() and self.forward is None:
            return
        self.popup.show(None)
        # What a chip stands for is said, not done: commands are looked for in what is shown.
        if (command := parse_slash(shown)) is not None:
            self._history.add(shown)
            self._load("")  # what is answered, and who watches, stays for the message to come
            self.post_message(self.Commanded(command))
            return
        text = self._pastes.expand(message_text(shown))
        if len(text) > self._view.max_message_chars:
            self.post_message(self.Refused(too_long(len(text), self._view.max_message_chars)))
            return
        if not self._knows_agents:  # it would go to nobody, whomever it names
            self.post_message(self.Refused(NOBODY_KNOWN))
            return
        message = self.Submitted(text, self.targets, self.reply, self.supervision, self.forward)
        self.supervision = None
        self._sent(self.text)
        self.post_message(message)

    def take(self, candidate: Candidate | None) -> bool:
        """Put a candidate in place of what was typed of it; False when there is none."""
        completion = self.popup.completion
        if completion is None or candidate is None:
            return False
        row, _ = self.editor.cursor_location
        rest = self.editor.document[row][completion.end :]
        space = "" if rest.startswith(" ") else " "
        result = self.editor.replace(
            candidate.text + space,
            (row, completion.start),
            (row, completion.end),
            maintain_selection_offset=False,
        )
        self._given = self.editor.text
        self.editor.move_cursor(result.end_location)
        self.popup.show(None)
        return True

    def clear(self) -> bool:
        """Drop what is written into the history; False when there was nothing."""
        if not self.editor.text and self.reply is None:
            return False
        self._sent(self.text)
        return True

    def recall(self, step: int) -> bool:
        """Show the text before (-1) or after (+1) in the history; False at its end."""
        found = self._history.previous(self.text) if step < 0 else self._history.next()
        if found is None:
            return False
        self._put(found)
        return True

    # --- inside

    def on_resize(self, event: events.Resize) -> None:
        """Tell the height to what stands on it."""
        self.post_message(self.Resized(self.outer_size.height))

    @property
    def takes_candidate(self) -> bool:
        """Enter takes the marked line, unless it is what is typed already."""
        completion, marked = self.popup.completion, self.popup.marked
        if completion is None or marked is None:
            return False
        row, _ = self.editor.cursor_location
        typed = self.editor.document[row][completion.start : completion.end]
        return marked.text.lower() != typed.lower()

    @property
    def _knows_agents(self) -> bool:
        return bool(self._view.agents) or self._view.connection == "live"

    def _sent(self, text: str) -> None:
        self._history.add(text)
        self._load("")
        self.set_reply(None)

    def _load(self, text: str) -> None:
        self._given = self._pastes.fold_known(text)
        self.editor.load_text(self._given)
        self.editor.move_cursor(self.editor.document.end)
        self.popup.show(None)

    def _put(self, text: str) -> None:
        self._given = self._pastes.fold_known(text)
        self.editor.set_text(self._given)
        self.popup.show(None)

    @on(TextArea.Changed)
    def _text_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._catch_up()
        self._draw()
        self.post_message(self.TextChanged(self.text))

    async def _act_on_what_is_written(self, action_id: str) -> None:
        self._catch_up()
        await self._act(action_id)

    def _catch_up(self) -> None:
        """Offer what completes the text as it is now. Keys of one burst come before the news of
        what they wrote; enter would take what completes an earlier text."""
        written = self.editor.text
        if written == self._offered_for:
            return
        self._offered_for = written
        if written == self._given:
            return
        self._given = ""
        self._history.leave()
        self.popup.show(self._completion())
        if names_file(*self._caret_line()):
            self.post_message(self.FilesWanted())

    @on(TextArea.SelectionChanged)
    def _caret_moved(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        completion = self.popup.completion
        if completion is None:
            return
        now = self._completion()
        if now is None or now.start != completion.start:
            self.close_list()

    def _completion(self) -> Completion | None:
        if not self.editor.selection.is_empty:
            return None
        row, _ = self.editor.cursor_location
        line, column = self._caret_line()
        found = complete(line, column, is_first_line=row == 0, known=self._known())
        if found is not None and len(found.candidates) == 1:
            only = found.candidates[0].text
            if line[found.start : found.end].lower() == only.lower():
                return None
        return found

    def _caret_line(self) -> tuple[str, int]:
        row, column = self.editor.cursor_location
        return self.editor.document[row], column

    def _known(self) -> Known:
        has_guide = any(agent.driver == BUILTIN_DRIVER for agent in self.targets.agents)
        return Known(self._view.agents, self._view.rooms, self._themes, self._files, has_guide)

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        shown = self.editor.text
        line = target_line(
            self.targets,
            parse_slash(shown),
            is_known=self._knows_agents,
            watch=self.supervision,
        )
        self.target_bar.put(line, self._beside(shown))

    def _beside(self, shown: str) -> Content:
        """What stands at the right of the targets: how long it is, else what can be opened, else
        how full the agents' context is."""
        length = len(self._pastes.expand(shown))
        if (count := counter(length, self._view.max_message_chars)).plain:
            return count
        if self._pastes.chips_in(shown):
            return chip_hint(self._keymap.shown("composer.open_paste"))
        return meter(self._context_percent)

    def close_list(self) -> None:
        """Offer nothing any more: what is written may be a mistake now."""
        self.popup.show(None)
        self._draw()

    def offer_files(self, files: FileFinder) -> None:
        """Complete the names of these files from now on."""
        self._files = files
        if not self._given and names_file(*self._caret_line()):
            self.popup.show(self._completion())
        self._draw()

    def show_context(self, percent: float | None) -> None:
        """How full the agents' context is, in percent; None: not known."""
        self._context_percent = percent
        self._draw()
