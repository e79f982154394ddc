"""A text area that knows what a reader takes for one character.

Invariants: the caret is never inside a cluster, an edit takes an emoji of several code points whole
or not at all, and what joins it, or a Persian or Indic word, is written when it is typed.
Counterparts: `render.clusters`; `composer.editor`, which adds the chips of large pastes.
"""

from __future__ import annotations

from typing import Any, Final

from textual import events
from textual.document._document import EditResult, Location, Selection
from textual.document._edit import Edit
from textual.widgets import TextArea

from groupx_tui.render.clusters import COMPOSED, cluster_around
from groupx_tui.widgets.composer.wrapping import teach_wrapping

JOINERS: Final = ("\u200c", "\u200d")
"""Not printable, so the base class drops them."""


class WholeArea(TextArea):
    """Textual's, for clusters."""

    def __init__(self, *args: Any, **options: Any) -> None:
        teach_wrapping()
        super().__init__(*args, **options)

    def whole_around(self, row: int, column: int, *, is_edit: bool) -> tuple[int, int] | None:
        """What has the column strictly inside and is not to be entered, or torn by an edit. Of a
        letter with marks, an edit may take the last mark: so one corrects it."""
        line = self.document[row]
        cluster = cluster_around(line, column)
        if cluster is None or (is_edit and not COMPOSED.search(line, cluster.start, cluster.end)):
            return None
        return cluster.start, cluster.end

    def edit(self, edit: Edit) -> EditResult:
        """Do an edit; one that would take a part of something whole takes all of it."""
        top, bottom = edit.top, edit.bottom
        edit.from_location = self._edge(top, is_start=top != bottom)
        edit.to_location = self._edge(bottom, is_start=False)
        return super().edit(edit)

    async def _on_key(self, event: events.Key) -> None:
        # Asked after the subclass's own and before the base class's, as Textual does.
        if event.character in JOINERS:
            event.prevent_default()
            event.stop()
            self._replace_via_keyboard(event.character, *self.selection)

    def _edge(self, location: Location, *, is_start: bool) -> Location:
        """The place itself, or the edge of what it lies in."""
        row, column = location
        if row >= self.document.line_count:
            return location  # “to the next line” of the last one: the document clamps it
        whole = self.whole_around(row, column, is_edit=True)
        return location if whole is None else (row, whole[0 if is_start else 1])

    def _watch_selection(self, previous_selection: Selection, selection: Selection) -> None:
        super()._watch_selection(previous_selection, selection)
        row, column = selection.end
        whole = self.whole_around(row, column, is_edit=False)
        if whole is not None:  # on to the edge that it was on its way to
            is_forward = selection.end > previous_selection.end
            edge = row, whole[1 if is_forward else 0]
            self.move_cursor(edge, select=selection.start != selection.end)
