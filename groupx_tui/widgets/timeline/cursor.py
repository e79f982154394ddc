"""The cursor: where keys act. It stands on stops only: header lines, folds, code blocks.

Invariant: it is kept by block, part and number of the stop, so it survives whatever grows around
it. Counterpart: `document.py`, whose layouts name their stops.
"""

from __future__ import annotations

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
        part = None if index is None else self._document.state(index).index_of(place.part_key)
        if index is None or part is None:
            return None
        stops = self._stops(index, part)
        return stops[place.number] if place.number < len(stops) else None

    def _stops(self, block: int, number: int) -> list[Found]:
        """Return the stops of one part."""
        document = self._document
        part = document.state(block).parts[number]
        if not part.has_stops:
            return []
        block_id = document.blocks[block].block_id
        return [
            Found(Ref(block, number, stop.row), stop, StopPlace(block_id, part.key, which))
            for which, stop in enumerate(document.layout(part).stops)
        ]

    def after(self, ref: Ref) -> Found | None:
        """Return the first stop below a row."""
        for block in range(ref.block, len(self._document.blocks)):
            first = ref.part if block == ref.block else 0
            for number in range(first, len(self._document.state(block).parts)):
                for found in self._stops(block, number):
                    if found.ref > ref:
                        return found
        return None

    def before(self, ref: Ref) -> Found | None:
        """Return the last stop above a row."""
        for block in range(ref.block, -1, -1):
            count = len(self._document.state(block).parts)
            last = ref.part if block == ref.block else count - 1
            for number in range(min(last, count - 1), -1, -1):
                for found in reversed(self._stops(block, number)):
                    if found.ref < ref:
                        return found
        return None

    def at(self, ref: Ref) -> Found | None:
        """Return the stop on a row."""
        stops = self._stops(ref.block, ref.part)
        return next((found for found in stops if found.ref == ref), None)
