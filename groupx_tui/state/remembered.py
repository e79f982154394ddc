"""What is remembered, as the window shows it: memory and identity alike, and what is looked for.

Pure. Invariant: every text here is cleaned. Counterpart: `client.shelf`, which reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from groupx_shared.text import safe_line, safe_text

if TYPE_CHECKING:
    from groupx_shared.wire.memory import IdentityRecord, MemoryRecord

Place = Literal["room", "core", "dated", "talk", "identity"]
"""A room's memory, what an agent keeps, what its days held, of one talk only, who an agent is."""
Word = Literal["self", "people", "others"]
"""Whose word an identity record is: the agent's own, a person's, another agent's."""
State = Literal["now", "history", "retracted", "pinned"]
"""What counts now; all versions too; only what was taken back; only what goes with every turn."""

MEMORY_KINDS: Final = ("fact", "decision", "preference", "instruction", "constraint", "note")
"""What a person can write down as; an agent's days are of the kind `summary`."""
IDENTITY_KINDS: Final = ("preference", "instruction", "constraint", "note")


@dataclass(frozen=True, slots=True)
class Kept:
    """One record."""

    record_id: str
    place: Place
    owner_id: str
    """The room, the agent, or the talk that it belongs to."""
    kind: str
    author_id: str
    content: str
    status: str
    created_at: str
    source_kind: str = ""
    source_event_id: str | None = None
    subject_id: str | None = None
    retracted_at: str | None = None
    pinned_at: str | None = None
    day: str | None = None
    """Of what a day held: `2026-11-30`."""

    @property
    def is_identity(self) -> bool:
        """True for what was said about who an agent is."""
        return self.place == "identity"

    @property
    def word(self) -> Word:
        """Whose word it is about an agent."""
        if self.author_id == self.owner_id:
            return "self"
        return "others" if self.author_id.startswith("agent:") else "people"


@dataclass(frozen=True, slots=True)
class Sought:
    """What is to be shown. Empty and None: whatever it is."""

    place: Place | None = None
    owner_id: str = ""
    word: Word | None = None
    kind: str = ""
    author_id: str = ""
    state: State = "now"
    words: str = ""

    @property
    def wants_memory(self) -> bool:
        """Whether memory records can fit."""
        return self.place != "identity" and self.word is None

    @property
    def wants_identity(self) -> bool:
        """Whether identity records can fit: they are about agents, and are never pinned."""
        is_there = self.place in (None, "identity") and self.state != "pinned"
        return is_there and not self.owner_id.startswith("room:")


def kept_memory(record: MemoryRecord) -> Kept:
    """A memory record, cleaned."""
    places: dict[str, Place] = {"room": "room", "correlation": "talk"}
    own: Place = "dated" if record.agent_memory_type == "dated" else "core"
    return Kept(
        record_id=safe_line(record.memory_id),
        place=places.get(record.scope.type, own),
        owner_id=safe_line(record.scope.id),
        kind=safe_line(record.kind),
        author_id=safe_line(record.author_actor_id),
        content=safe_text(record.content),
        status=safe_line(record.status),
        created_at=record.created_at,
        source_kind=safe_line(record.source_kind),
        source_event_id=record.source_event_id,
        subject_id=record.subject_actor_id,
        retracted_at=record.retracted_at,
        pinned_at=record.pinned_at,
        day=None if record.day is None else safe_line(record.day),
    )


def kept_identity(record: IdentityRecord) -> Kept:
    """An identity record, cleaned."""
    return Kept(
        record_id=safe_line(record.identity_id),
        place="identity",
        owner_id=safe_line(record.subject_actor_id),
        kind=safe_line(record.kind),
        author_id=safe_line(record.author_actor_id),
        content=safe_text(record.content),
        status=safe_line(record.status),
        created_at=record.created_at,
        source_kind=safe_line(record.source_kind),
        source_event_id=record.source_event_id,
        subject_id=record.subject_actor_id,
        retracted_at=record.retracted_at,
    )
