"""`GroupXApp`: the window, which joins session, screens and handlers.

Owns the one `ClientSession` and decides when a frame is drawn. Invariants: the first frame is
drawn before the server is asked for; nothing ticks while nothing happens; closing the window ends
neither the server nor an agent. What keys do is in `groupx_tui.handlers`, found by the action's id;
`groupx_tui.opening` makes the app for a workspace and runs it.
"""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rich.console import RenderableType
from rich.text import Text
from textual import events, on
from textual.app import App
from textual.screen import Screen
from textual.theme import Theme

from groupx_shared.errors import GroupXError, WorkspaceError
from groupx_shared.paths import private_folder, user_state_folder
from groupx_shared.text import safe_text
from groupx_tui.actions import Where
from groupx_tui.attention import Mode
from groupx_tui.background import in_daemon_thread
from groupx_tui.clipboard import give_to_tmux, sent_sentence, tmux_sentence
from groupx_tui.commandline import Commands, NoCommands
from groupx_tui.fewcolours import in_few_colours
from groupx_tui.handlers.registry import Handlers
from groupx_tui.keymap import KeyMap
from groupx_tui.messages import ServerFailed
from groupx_tui.picture import USUAL_CELL
from groupx_tui.screens.dialog import Dialog
from groupx_tui.screens.room import RoomScreen
from groupx_tui.screens.trouble import Trouble
from groupx_tui.setup import Drafts, NoHistory, SentTexts, WindowSetup
from groupx_tui.state.model import ClientView
from groupx_tui.terminal import RoomDriver, WindowDriver, leave_on_signals
from groupx_tui.terminalanswers import Shows
from groupx_tui.theme import (
    DEFAULT_THEME,
    FEW_COLOURS_THEME,
    ThemeFile,
    to_textual,
    unknown_theme,
)
from groupx_tui.widgets.composer.composer import Composer
from groupx_tui.widgets.sidepanel import SidePanel
from groupx_tui.widgets.timeline.messages import (
    BlockActivated,
    CopyRequested,
    NeedAfter,
    NeedBefore,
    NeedEnd,
    PositionChanged,
)
from groupx_tui.widgets.timeline.pacing import FramePacer
from groupx_tui.workfiles.index import WorkFiles

if TYPE_CHECKING:
    from groupx_tui.client.session import ClientSession

Result = TypeVar("Result")
CRASH_FILE: Final = "crash.log"


