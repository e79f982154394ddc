"""The cursor: where keys act. It stands on stops only: header lines, folds, code blocks.

Invariant: it is kept by block, part and number of the stop, so it survives whatever grows around
it. Counterpart: `document.py`, whose layouts name their stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from groupx_tui.render.row import Stop
from groupx_tui.widgets.timeline.document import Document, Ref


class StopPlace(NamedTuple):
    """One stop: the `number`th of a part."""

    block_id: str
    part_key: str
    number: int


class Found(NamedTuple):
    """A stop as it is laid out now."""

    ref: Ref
    stop: Stop
    place: StopPlace


class Cursor:
    """Finds and walks the stops of a document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.place: StopPlace | None = None

    def found(self) -> Found | None:
        """Return where the cursor stands, or None when there is no cursor."""
        return None if self.place is None else self._resolve(self.place)

    def _resolve(self, place: StopPlace) -> Found | None:
        index = self._document.locate(place.block_id)
        if index is None:
            return None
        for found in self._stops(index):
            if found.place == place:
                return found
        return None

    def _stops(self, index: int) -> Iterator[Found]:
        document = self._document
        block_id = document.blocks[index].block_id
        for number, part in enumerate(document.state(index).parts):
            if not part.has_stops:
                continue
            for which, stop in enumerate(document.layout(part).stops):
                yield Found(
                    Ref(index, number, stop.row), stop, StopPlace(block_id, part.key, which)
                )

    def after(self, ref: Ref) -> Found | None:
        """Return the first stop below a row."""
        for index in range(ref.block, len(self._document.blocks)):
            for found in self._stops(index):
                if found.ref > ref:
                    return found
        return None

    def before(self, ref: Ref) -> Found | None:
        """Return the last stop above a row."""
        for index in range(ref.block, -1, -1):
            for found in reversed(list(self._stops(index))):
                if found.ref < ref:
                    return found
        return None

    def at(self, ref: Ref) -> Found | None:
        """Return the stop on a row."""
        return next((found for found in self._stops(ref.block) if found.ref == ref), None)
