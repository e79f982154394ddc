"""Opens the app on a fake session, headless, and drives it by keys as a person would."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from groupx_shared.paths import user_state_folder
from groupx_tui.actions import Where
from groupx_tui.app import GroupXApp
from groupx_tui.keymap import DEFAULT_KEYS, KeyMap
from groupx_tui.preferences import PreferenceFile
from groupx_tui.setup import WindowSetup
from groupx_tui.theme import ThemeShelf, load_themes
from support.fake_records import FakeCommands
from support.fake_session import FakeSession, MemoryDrafts, MemoryHistory

PATIENCE_S = 5.0


def no_server() -> None:
    """A server that runs already."""


@dataclass
class Window:
    """An open window and what is behind it."""

    app: GroupXApp
    pilot: Pilot[int]
    session: FakeSession
    drafts: MemoryDrafts
    commands: FakeCommands

    async def press(self, *keys: str) -> None:
        """Press keys and let everything that follows happen."""
        await self.pilot.press(*keys)
        await self.settle()

    async def type(self, text: str) -> None:
        """Type a text, key by key."""
        names = {" ": "space", "@": "at", "/": "slash", "-": "minus", ".": "full_stop"}
        await self.press(*(names.get(letter, letter) for letter in text))

    async def settle(self) -> None:
        """Wait until no message and no command is left."""
        await self.pilot.pause()
        commands = [worker for worker in self.app.workers if worker.group == "commands"]
        if commands:
            await asyncio.wait_for(self.app.workers.wait_for_complete(commands), PATIENCE_S)
            await self.pilot.pause()

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until it is so, letting everything else happen."""
        async with asyncio.timeout(PATIENCE_S):
            while not is_so():
                await self.settle()

    @property
    def text(self) -> str:
        """What is written."""
        return self.app.room.composer.text

    @property
    def toasts(self) -> list[str]:
        """The sentences shown to the person, oldest first."""
        return [notice.message for notice in self.app._notifications]

    @property
    def top(self) -> Screen[Any]:
        """The screen on top."""
        return self.app.screen

    def place(self) -> Where:
        """Where the keyboard is in the room. A method: a checker would remember a property."""
        return self.app.room.place

    def is_completing(self) -> bool:
        """True while the list of candidates is open."""
        return self.app.room.popup.is_open

    def shows_panel(self) -> bool:
        """True while the side panel is there."""
        return bool(self.app.room.panel.display)

    @property
    def has_dialog(self) -> bool:
        """True while a dialog is over the room."""
        return self.app.screen is not self.app.room

    def asked(self, what: str) -> list[tuple[Any, ...]]:
        """What the session was asked of one kind."""
        return [asked for asked in self.session.asked if asked[0] == what]

    def screen_text(self) -> str:
        """The text that is on the screen now."""
        compositor = self.app.screen._compositor
        return "\n".join(strip.text for strip in compositor.render_strips())


@asynccontextmanager
async def open_window(
    session: FakeSession | None = None,
    *,
    size: tuple[int, int] = (80, 24),
    start_server: Callable[[], object] = no_server,
    keymap: KeyMap = DEFAULT_KEYS,
    shelf: ThemeShelf | None = None,
    drafts: MemoryDrafts | None = None,
    no_color: bool = False,
    history: MemoryHistory | None = None,
    folder: Path | None = None,
) -> AsyncIterator[Window]:
    """Open the window and wait until it shows the session's view (unless no server starts)."""
    session, drafts = session or FakeSession(), drafts or MemoryDrafts()
    preferences = PreferenceFile(user_state_folder())
    preferences.load()
    commands = FakeCommands()
    app = GroupXApp(
        lambda: session,
        drafts,
        WindowSetup(
            shelf or load_themes(Path("/nonexistent")),
            preferences,
            keymap,
            no_color=no_color,
        ),
        start_server=start_server,
        history=history,
        folder=folder,
        command_line=commands,
    )
    async with app.run_test(size=size, notifications=True) as pilot:
        window = Window(app, pilot, session, drafts, commands)
        if start_server is no_server:
            await asyncio.wait_for(session.started.wait(), PATIENCE_S)
            await window.settle()
        yield window