class GroupXApp(App[int], inherit_bindings=False):
    """The window on one workspace."""

    TITLE = "GroupX"
    ENABLE_COMMAND_PALETTE = False
    ESCAPE_TO_MINIMIZE = False

    def __init__(
        self,
        open_session: Callable[[], ClientSession],
        drafts: Drafts,
        setup: WindowSetup,
        *,
        start_server: Callable[[], object] = lambda: None,
        first_view: ClientView | None = None,
        history: SentTexts | None = None,
        folder: Path | None = None,
        command_line: Commands | None = None,
    ) -> None:
        """`open_session` makes the session once the first frame, of `first_view`, is drawn (what
        it needs takes as long to load as all else). `start_server` blocks until a server is ready
        and raises GroupXError when it cannot be. `history` keeps sent texts; `folder` is where
        files are looked for that a message names."""
        # Without colours only what the terminal does by itself is drawn: bold, reverse, underline.
        driver = setup.driver or RoomDriver
        super().__init__(driver_class=driver, ansi_color=True if setup.no_color else None)
        self._open_session = open_session
        self._session: ClientSession | None = None
        self._first_view = first_view or ClientView()
        self.drafts = drafts
        self.kept_history: SentTexts = history or NoHistory()
        self.command_line: Commands = command_line or NoCommands()
        self.work_files = WorkFiles(folder)
        self.keymap = KeyMap(dict(setup.keymap.keys))  # held by all parts; changes in place
        self.shelf = setup.shelf
        self.preferences = setup.preferences
        self._notes = setup.notes
        self._start_server = start_server
        self.terminal_attributes: list[Any] | None = None
        self.room = RoomScreen(
            self.keymap,
            self.action_act,
            view=self._first_view,
            panel=self.preferences.chosen.panel,
        )
        self.handlers = Handlers(self)
        self._pacer = FramePacer(self.draw_view, self.set_timer, time.monotonic)
        self.animation_level = "none"
        self.drawn: Callable[[ThemeFile], Theme] = to_textual
        """A theme's file as it is drawn in this terminal."""
        for theme in self.shelf.themes.values():
            self.register_theme(self.drawn(theme))
        self.theme = self._chosen_theme()

    def draw_in_few_colours(self) -> None:
        """The terminal has 16 colours: draw each theme in them. Before the window opens."""
        chosen, self.theme = self.theme, FEW_COLOURS_THEME
        self.drawn = lambda theme: to_textual(in_few_colours(theme))
        for theme in self.shelf.themes.values():
            self.register_theme(self.drawn(theme))
        self.theme = chosen

    def add_note(self, note: str) -> None:
        """Show a sentence once the window is there."""
        self._notes += (note,)

    # --- start and end

    def get_default_screen(self) -> Screen[Any]:
        """The room."""
        return self.room

    def on_mount(self) -> None:
        """Say what was not understood, and connect behind the first frame."""
        if not self.is_headless:
            leave_on_signals(self.leave, self.terminal_attributes)
        self.app_resume_signal.subscribe(self, self._came_back)
        for note in (*self._notes, self.drafts.problem, self.kept_history.problem):
            if note:
                self.tell(note, "warning")
        self.call_after_refresh(self._begin)

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        # An input method shows what it offers where the terminal's cursor is. Textual moves that
        # when a text changes, not when a dialog opens or closes over it.
        caret = getattr(screen.focused, "cursor_screen_offset", None)
        if caret is not None and screen.is_current:
            self.cursor_position = caret
        super()._display(screen, renderable)

    def _came_back(self, app: App[Any]) -> None:
        """The window was suspended and is in the foreground again: the shell wrote over it."""
        self.refresh(layout=True)

    def _begin(self) -> None:
        """Make sure that a server runs, then follow it until the window closes. The draft is there
        before the server is: what is typed meanwhile goes on from it."""
        self.handlers.room.before_show(self.view)

        async def follow() -> None:
            await self._ensure_server()
            await self.session.run(self._view_changed)

        self.run_worker(follow(), group="connection")

    def start_server(self) -> None:
        """Start the server again; who follows it sees by himself when it is there."""

        async def start() -> None:
            self.room.banner.say_starting(is_starting=True)
            try:
                await self._ensure_server()
            finally:
                self.room.banner.say_starting(is_starting=False)
            self.session.hurry()

        self.run_worker(start(), group="start", exclusive=True)

    async def _ensure_server(self) -> None:
        try:
            await in_daemon_thread(self._start_server, "groupx-start")
        except GroupXError as error:
            self.post_message(ServerFailed(error.message))

    @on(ServerFailed)
    def _server_failed(self, event: ServerFailed) -> None:
        def answered(again: bool | None) -> None:
            if again:
                self.start_server()

        if not isinstance(self.screen, Trouble):
            self.push_screen(Trouble(self.keymap, event.why), answered)

    def leave(self, code: int = 0) -> None:
        """Close the window; what is written stays a draft."""
        self.handlers.room.keep_draft(self.room.composer.text)
        self.exit(return_code=code)

    async def on_unmount(self) -> None:
        """Keep the drafts, let go of the connections."""
        self.drafts.close()
        if self._session is not None:
            await self._session.aclose()

    @property
    def session(self) -> ClientSession:
        """The connection to the server; made when it is first asked for."""
        if self._session is None:
            self._session = self._open_session()
        return self._session

    # --- drawing

    @property
    def view(self) -> ClientView:
        """The newest view."""
        return self._first_view if self._session is None else self._session.view

    @property
    def place(self) -> Where:
        """Where the keyboard is."""
        return "dialog" if isinstance(self.screen, Dialog) else self.room.place

    def _view_changed(self, view: ClientView) -> None:
        self.handlers.attention.follow(view)
        self._pacer.request()

    def draw_view(self) -> None:
        """Show the newest view now."""
        if not self.room.is_mounted:
            return
        view = self.view
        self._drop_old_trouble(view)
        self.handlers.room.before_show(view)
        self.room.show(view)
        self.handlers.room.after_show(view)
        for screen in self.screen_stack:
            if isinstance(screen, Dialog):
                screen.take_view(view)
        self.handlers.context.follow(view)
        self._name_window(self.handlers.attention.title(view))

    def _watch_app_focus(self, focus: bool) -> None:
        # Textual takes the keyboard from the widget that has it while the terminal has no focus,
        # and forgets which it was when that happens during the start: keys would do nothing then.
        self.screen.update_node_styles()
        if focus:
            self.screen._update_auto_focus()

    def watch_app_focus(self, has_focus: bool) -> None:
        """The terminal got or lost the focus."""
        self.handlers.room.looked_away(self.view, is_away=not has_focus)
        self.handlers.attention.focus_changed(self.view, has_focus=has_focus)
        self._name_window(self.handlers.attention.title(self.view))

    def _name_window(self, title: str) -> None:
        if title != self.title:
            self.title = title
            if isinstance(self._driver, WindowDriver):
                self._driver.set_title(title)

    def _drop_old_trouble(self, view: ClientView) -> None:
        """That there is no server is not said any longer than it is so: somebody started it."""
        stack = self.screen_stack  # empty while the window closes
        if view.connection == "live" and stack and isinstance(stack[-1], Trouble):
            stack[-1].dismiss(None)

    def write_terminal(self, sequence: str) -> None:
        """Write a sequence of ours past the drawing."""
        if isinstance(self._driver, WindowDriver):
            self._driver.write(sequence)

    async def shows_pictures(self) -> Shows:
        """How the terminal shows pictures; it is asked when it is not known."""
        driver = self._driver
        return await driver.shows_pictures() if isinstance(driver, WindowDriver) else "text"

    def cell_pixels(self) -> tuple[int, int]:
        """How many pixels a cell of the terminal is wide and high."""
        driver = self._driver
        return driver.cell_pixels() if isinstance(driver, WindowDriver) else USUAL_CELL

    def set_progress(self, *, is_working: bool) -> None:
        """Show in the terminal's own way that an agent works."""
        if isinstance(self._driver, WindowDriver):
            self._driver.set_progress(is_on=is_working)

    # --- what the widgets tell

    @on(Composer.Submitted)
    def _submitted(self, event: Composer.Submitted) -> None:
        self.handlers.composer.send_message(event)

    @on(Composer.Commanded)
    async def _commanded(self, event: Composer.Commanded) -> None:
        await self.handlers.run(event.command.action.id, event.command.argument)

    @on(Composer.Refused)
    def _not_sent(self, event: Composer.Refused) -> None:
        self.tell(event.why, "warning")

    @on(Composer.TextChanged)
    def _text_changed(self, event: Composer.TextChanged) -> None:
        self.handlers.room.keep_draft(event.text)
        if event.text:
            self.room.keybar.say("")

    @on(Composer.FilesWanted)
    def _files_wanted(self, event: Composer.FilesWanted) -> None:
        self.handlers.composer.look_for_files()

    @on(SidePanel.RoomChosen)
    def _room_chosen(self, event: SidePanel.RoomChosen) -> None:
        self.handlers.room.go(event.room_id)

    @on(SidePanel.AgentChosen)
    def _agent_chosen(self, event: SidePanel.AgentChosen) -> None:
        self.handlers.agent.address(event.agent)

    @on(PositionChanged)
    def _position_changed(self, event: PositionChanged) -> None:
        self.room.header.show_position(event.position)
        self.session.set_reader_side(event.side)

    @on(NeedBefore)
    def _need_before(self, event: NeedBefore) -> None:
        self.attempt(self.session.load_before())

    @on(NeedAfter)
    def _need_after(self, event: NeedAfter) -> None:
        self.attempt(self.session.load_after())

    @on(NeedEnd)
    def _need_end(self, event: NeedEnd) -> None:
        self.attempt(self.session.jump("last"))

    @on(CopyRequested)
    def _copy_requested(self, event: CopyRequested) -> None:
        self.copy(event.text, event.what)

    @on(BlockActivated)
    def _block_activated(self, event: BlockActivated) -> None:
        self.handlers.block.show(event.block_id)

    # --- what a person does

    async def on_event(self, event: events.Event) -> None:
        """Give what was typed ahead to the dialog that it was typed for."""
        stack = self.screen_stack  # empty while the window opens and closes
        top = stack[-1] if stack else None
        if isinstance(event, events.Key) and isinstance(top, Dialog) and top.takes_ahead(event):
            return
        await super().on_event(event)

    async def action_act(self, action_id: str, argument: str = "") -> None:
        """Do the action of this id; a key, a slash word, the palette and a click end here."""
        await self.handlers.run(action_id, argument)

    def attempt(
        self,
        work: Coroutine[Any, Any, Result],
        done: Callable[[Result], object] | None = None,
        failed: Callable[[GroupXError], str | None] | None = None,
    ) -> None:
        """Do `work` beside the loop's other work; say its refusal, or hand the result to `done`.

        `failed` does what is to be done about an error, and may return a better sentence for it."""

        async def guarded() -> None:
            try:
                result = await work
            except GroupXError as error:
                better = None if failed is None else failed(error)
                self.tell(better or error.message, "error")
                return
            if done is not None:
                done(result)

        self.run_worker(guarded(), group="commands")

    def tell(self, sentence: str, tone: str = "information") -> None:
        """Show the result of something the person did."""
        severities = {"error": "error", "warning": "warning"}
        severity = severities.get(tone, "information")
        self.notify(safe_text(sentence), severity=severity, markup=False)  # type: ignore[arg-type]

    def close_dialogs(self) -> None:
        """Back to the room, whatever stands over it."""
        while isinstance(self.screen, Dialog):
            self.pop_screen()

    def copy(self, text: str, what: str) -> None:
        """Send `text` to the terminal's clipboard and say so truthfully: no terminal answers."""
        if not text:
            self.tell("There is nothing to copy.", "warning")
            return
        self.run_worker(self._copy(text, what), group="commands")

    async def _copy(self, text: str, what: str) -> None:
        if not self.is_headless and await give_to_tmux(text, os.environ):
            self.tell(tmux_sentence(what, text))
            return
        self.copy_to_clipboard(text)
        self.tell(sent_sentence(what, text))

    # --- themes

    def show_theme(self, name: str) -> bool:
        """Draw in another theme; False (and a sentence) when there is none of that name."""
        if name not in self.shelf.themes:
            self.tell(unknown_theme(name, self.shelf.themes), "warning")
            return False
        self.theme = name
        return True

    def remember(
        self,
        *,
        theme: str | None = None,
        panel: bool | None = None,
        attention: Mode | None = None,
    ) -> None:
        """Keep a choice for the next window."""
        try:
            self.preferences.choose(theme=theme, panel=panel, attention=attention)
        except WorkspaceError as error:
            self.tell(error.message, "warning")

    def _chosen_theme(self) -> str:
        chosen = self.preferences.chosen.theme or DEFAULT_THEME
        if chosen in self.shelf.themes:
            return chosen
        self._notes += (unknown_theme(chosen, self.shelf.themes),)
        return DEFAULT_THEME

    # --- the worst case

    def _fatal_error(self) -> None:
        """An error of ours: keep its trace in a file, leave a calm sentence on the terminal."""
        trace = traceback.format_exc()
        path = user_state_folder() / CRASH_FILE
        try:
            private_folder(path.parent)
            path.write_text(trace, "utf-8")
            where = f"The details are in {path}."
        except (OSError, WorkspaceError):
            where = trace
        last = trace.strip().splitlines()[-1]
        sentence = (
            f"GroupX closed its window because of an error of its own: {safe_text(last)}\n"
            f"The server and the agents go on. {where}"
        )
        self._exit_renderables.append(Text(sentence))
        self._close_messages_no_wait()
