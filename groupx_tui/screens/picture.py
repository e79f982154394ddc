"""A picture where the terminal shows pictures; its type, size and path everywhere."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from groupx_shared.text import safe_line
from groupx_tui.keymap import KeyMap
from groupx_tui.picture import Picture, fitted, remove_sequence, show_sequence
from groupx_tui.screens.dialog import Dialog

CANNOT = "This terminal shows no pictures (or is in tmux); open the file with another program."
ONLY_PNG = "Only PNG files up to 4 MB are shown here; open the file with another program."


class PictureScreen(Dialog[None]):
    """One picture."""

    DEFAULT_CSS = """
    PictureScreen {
        .dialog-box { width: 100%; height: 100%; }
        .picture-facts { height: auto; color: $muted; }
        .picture-place { height: 1fr; margin-top: 1; }
    }
    """

    def __init__(
        self,
        keymap: KeyMap,
        picture: Picture,
        write: Callable[[str], object],
        *,
        shows_pictures: bool,
    ) -> None:
        """`write` takes sequences for the terminal, past the drawing."""
        copy, close = keymap.shown("dialog.copy"), keymap.shown("dialog.close")
        title = safe_line(picture.path.name, 100)
        super().__init__(keymap, title, f"{copy} copy the path   {close} close")
        self._picture = picture
        self._write = write
        self._can_show = shows_pictures and bool(picture.data)
        self._why = "" if self._can_show else CANNOT if not shows_pictures else ONLY_PNG
        self._place = Static(Content(self._why), classes="picture-place", markup=False)
        self._is_shown = False

    def body(self) -> ComposeResult:
        facts = f"{self._picture.words}\n{safe_line(str(self._picture.path), 400)}"
        yield Static(Content(facts), classes="picture-facts", markup=False)
        yield self._place

    def on_resize(self, event: events.Resize) -> None:
        """Draw it as large as it fits now."""
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        place = self._place.content_region
        header = self._picture.header
        if not self._can_show or header is None or place.width < 2 or place.height < 2:
            return
        self._remove()
        columns, rows = fitted(header, place.width, place.height)
        self._write(show_sequence(self._picture.data, place.x, place.y, columns, rows))
        self._is_shown = True

    def _remove(self) -> None:
        if self._is_shown:
            self._write(remove_sequence())
            self._is_shown = False

    def on_unmount(self) -> None:
        """Leave nothing of it on the screen."""
        self._remove()

    def copy_text(self) -> tuple[str, str] | None:
        """Its path."""
        return str(self._picture.path), "the path"
