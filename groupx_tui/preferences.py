"""What this person chose for the window: theme, side panel, what happens while he looks elsewhere.

One small JSON file in the user's state folder, written whole and atomically. Invariant: a file
that cannot be read or written costs a sentence, never the program.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from groupx_shared.errors import WorkspaceError
from groupx_shared.paths import private_folder
from groupx_tui.attention import MODES, Mode

FILE_NAME: Final = "window.json"


@dataclass(frozen=True, slots=True)
class Preferences:
    """The choices; None where none was made."""

    theme: str | None = None
    panel: bool | None = None
    attention: Mode | None = None
    mouse: bool | None = None
    """False: the terminal keeps the mouse."""


class PreferenceFile:
    """Reads and writes the choices in one folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self.chosen = Preferences()

    def load(self) -> Preferences:
        """Read the choices; the defaults when there is no file.

        Raises: WorkspaceError when the file cannot be read or understood (defaults are used).
        """
        try:
            data = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return self.chosen
        except (OSError, ValueError) as error:
            raise WorkspaceError(
                f"Your choices in {self._path} cannot be read ({error}); the defaults are used. "
                "The next choice writes the file anew."
            ) from error
        self.chosen = _from_json(data)
        return self.chosen

    def choose(
        self,
        *,
        theme: str | None = None,
        panel: bool | None = None,
        attention: Mode | None = None,
        mouse: bool | None = None,
    ) -> None:
        """Note a choice and write it. Raises: WorkspaceError when it cannot be written."""
        if theme is not None:
            self.chosen = replace(self.chosen, theme=theme)
        if panel is not None:
            self.chosen = replace(self.chosen, panel=panel)
        if attention is not None:
            self.chosen = replace(self.chosen, attention=attention)
        if mouse is not None:
            self.chosen = replace(self.chosen, mouse=mouse)
        private_folder(self._path.parent)
        temporary = self._path.with_suffix(f".{os.getpid()}.tmp")
        try:
            temporary.write_text(json.dumps(asdict(self.chosen)), "utf-8")
            temporary.replace(self._path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise WorkspaceError(
                f"Your choice holds for this window but cannot be kept in {self._path}: "
                f"{error.strerror or error}."
            ) from error


def _from_json(data: Any) -> Preferences:
    found = data if isinstance(data, dict) else {}
    theme, panel, mouse = found.get("theme"), found.get("panel"), found.get("mouse")
    attention = next((mode for mode in MODES if mode == found.get("attention")), None)
    return Preferences(
        theme if isinstance(theme, str) else None,
        panel if isinstance(panel, bool) else None,
        attention,
        mouse if isinstance(mouse, bool) else None,
    )
