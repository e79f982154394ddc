"""Which files of pictures a block of the timeline names. Pure: nothing is opened.

Counterpart: the server's words for images of agents, `[image: image/png, 640×480, 12 KB, PATH]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from groupx_tui.state.model import Block, TurnBlock

SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg")
MAX_TEXT: Final = 200_000
"""Of a text that is looked through: the end of it, where the newest is."""
MAX_FOUND: Final = 50
_MARKDOWN: Final = re.compile(r"!\[[^\]\n]{0,200}\]\(\s*<?([^)\s>]{1,1000})")
_WORDS: Final = re.compile(r"\[image: [^\]\n]{0,200}?, ((?:~?/|\.{1,2}/)[^\]\n]{1,1000})\]")


def pictures_in(block: Block) -> list[str]:
    """Return the paths of pictures, each once, the newest last."""
    found = dict.fromkeys(path for path in _all(block) if _is_file(path))
    return list(found)[-MAX_FOUND:]


def _all(block: Block) -> Iterator[str]:
    if isinstance(block, TurnBlock):
        for tool in block.tools:
            for place in tool.locations:
                yield str(place.get("path") or "")
            for item in tool.content:
                text = item.get("text")
                if isinstance(text, str):
                    yield from _in_text(text)
        yield from _in_text(str(block.text))
    else:
        yield from _in_text(block.text)


def _in_text(text: str) -> Iterator[str]:
    for pattern in (_WORDS, _MARKDOWN):
        for match in pattern.finditer(text[-MAX_TEXT:]):
            yield match[1].removeprefix("file://")


def _is_file(path: str) -> bool:
    return path.lower().endswith(SUFFIXES) and "://" not in path
