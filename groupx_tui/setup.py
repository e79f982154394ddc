"""What a window is opened with: the person's keys, themes and choices, and what was wrong in them.

Invariant: a mistake in one of the person's files costs a sentence (`notes`), never the window.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from textual.driver import Driver

from groupx_shared.errors import ConfigError, WorkspaceError
from groupx_shared.paths import user_state_folder, user_themes_folder
from groupx_tui.keymap import DEFAULT_KEYS, KeyMap, load_keymap
from groupx_tui.preferences import PreferenceFile
from groupx_tui.theme import ThemeShelf, load_themes

KEYS_FILE = "keys.json"


class Drafts(Protocol):
    """Texts that were not sent yet, by room. `problem` says why they cannot be kept, if so."""

    problem: str | None

    def load(self, room_id: str) -> str: ...
    def save(self, room_id: str, text: str) -> None: ...
    def close(self) -> None: ...


class SentTexts(Protocol):
    """Texts that were sent, by room, oldest first. `problem` says why they cannot be kept."""

    @property
    def problem(self) -> str | None: ...
    def load(self, room_id: str) -> list[str]: ...
    def add(self, room_id: str, text: str) -> None: ...
    def forget(self, text: str) -> None: ...


class NoHistory:
    """Nothing is kept beyond the window."""

    problem: str | None = None

    def load(self, room_id: str) -> list[str]:
        """Nothing."""
        return []

    def add(self, room_id: str, text: str) -> None:
        """Forget it."""

    def forget(self, text: str) -> None:
        """Nothing is kept."""


@dataclass(frozen=True, slots=True)
class WindowSetup:
    """Keys, themes and choices."""

    shelf: ThemeShelf
    preferences: PreferenceFile
    keymap: KeyMap = DEFAULT_KEYS
    notes: tuple[str, ...] = ()
    """Sentences to show once: a theme or key file that was not understood."""
    no_color: bool = False
    driver: type[Driver] | None = None
    """What draws; None: this terminal."""


def load_setup() -> WindowSetup:
    """Read what the person has set for all windows."""
    themes = user_themes_folder()
    shelf = load_themes(themes)
    notes = list(shelf.problems)
    preferences = PreferenceFile(user_state_folder())
    try:
        preferences.load()
    except WorkspaceError as error:
        notes.append(error.message)
    keymap = _keys(themes.parent / KEYS_FILE, notes)
    no_color = bool(os.environ.get("NO_COLOR"))
    return WindowSetup(shelf, preferences, keymap, tuple(notes), no_color)


def _keys(path: Path, notes: list[str]) -> KeyMap:
    try:
        return load_keymap(path)
    except ConfigError as error:
        notes.append(f"{error.message} The default keys are used.")
        return DEFAULT_KEYS
