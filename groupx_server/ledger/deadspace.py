"""Where a SQLite page holds bytes that belong to nothing.

With `secure_delete` SQLite overwrites what is deleted. What it leaves are copies of rows that it
moved to a neighbouring page when it balanced a tree: they stay in the gap between a page's table of
cells and its cells, where nothing reads them, until the row's text is removed and they are found.
Only this gap is told here, and only of pages whose every cell lies behind it.

Source: https://www.sqlite.org/fileformat2.html §1.6 (b-tree pages), §1.3 (header).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_HEADER_BYTES: Final = 100
_CELLS: Final = struct.Struct(">HH")
"""At byte 3 of a tree page: number of cells, begin of the cells."""
_TREE_PAGES: Final = {2: 12, 5: 12, 10: 8, 13: 8}
"""Kind of page → bytes of its header. The first byte of any other page is that of a page number
(0 below `MAX_PAGES`)."""
MAX_PAGES: Final = 0x01FF_FFFF
"""A larger file might have pages of other kinds that begin like a tree page."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Sizes of a file's pages."""

    page_size: int
    usable: int
    """Without what an extension of SQLite reserved at the end of each page."""


def layout_of(file_begin: bytes) -> Layout | None:
    """The layout by the file's first bytes; None: not a file whose pages can be told apart."""
    if len(file_begin) < _HEADER_BYTES or not file_begin.startswith(b"SQLite format 3\x00"):
        return None
    (size,) = struct.unpack_from(">H", file_begin, 16)
    page_size = 65536 if size == 1 else size
    (pages,) = struct.unpack_from(">I", file_begin, 28)
    (vacuum_root,) = struct.unpack_from(">I", file_begin, 52)
    if page_size < 512 or pages > MAX_PAGES or vacuum_root:
        return None
    return Layout(page_size, page_size - file_begin[20])


def dead_ranges(piece: bytes, offset: int, layout: Layout) -> Iterator[tuple[int, int]]:
    """The gaps of a piece of whole pages that are not all zeros, as offsets in the file."""
    zeros = bytes(layout.page_size)
    for page in range(0, len(piece), layout.page_size):
        head = page + (_HEADER_BYTES if offset + page == 0 else 0)
        header_bytes = _TREE_PAGES.get(piece[head])
        if header_bytes is None:
            continue
        count, start = _CELLS.unpack_from(piece, head + 3)
        table = head + header_bytes
        begin, end = table + 2 * count, page + (start or 65536)
        if not begin < end <= page + layout.usable or piece[begin:end] == zeros[: end - begin]:
            continue
        cells = struct.unpack_from(f">{count}H", piece, table)
        if all(cell >= start for cell in cells):
            yield offset + begin, offset + end
