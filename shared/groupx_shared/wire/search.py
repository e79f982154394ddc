"""Search over messages, memory and identity."""

from __future__ import annotations

from typing import Literal

from groupx_shared.wire.base import WireModel

SearchKind = Literal["message", "memory", "identity"]
SearchMeaning = Literal["off", "used", "skipped", "incomplete", "failing"]
"""Whether what texts mean counted beside their words: no endpoint is set up; it counted; not for
this query; too few texts have vectors yet; the endpoint gives none."""


class SearchHit(WireModel):
    """One message or record that was found."""

    kind: SearchKind
    id: str
    """An event id, a memory id or an identity id."""
    room_id: str | None = None
    """Absent: of no room (an agent's own memory, identity)."""
    seq: int | None = None
    """Of a message: where it stands."""
    actor_id: str
    """Who said or wrote it."""
    subject_actor_id: str | None = None
    """Whom a record is about."""
    type: str
    """The event's type, or the record's kind."""
    correlation_id: str | None = None
    occurred_at: str
    snippet: str
    """The part of the text around what was found, on one line."""
    marks: tuple[tuple[int, int], ...] = ()
    """What was found in the snippet: start and end in code points, ascending."""
    score: float
    """Higher is better; only to be compared within one answer."""


class SearchReply(WireModel):
    """`GET /api/search`: the best first."""

    hits: tuple[SearchHit, ...]
    next_cursor: str | None = None
    """Pass as `cursor` to get more; absent at the end."""
    capped: bool = False
    """The search was too wide to look at everything: only the most telling words counted."""
    behind: int = 0
    """Events and records that the index does not have yet; 0: it has all."""
    meaning: SearchMeaning = "off"
    meaning_problem: str | None = None
    """Why the endpoint gives none."""


class SearchIndexReply(WireModel):
    """`POST /api/search/rebuild`: the index is empty and is built anew meanwhile."""

    behind: int
    """Events and records to go."""
