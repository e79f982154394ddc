"""Ids of rooms, given or made from a title."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from groupx_shared.errors import RefusedError
from groupx_shared.ids import ROOM_PATTERN, RoomId, new_id
from groupx_shared.text import safe_line

MAX_SLUG: Final = 48
"""Longest part of a room id that is made from its title."""


def room_id_of(title: str, given: str | None) -> str:
    """The given id, with `room:` before it, or one made from the title.

    Raises: RefusedError when it is none.
    """
    room_id = given or _slug(title)
    if not room_id.startswith("room:"):
        room_id = f"room:{room_id}"
    if ROOM_PATTERN.match(room_id) is None:
        raise RefusedError(
            f"“{safe_line(room_id, 80)}” is no room id: small letters, digits, dots, dashes after "
            "“room:”, at most 64."
        )
    return room_id


def _slug(title: str) -> str:
    """An id from a title: `Design talk` -> `design-talk`; other scripts get a random one."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:MAX_SLUG].strip("-")
    return slug or RoomId(new_id("r")[-12:])
