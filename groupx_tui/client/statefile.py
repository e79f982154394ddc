"""One small private JSON object in the user's state folder, replaced atomically.

The invariant: a reader sees the old object or the new one, never half of one; only this user can
read it; a file that cannot be understood is set aside, never overwritten. Trouble with it never
raises: it costs what would have been remembered, and `problem` says so in one sentence.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any, Final

from groupx_shared.errors import WorkspaceError
from groupx_shared.paths import private_folder

MAX_FILE_BYTES: Final = 256 * 1024 * 1024
"""A larger file was not written by us."""


class StateFile:
    """The file at `path`; `what` names its content in sentences (“Drafts”)."""

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        self.problem: str | None = None
        self._what = what

    def read(self) -> dict[str, Any]:
        """Return the object; an empty one when there is none or it cannot be used."""
        try:
            if self.path.stat().st_size > MAX_FILE_BYTES:
                raise ValueError("too large")
            data = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            self.problem = f"{self._what} cannot be read: {error}."
            return {}
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict):
            return data
        self._set_aside()
        return {}

    def write(self, data: dict[str, Any]) -> bool:
        """Replace the object; False when that failed (`problem` says why)."""
        temporary = self.path.with_suffix(f".{os.getpid()}.tmp")
        try:
            private_folder(self.path.parent)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(data, file, ensure_ascii=True)
            temporary.replace(self.path)
        except (OSError, WorkspaceError) as error:
            self.problem = f"{self._what} cannot be kept: {error}."
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            return False
        return True

    def _set_aside(self) -> None:
        aside = self.path.with_suffix(".damaged.json")
        try:
            self.path.replace(aside)
        except OSError as error:
            self.problem = f"{self._what} in {self.path} are damaged and stay there: {error}."
        else:
            self.problem = f"{self._what} could not be understood; they were moved to {aside}."
