"""A picture: as such where the terminal shows pictures, in characters where it has colours, and
its type, size and path everywhere.

Invariant: what was drawn past the drawing is taken away before anything else comes to its place.
Counterparts: `handlers.picture`, which opens it, and `picturework`, which decodes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region
from textual.widgets import Static

from groupx_shared.errors import WorkspaceError
from groupx_shared.imageheader import ImageHeader
from groupx_shared.text import safe_line
from groupx_tui.background import in_daemon_thread
from groupx_tui.keymap import KeyMap
from groupx_tui.picture import (
    Picture,
    box_of,
    erase_sequence,
    fitted,
    remove_sequence,
    show_sequence,
    sixel_sequence,
)
from groupx_tui.picturework import Form, Made, decode
from groupx_tui.screens.dialog import Dialog
from groupx_tui.terminalanswers import Shows
from groupx_tui.widgets.cellpicture import CellPicture

NO_COLOURS = "This terminal shows no pictures; open the file with another program."
IN_CHARACTERS = "drawn in characters: this terminal shows no pictures"
WAIT = "Decoding …"


class Terminal(NamedTuple):
    """What a picture needs of the terminal."""

    write: Callable[[str], object]
    """Takes sequences past the drawing."""
    shows_pictures: Callable[[], Awaitable[Shows]]
    cell_pixels: Callable[[], tuple[int, int]]
    has_colours: bool


class PictureScreen(Dialog[None]):
    """One picture."""

    DEFAULT_CSS = """
    PictureScreen {
        .dialog-box { width: 100%; height: 100%; }
        .picture-facts { height: auto; color: $muted; }
        .picture-place { height: 1fr; margin-top: 1; }
        .picture-word { height: auto; }
    }
    """

    def __init__(self, keymap: KeyMap, picture: Picture, terminal: Terminal) -> None:
        copy, close = keymap.shown("dialog.copy"), keymap.shown("dialog.close")
        title = safe_line(picture.path.name, 100)
        super().__init__(keymap, title, f"{copy} copy the path   {close} close")
        self._picture = picture
        self._terminal = terminal
        self._facts = Static(classes="picture-facts", markup=False)
        self._place = Vertical(classes="picture-place")
        self._word = Static(Content(picture.too_large or WAIT), classes="picture-word")
        self._cells = CellPicture()
        self._remove = ""
        """What takes away what is shown."""

    def body(self) -> ComposeResult:
        self._say("")
        yield self._facts
        with self._place:
            yield self._word
            yield self._cells

    def _say(self, more: str) -> None:
        facts = ", ".join(filter(None, (self._picture.words, more)))
        self._facts.update(Content(f"{facts}\n{safe_line(str(self._picture.path), 400)}"))

    def on_resize(self, event: events.Resize) -> None:
        """Draw it as large as it fits now."""
        self.take_away()
        if not self._picture.too_large:
            self.run_worker(self._show(), group="picture", exclusive=True)

    async def _show(self) -> None:
        header = self._picture.header
        shows = await self._terminal.shows_pictures()
        place = self._place.content_region
        if header is None or place.width < 2 or place.height < 2:
            return
        if shows == "text" and not self._terminal.has_colours:
            self._word.update(Content(NO_COLOURS))
            return
        try:
            await self._draw(shows, header, place)
        except WorkspaceError as error:
            self._word.update(Content(error.message))

    async def _draw(self, shows: Shows, header: ImageHeader, place: Region) -> None:
        columns, rows = fitted(header, place.width, place.height)
        if shows == "text":
            self._cells.show(await self._decoded("rgb", (columns, rows * 2)))
            self._say(IN_CHARACTERS)
            self._word.display = False
            return
        box = box_of(columns, rows, self._terminal.cell_pixels())
        form: Form = "png" if shows == "kitty" else "sixel"
        made = await self._decoded(form, box)
        self._word.update(Content(""))
        self.call_after_refresh(self._write, shows, made, place, (columns, rows))

    async def _decoded(self, form: Form, box: tuple[int, int]) -> Made:
        path = self._picture.path
        return await in_daemon_thread(lambda: decode(path, form, *box), "groupx-picture")

    def _write(self, shows: Shows, made: Made, place: Region, cells: tuple[int, int]) -> None:
        if shows == "kitty":
            self._terminal.write(show_sequence(made.data, place.x, place.y, *cells))
            self._remove = remove_sequence()
        else:
            self._terminal.write(sixel_sequence(made.data, place.x, place.y))
            self._remove = erase_sequence(place.x, place.y, *cells)

    def take_away(self) -> None:
        """Leave nothing of it on the screen."""
        if self._remove:
            self._terminal.write(self._remove)
            self._remove = ""

    def on_unmount(self) -> None:
        """Leave nothing of it on the screen."""
        self.take_away()

    def copy_text(self) -> tuple[str, str] | None:
        """Its path."""
        return str(self._picture.path), "the path"
