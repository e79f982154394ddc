"""What was sent before, by room, for the composer's arrow keys, kept across restarts.

One small private file for each workspace, read again at each sending, so that two windows share
one history. Counterpart: `widgets.composer.history`, which walks in the entries.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from groupx_shared.paths import user_state_folder
from groupx_shared.workspace import Workspace
from groupx_tui.client.statefile import StateFile
from groupx_tui.state.removal import without_text

MAX_ENTRIES: Final = 200
"""Of each room; the oldest go."""
MAX_ROOMS: Final = 100
MAX_ENTRY_CHARS: Final = 20_000
"""A longer one is a paste that nobody calls back with an arrow key."""
MAX_ALL_CHARS: Final = 1_000_000


class HistoryStore:
    """Sent texts of one workspace. `problem` says why they cannot be kept, if so."""

    def __init__(self, workspace: Workspace) -> None:
        self._file = StateFile(history_file(workspace), "Sent texts")

    @property
    def problem(self) -> str | None:
        """Why the history cannot be read or kept, in one sentence."""
        return self._file.problem

    def load(self, room_id: str) -> list[str]:
        """The room's texts, oldest first."""
        return self._read().get(room_id, [])

    def add(self, room_id: str, text: str) -> None:
        """Note a sent text; the same one twice in a row is kept once, a blank or very long one
        not at all."""
        if not text.strip() or len(text) > MAX_ENTRY_CHARS:
            return
        rooms = self._read()
        entries = rooms.pop(room_id, [])
        if not entries or entries[-1] != text:
            entries.append(text)
        rooms[room_id] = entries[-MAX_ENTRIES:]
        self._file.write(_bounded(rooms))

    def forget(self, text: str) -> None:
        """Drop a text that was removed for good, and what has it in it, in all rooms."""
        rooms = self._read()
        kept = {room: without_text(entries, text) for room, entries in rooms.items()}
        if kept != rooms:
            self._file.write(_bounded(kept))

    def _read(self) -> dict[str, list[str]]:
        return {
            str(room): [str(entry) for entry in entries]
            for room, entries in self._file.read().items()
            if isinstance(entries, list)
        }


def _bounded(rooms: dict[str, list[str]]) -> dict[str, list[str]]:
    """Drop the rooms used longest ago, then the oldest texts, until it fits."""
    while len(rooms) > MAX_ROOMS:
        del rooms[next(iter(rooms))]
    excess = sum(len(entry) for entries in rooms.values() for entry in entries) - MAX_ALL_CHARS
    for entries in rooms.values():
        while excess > 0 and entries:
            excess -= len(entries.pop(0))
    return {room: entries for room, entries in rooms.items() if entries}


def history_file(workspace: Workspace) -> Path:
    """Where the sent texts of a workspace are kept."""
    return user_state_folder() / "history" / f"{workspace.scope_key[:32]}.json"
