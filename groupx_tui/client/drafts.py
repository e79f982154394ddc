"""Texts that were written and not sent, by room, kept across restarts of the client.

One small private file for each workspace in the user's state folder. Writing is put off while
somebody types: at most what was typed in the last `WRITE_EVERY_S` is lost when the client is
killed, also when nothing is typed any more. Two windows on one workspace do not undo each other:
each writes only the rooms it changed. A folder that cannot be written costs the drafts of the next
restart and nothing else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from groupx_shared.paths import user_state_folder
from groupx_shared.workspace import Workspace
from groupx_tui.client.statefile import StateFile

WRITE_EVERY_S: Final = 2.0
MAX_ROOMS: Final = 200
"""Drafts kept; the ones touched longest ago are dropped."""
MAX_DRAFT_CHARS: Final = 2_000_000
"""A pasted megabyte survives; what is larger is not a draft."""
MAX_ALL_CHARS: Final = 8_000_000
"""All drafts together: a file that is written at once."""


Later = Callable[[float, Callable[[], None]], object]
"""Does something after so many seconds."""


def on_running_loop(delay_s: float, work: Callable[[], None]) -> None:
    """Do `work` later on the loop that runs now."""
    asyncio.get_running_loop().call_later(delay_s, work)


class DraftStore:
    """Drafts of one workspace. `problem` says why they cannot be kept, if so."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        later: Later = on_running_loop,
    ) -> None:
        self._file = StateFile(draft_file(workspace), "Drafts")
        self._monotonic = monotonic
        self._later = later
        self._is_put_off = False
        self._written_s = float("-inf")
        self._changed: dict[str, str] = {}
        self.problem: str | None = None
        self._drafts = self._read()

    def load(self, room_id: str) -> str:
        """The room's draft; empty when there is none."""
        return self._drafts.get(room_id, "")

    def save(self, room_id: str, text: str) -> None:
        """Keep a draft; an empty one is forgotten."""
        if text == self._drafts.get(room_id, ""):
            return
        kept = text if len(text) <= MAX_DRAFT_CHARS else ""
        _put(self._drafts, room_id, kept)
        self._changed[room_id] = kept
        wait_s = self._written_s + WRITE_EVERY_S - self._monotonic()
        if wait_s <= 0:
            self._write()
        elif not self._is_put_off:
            self._is_put_off = True
            self._later(wait_s, self._write_put_off)

    def close(self) -> None:
        """Write what was put off."""
        if self._changed:
            self._write()

    def _write_put_off(self) -> None:
        self._is_put_off = False
        self.close()

    def _read(self) -> dict[str, str]:
        data = self._file.read()
        self.problem = self._file.problem
        return {str(room): str(draft) for room, draft in data.items()}

    def _write(self) -> None:
        drafts = self._read()
        for room_id, text in self._changed.items():
            _put(drafts, room_id, text)
        while len(drafts) > MAX_ROOMS or sum(map(len, drafts.values())) > MAX_ALL_CHARS:
            del drafts[next(iter(drafts))]
        if self._file.write(drafts):
            self._drafts, self._changed = drafts, {}
        self.problem = self._file.problem
        self._written_s = self._monotonic()


def _put(drafts: dict[str, str], room_id: str, text: str) -> None:
    """Set one draft as the newest; an empty one goes."""
    drafts.pop(room_id, None)
    if text:
        drafts[room_id] = text


def draft_file(workspace: Workspace) -> Path:
    """Where the drafts of a workspace are kept."""
    return user_state_folder() / "drafts" / f"{workspace.scope_key[:32]}.json"
