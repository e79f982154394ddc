"""Texts that were written and not sent, by room, kept across restarts of the client.

One small private file for each workspace in the user's state folder, replaced atomically. Writing
is put off while somebody types (at most `WRITE_EVERY_S` is lost when the client is killed). A file
that cannot be understood is set aside, never overwritten; a folder that cannot be written costs
the drafts of the next restart and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from groupx_shared.errors import WorkspaceError
from groupx_shared.paths import private_folder, user_state_folder
from groupx_shared.workspace import Workspace

WRITE_EVERY_S: Final = 2.0
MAX_ROOMS: Final = 200
"""Drafts kept; the ones touched longest ago are dropped."""
MAX_DRAFT_CHARS: Final = 2_000_000
"""A pasted megabyte survives; what is larger is not a draft."""


class DraftStore:
    """Drafts of one workspace. `problem` says why they cannot be kept, if so."""

    def __init__(
        self, workspace: Workspace, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._path = draft_file(workspace)
        self._monotonic = monotonic
        self._written_s = float("-inf")
        self._is_dirty = False
        self.problem: str | None = None
        self._drafts = self._read()

    def load(self, room_id: str) -> str:
        """The room's draft; empty when there is none."""
        return self._drafts.get(room_id, "")

    def save(self, room_id: str, text: str) -> None:
        """Keep a draft; an empty one is forgotten."""
        if text == self._drafts.get(room_id, ""):
            return
        self._drafts.pop(room_id, None)
        if text and len(text) <= MAX_DRAFT_CHARS:
            self._drafts[room_id] = text
        while len(self._drafts) > MAX_ROOMS:
            del self._drafts[next(iter(self._drafts))]
        self._is_dirty = True
        if self._monotonic() - self._written_s >= WRITE_EVERY_S:
            self._write()

    def close(self) -> None:
        """Write what was put off."""
        if self._is_dirty:
            self._write()

    def _read(self) -> dict[str, str]:
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            self.problem = f"Drafts cannot be read: {error}."
            return {}
        try:
            data = json.loads(text)
        except ValueError:
            data = None
        if not isinstance(data, dict):
            self._set_aside()
            return {}
        return {str(room): str(draft) for room, draft in data.items()}

    def _set_aside(self) -> None:
        aside = self._path.with_suffix(".damaged.json")
        try:
            self._path.replace(aside)
        except OSError as error:
            self.problem = f"The damaged drafts in {self._path} cannot be moved aside: {error}."
        else:
            self.problem = f"The drafts could not be understood; they were moved to {aside}."

    def _write(self) -> None:
        temporary = self._path.with_suffix(f".{os.getpid()}.tmp")
        try:
            private_folder(self._path.parent)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(self._drafts, file, ensure_ascii=True)
            temporary.replace(self._path)
        except (OSError, WorkspaceError) as error:
            self.problem = f"Drafts cannot be kept: {error}."
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
        else:
            self._is_dirty = False
        self._written_s = self._monotonic()


def draft_file(workspace: Workspace) -> Path:
    """Where the drafts of a workspace are kept."""
    return user_state_folder() / "drafts" / f"{workspace.scope_key[:32]}.json"
