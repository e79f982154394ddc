"""The person's own theme files: read again when one is edited, and drawn at once.

Invariants: nothing looks at files while a theme of ours is drawn; a file that does not parse any
more is told once, with file, key and what was expected, and the theme stays as it was drawn.
Counterpart: `theme`, which reads the files.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from textual.timer import Timer

from groupx_shared.paths import user_themes_folder
from groupx_tui.theme import load_themes

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp

LOOK_S: Final = 1.0
"""One look at one file's time; who writes a theme saves it and looks here."""

Stamp = tuple[int, int] | None
"""Time and size of a file; None when it is not there."""


class ThemeFiles:
    """Follows the file of the theme that is drawn, when it is the person's own."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._followed = ""
        self._stamp: Stamp = None
        self._timer: Timer | None = None
        self._told = set(app.shelf.problems)

    @property
    def is_following(self) -> bool:
        """True while a file is looked at."""
        return self._timer is not None

    def follow(self) -> None:
        """The window was drawn: follow the file of its theme from now on."""
        if self._app.theme == self._followed:
            return
        self._followed = self._app.theme
        self._stamp = self._look()
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._stamp is not None:
            self._timer = self._app.set_interval(LOOK_S, self.check)

    def check(self) -> None:
        """Read the files again when that of the drawn theme has changed."""
        stamp = self._look()
        if stamp != self._stamp and stamp is not None:
            self._stamp = stamp
            self.read()

    def read(self) -> None:
        """Read all files again; what has changed counts at once."""
        app = self._app
        found, before = load_themes(user_themes_folder()), app.shelf.themes
        changed = [theme for name, theme in found.themes.items() if before.get(name) != theme]
        app.shelf = replace(found, themes={**before, **found.themes})
        for theme in changed:
            app.register_theme(app.drawn(theme))
        if app.theme in {theme.name for theme in changed}:
            self._draw_again()
        for problem in found.problems:
            if problem not in self._told:
                app.tell(f"{problem} The theme stays as it was.", "warning")
        self._told = set(found.problems)

    def _draw_again(self) -> None:
        """The same name with other colours: Textual looks only at the name."""
        name = self._app.theme
        self._app.theme = next(other for other in self._app.shelf.themes if other != name)
        self._app.theme = name

    def _look(self) -> Stamp:
        try:
            found = (user_themes_folder() / f"{self._app.theme}.toml").stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size
