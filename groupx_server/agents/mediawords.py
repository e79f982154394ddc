"""Images and sounds of agents, as words: the ledger keeps what they are, not their bytes.

One form for all protocols: `[image: image/png, 640×480, 12 KB]`, with the path or address where the
agent named one. Counterpart: `groupx_tui.state.pictures`, which finds the path again.
"""

from __future__ import annotations

from typing import Any, Final

from groupx_server.agents.loose import as_text
from groupx_shared.imageheader import describe
from groupx_shared.text import safe_line

MAX_TYPE_CHARS: Final = 60
MAX_PLACE_CHARS: Final = 1_000


def media_words(kind: str, media_type: Any, data: Any, place: Any = None) -> str:
    """Return the words for a piece of `kind` (`image`, `audio`, `document`). `data` is base64, or
    nothing when only `place` (a path or an address) is known; no field is trusted."""
    encoded, where = as_text(data), as_text(place)
    form = as_text(media_type)
    if where.startswith("data:"):  # an address that holds the bytes themselves
        head, _, inside = where.partition(",")
        form = form or head.removeprefix("data:").partition(";")[0]
        encoded, where = encoded or inside, ""
    form = safe_line(form, MAX_TYPE_CHARS)
    words = describe(form or "unknown type", encoded) if encoded else form
    where = safe_line(where, MAX_PLACE_CHARS).removeprefix("file://")
    told = ", ".join(part for part in (words, where) if part)
    return f"[{kind}: {told}]" if told else f"[{kind}]"
