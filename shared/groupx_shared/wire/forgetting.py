"""Removing a text for good, on the wire."""

from __future__ import annotations

from typing import Literal

from groupx_shared.wire.base import RequestModel, WireModel
from groupx_shared.wire.requests import CommandId


class RedactContent(RequestModel):
    """`POST /api/events/{eventId}/redact`, and the same for memory and identity records and for
    messages of the room assistant's conversation."""

    client_command_id: CommandId
    purge: bool = False
    """Get the bytes out of the database file, its journal and the automatic backups too."""
    copies: bool = False
    """Remove every other text of the room and its records that has this one in it."""


class ToldSession(WireModel):
    """An agent's native session in a room that may have been told the text."""

    actor_id: str
    room_id: str


class RedactReply(WireModel):
    """What was removed."""

    audit_event_id: str
    """The `content.redacted` that says so."""
    event_ids: tuple[str, ...] = ()
    """Events that hold a tombstone now."""
    record_ids: tuple[str, ...] = ()
    summaries: int = 0
    """Summaries that were thrown away; rooms are summed up anew when needed."""
    days: int = 0
    """Days that agents write down anew."""
    quote_event_ids: tuple[str, ...] = ()
    """Replies, tools' results and the like that quoted it: the quote is a tombstone."""
    side_messages: int = 0
    """Texts of the conversation with the room assistant from which it was cut; its session begins
    anew."""
    sessions: tuple[ToldSession, ...] = ()
    """Native sessions of agents that were told it; `groupx context reset` ends them."""
    elsewhere: tuple[str, ...] = ()
    """Events and records that have the text in them too and were left alone."""
    purged: bool = False
    removed_backups: tuple[str, ...] = ()
    """Copies of the database that held it; one of now took their place."""
    left_in: tuple[str, ...] = ()
    """Files in which the text still stands after a purge, by name."""
    checked: bool = False
    """The files were searched for the text. Not after a purge of what was removed earlier: nobody
    knows any more what it said."""
    beyond: tuple[str, ...] = ()
    """What GroupX cannot reach, in sentences."""


PurgeStage = Literal[
    "removing", "waiting", "index", "rewriting", "wiping", "backups", "checking", "done", "failed"
]
"""The text is being replaced; another purge runs; the search index is merged; the file is written
anew, which is needed once; the journal is cut and what is left in the file is overwritten; backups
are replaced; files are searched for the text; the end."""


class PurgeInfo(WireModel):
    """How the purge of one text stands."""

    kind: Literal["event", "memory", "identity", "side"]
    ref_id: str
    """Of the event, record or message."""
    stage: PurgeStage
    steps: int = 0
    """Done of this stage; nobody knows how many there will be."""
    removed: bool = False
    """The text itself is removed; what goes on are its bytes in the files."""
    started_at: str
    ended_at: str | None = None
    left_in: tuple[str, ...] = ()
    """At the end: files in which the text still stands, by name."""
    checked: bool = False
    """At the end: the files were searched for the text."""
    error_message: str | None = None


class PurgeBody(PurgeInfo):
    """`content.purging`: how getting the bytes of a removed text out of the files stands."""


class PurgeList(WireModel):
    """`GET /api/purges`: those that run and the last that ended, since the server's start."""

    purges: tuple[PurgeInfo, ...] = ()
