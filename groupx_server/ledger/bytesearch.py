"""Looking for removed texts in the bytes of files, to prove that they are gone.

A text is looked for by pieces from all its parts, as it is and as JSON has it. The counterpart is
`purge`, which gets them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import orjson

from groupx_server.ledger.rawfile import PIECE_BYTES

LEAST_PROBE: Final = 6
"""Characters of a text that is looked for; a shorter one is there by chance."""
PROBE_CHARS: Final = 200
"""Of one piece of a long text: enough that no other text has it by chance, and short enough that
some piece lies whole on one page."""
MAX_PIECES: Final = 16
"""Of one text, evenly from its beginning to its end."""
MAX_PROBES: Final = 64
"""Of all texts; each costs a tenth of a second for each gigabyte."""


def probes_of(texts: Iterable[str]) -> tuple[bytes, ...]:
    """What to look for, at most `MAX_PROBES`."""
    probes: dict[bytes, None] = {}
    for text in texts:
        for piece in _pieces(text):
            probes[piece.encode("utf-8", "surrogatepass")] = None
            probes[orjson.dumps(piece)[1:-1]] = None
    return tuple(probes)[:MAX_PROBES]


def stands_in(probes: Sequence[bytes], pieces: Iterable[tuple[int, bytes]]) -> bool:
    """Whether one of the probes stands in these pieces of a file, or across two of them."""
    overlap = max(map(len, probes), default=1) - 1
    rest = b""
    for _, piece in pieces:
        edge = rest + piece[:overlap]
        if any(probe in piece or probe in edge for probe in probes):
            return True
        rest = (rest + piece[-overlap:])[-overlap:] if overlap else b""
    return False


def files_with(probes: Sequence[bytes], files: Iterable[Path]) -> list[Path]:
    """Those files that hold a probe. Never for a database that is open (`rawfile`).

    Raises: OSError.
    """
    return [file for file in files if file.is_file() and stands_in(probes, _pieces_of(file))]


def _pieces_of(file: Path) -> Iterator[tuple[int, bytes]]:
    with file.open("rb") as opened:
        offset = 0
        while piece := opened.read(PIECE_BYTES):
            yield offset, piece
            offset += len(piece)


def _pieces(text: str) -> Iterator[str]:
    step = max(PROBE_CHARS, -(-len(text) // MAX_PIECES))
    for start in range(0, len(text), step):
        at = min(start, max(0, len(text) - PROBE_CHARS))  # no scrap of an end: it is anywhere
        piece = text[at : at + PROBE_CHARS]
        if len(piece.strip()) >= LEAST_PROBE:
            yield piece
