"""Removing a text for good: the event or record gets a tombstone, and so does all that came of it.

One transaction takes the text out of the event, of the copies that GroupX itself made of it (passed
on, sent again, held back, said by a record's own events), of records that name it as their source,
of every summary that covers it, of the days that were written from it (they are written anew), out
of the search index and the receipts. Where replies, agents' answers, tools' results and the
conversation with the room assistant quote it, or one of those records, the quote is cut out
(`quotes`). An audit event says what was done and
holds no text. The bytes are `purge`'s business.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import orjson

from groupx_server.domain.tombstone import TOMBSTONE, blank, texts_of
from groupx_server.ledger.commands import REDACTED
from groupx_server.ledger.copies import RECORD_TABLES, Copies, Foreseen, is_telling, main_texts
from groupx_server.ledger.days import reopen_days
from groupx_server.ledger.events import NewEvent, insert_event, unknown_event
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.identity_records import read_identity
from groupx_server.ledger.memory import read_memory
from groupx_server.ledger.quotes import Quotes
from groupx_server.ledger.records import RecordKind, versions
from groupx_server.ledger.searchindex import withdraw_messages, withdraw_record
from groupx_server.ledger.sidetalk import answer_of, blank_side, read_side
from groupx_server.ledger.stored import read_body
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import MAIN_ROOM, new_id
from groupx_shared.text import safe_line
from groupx_shared.wire.context import RedactedBody
from groupx_shared.wire.events import EventType

Kind = Literal["event", "memory", "identity", "side"]
"""`side`: a message of the conversation with the room assistant."""

MAX_ELSEWHERE: Final = 50
"""Named of the places that hold the text too; the rest is counted."""
RECORD_EVENTS: Final = (
    "('memory.remembered', 'memory.superseded', 'memory.retracted', 'memory.pinned',"
    " 'memory.unpinned', 'identity.remembered', 'identity.superseded', 'identity.retracted')"
)
"""In the words of their index."""
TEXTLESS: Final = frozenset({EventType.CONTENT_REDACTED, EventType.TURN_QUEUED})
_MAX_LEVELS: Final = 8
"""A message that was passed on, and that again, and so on."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be removed. `with_copies`: also every other text that has it in it."""

    kind: Kind
    ref_id: str
    actor_id: str
    source_kind: str
    with_copies: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """An agent whose native session in a room may have been told a text."""

    actor_id: str
    room_id: str


@dataclass(slots=True)
class Removed:
    """What was removed. `texts` is for proving that nothing of it is left; it is never stored."""

    audit_event_id: str = ""
    event_ids: list[str] = field(default_factory=list)
    record_ids: list[str] = field(default_factory=list)
    summaries: int = 0
    days: int = 0
    quote_event_ids: list[str] = field(default_factory=list)
    """Events that quoted it, and hold a tombstone in the place of the quote."""
    side_messages: int = 0
    """Texts of the conversation with the room assistant from which it was cut."""
    told: list[Told] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    """Events and records that hold the text too and were left alone."""
    texts: list[str] = field(default_factory=list)


def redact(
    connection: sqlite3.Connection, target: Target, now: str, foreseen: Foreseen | None = None
) -> Removed:
    """Remove a text. Removing it again removes what came of it since. `foreseen` spares the long
    look at all events.

    Raises: RefusedError (UNKNOWN_EVENT, UNKNOWN_MEMORY, UNKNOWN_IDENTITY; an event without text).
    """
    copies = Copies(connection, foreseen or Foreseen())
    work = _Work(connection, copies, now, with_copies=target.with_copies)
    if target.kind == "event":
        room_id = work.event(target.ref_id)
    elif target.kind == "side":
        room_id = work.side_message(target.ref_id)
    else:
        room_id = work.record(target.kind, target.ref_id)
    if target.with_copies:
        work.everywhere()
    work.finish()
    removed = work.removed
    removed.audit_event_id = _audit(connection, target, removed, room_id, now)
    rows: list[tuple[str, str]] = [("event", each) for each in removed.event_ids]
    rows += [*work.records, *(("side", each) for each in work.side_ids)]
    connection.executemany(
        "INSERT INTO redactions(kind, ref_id, event_id, redacted_at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT(kind, ref_id) DO NOTHING",
        [(kind, ref_id, removed.audit_event_id, now) for kind, ref_id in rows],
    )
    failpoint("redact.before_commit")
    return removed


class _Work:
    """Gathers what goes, then takes it out."""

    def __init__(
        self, connection: sqlite3.Connection, copies: Copies, now: str, *, with_copies: bool
    ) -> None:
        self._book = connection
        self._now = now
        self._with_copies = with_copies
        self._copies_of = copies
        self._quotes = Quotes(connection, copies)
        self.removed = Removed()
        self.records: list[tuple[RecordKind, str]] = []
        self.side_ids: list[str] = []
        self._main: list[str] = []
        """What was said: texts whose copies go too, or are told of."""

    # --- gathering --------------------------------------------------------------------------

    def event(self, event_id: str) -> str:
        """An event with its copies and its records; return its room."""
        row = self._book.execute(
            "SELECT room_id, event_type, body_json FROM events WHERE event_id = ?", (event_id,)
        ).fetchone()
        if row is None:
            raise unknown_event(event_id)
        body = read_body(row[2])
        if row[1] in TEXTLESS or not (texts_of(body) or body.get("redacted")):
            raise RefusedError(
                f"This event ({safe_line(row[1], 64)}) has no text that could be removed.",
                code=ErrorCode.UNKNOWN_EVENT,
            )
        if (found := _record_of(row[1], body)) is not None:
            self.record(*found)
        self._main += main_texts(body)
        self._take_events([event_id])
        for _ in range(_MAX_LEVELS):
            if not self._take_events(self._copies()):
                break
        self._take_records_from(list(self.removed.event_ids))
        return str(row[0])

    def record(self, kind: RecordKind, record_id: str) -> str:
        """A record with all its versions and the events that say them; return their room."""
        read = read_memory if kind == "memory" else read_identity
        record = read(self._book, record_id)
        self._take_record(kind, record_id)
        scope = getattr(record, "scope", None)
        return scope.id if scope is not None and scope.type == "room" else MAIN_ROOM

    def side_message(self, message_id: str) -> str:
        """A message of the assistant's conversation, a request with its answer; return the room
        that was meant."""
        asked = read_side(self._book, message_id)
        if asked.status in ("queued", "running"):
            raise RefusedError(
                "This request is not answered yet. Wait for it, or cancel it first.",
                code=ErrorCode.STORE_CONFLICT,
            )
        answer = answer_of(self._book, message_id)
        for message in (asked, answer):
            if message is not None:
                self.side_ids.append(message.message_id)
                self._note([message.content])
        self._main.append(asked.content)
        return asked.room_id or MAIN_ROOM

    def everywhere(self) -> None:
        """All that holds one of the texts."""
        for text in self._telling_texts():
            self._take_events(self._copies_of.events_with(text))
            for kind, record_id in self._copies_of.records_with(text):
                self._take_record(kind, record_id)

    def _take_events(self, event_ids: Iterable[str]) -> int:
        count = 0
        for event_id in event_ids:
            if event_id in self.removed.event_ids:
                continue
            count += 1
            self.removed.event_ids.append(event_id)
            body = self._copies_of.body(event_id)
            whole = self._book.execute(
                "SELECT group_concat(text, '') FROM (SELECT text FROM event_texts"
                " WHERE event_id = ? ORDER BY field, part_no)",
                (event_id,),
            ).fetchone()[0]
            self._note([*texts_of(body), whole or ""])
        return count

    def _copies(self) -> list[str]:
        """Events that GroupX made of those that go: passed on, or the very same text."""
        marks = ", ".join("?" * len(self.removed.event_ids))
        found = [
            str(event_id)
            for (event_id,) in self._book.execute(
                f"SELECT event_id FROM events WHERE forwarded_event_id IN ({marks})",
                self.removed.event_ids,
            )
        ]
        for text in self._telling_texts():
            with_it = self._copies_of.events_with(text)
            found += [each for each in with_it if self._copies_of.is_exactly(each, text)]
        return found

    def _take_records_from(self, event_ids: Sequence[str]) -> None:
        marks = ", ".join("?" * len(event_ids))
        for kind, table in RECORD_TABLES.items():
            rows = self._book.execute(
                f"SELECT {kind}_id FROM {table} WHERE source_event_id IN ({marks})", event_ids
            ).fetchall()
            for (record_id,) in rows:
                self._take_record(kind, record_id)
        for text in self._telling_texts():
            for kind, record_id in self._copies_of.records_with(text, is_whole=True):
                self._take_record(kind, record_id)

    def _take_record(self, kind: RecordKind, record_id: str) -> None:
        if record_id in self.removed.record_ids:
            return
        self.removed.record_ids.append(record_id)
        self.records.append((kind, record_id))
        (content,) = self._book.execute(
            f"SELECT content FROM {RECORD_TABLES[kind]} WHERE {kind}_id = ?", (record_id,)
        ).fetchone()
        self._note([content])
        self._main.append(content)
        for each in versions(self._book, kind, record_id):
            self._take_record(kind, each)
        said = self._book.execute(
            f"SELECT event_id FROM events WHERE event_type IN {RECORD_EVENTS}"
            " AND instr(body_json, ?)",
            (f'"{record_id}"',),
        ).fetchall()
        self._take_events([each for (each,) in said])

    def _note(self, texts: Iterable[str]) -> None:
        known = self.removed.texts
        known += [text for text in texts if text and text != TOMBSTONE and text not in known]

    def _telling_texts(self) -> list[str]:
        return list(dict.fromkeys(text for text in self._main if is_telling(text)))

    # --- taking out -------------------------------------------------------------------------

    def finish(self) -> None:
        """Put tombstones in the place of all that was gathered."""
        removed = self.removed
        telling = self._telling_texts()
        removed.quote_event_ids = self._quotes.find(removed.event_ids, telling)
        touched = [*removed.event_ids, *removed.quote_event_ids]
        removed.told = told_sessions(self._book, touched)
        removed.days = reopen_days(self._book, touched, self._drop_day, self._now)
        withdraw_messages(self._book, touched)
        for event_id in removed.event_ids:
            self._blank_event(event_id)
        for kind, record_id in self.records:
            self._blank_record(kind, record_id)
        self._end_summaries()
        self._blank_receipts()
        self._quotes.cut(removed.quote_event_ids, telling)
        removed.side_messages = sum(blank_side(self._book, each) for each in self.side_ids)
        removed.side_messages += self._quotes.cut_beside(removed.event_ids, telling)
        for text in telling:
            removed.elsewhere += self._copies_of.events_with(text)
            with_it = self._copies_of.records_with(text)
            removed.elsewhere += [record_id for _, record_id in with_it]
        removed.elsewhere = list(dict.fromkeys(removed.elsewhere))[:MAX_ELSEWHERE]

    def _drop_day(self, memory_id: str) -> None:
        self._take_record("memory", memory_id)

    def _blank_event(self, event_id: str) -> None:
        body = self._copies_of.body(event_id)
        self._book.execute(
            "UPDATE events SET body_json = ? WHERE event_id = ?",
            (orjson.dumps(blank(body)).decode(), event_id),
        )
        self._book.execute("DELETE FROM event_texts WHERE event_id = ?", (event_id,))
        self._book.execute(
            "UPDATE turns SET partial_text = CASE WHEN partial_text IS NULL THEN NULL ELSE ? END,"
            " error_message = CASE WHEN error_message IS NULL THEN NULL ELSE ? END"
            " WHERE terminal_event_id = ?",
            (TOMBSTONE, TOMBSTONE, event_id),
        )

    def _blank_record(self, kind: RecordKind, record_id: str) -> None:
        withdraw_record(self._book, kind, record_id)
        pin = ", pinned_at = NULL" if kind == "memory" else ""
        self._book.execute(
            f"UPDATE {RECORD_TABLES[kind]} SET content = ?,"
            " retracted_at = COALESCE(retracted_at, ?),"
            f" status = CASE status WHEN 'active' THEN 'retracted' ELSE status END{pin}"
            f" WHERE {kind}_id = ?",
            (TOMBSTONE, self._now, record_id),
        )

    def _end_summaries(self) -> None:
        """Summaries that cover one of the messages, those of earlier states too."""
        for event_id in (*self.removed.event_ids, *self._quotes.messages):
            cursor = self._book.execute(
                "UPDATE summaries SET content = ?1, status = 'invalidated' WHERE content <> ?1"
                " AND EXISTS (SELECT 1 FROM events e WHERE e.event_id = ?2"
                " AND e.room_id = summaries.room_id"
                " AND e.seq BETWEEN summaries.from_seq AND summaries.through_seq)",
                (TOMBSTONE, event_id),
            )
            self.removed.summaries += cursor.rowcount

    def _blank_receipts(self) -> None:
        """Receipts hold records whole, and the hash of a short text can be guessed."""
        for ref_id in (*self.removed.event_ids, *self.removed.record_ids):
            rows = self._book.execute(
                "SELECT command_id, result_json FROM client_commands WHERE instr(result_json, ?)",
                (f'"{ref_id}"',),
            ).fetchall()
            for command_id, result in rows:
                stored = orjson.loads(result)
                for key in ("memory", "identity"):
                    if isinstance(stored.get(key), dict):
                        stored[key] = blank(stored[key])
                self._book.execute(
                    "UPDATE client_commands SET result_json = ?, canonical_hash = ?"
                    " WHERE command_id = ?",
                    (orjson.dumps(stored).decode(), REDACTED, command_id),
                )


def told_sessions(connection: sqlite3.Connection, event_ids: Sequence[str]) -> list[Told]:
    """Agents that were told their room past one of these events, and whose native sessions were
    not ended by a reset since."""
    rows = connection.execute(
        "SELECT DISTINCT c.actor_id, c.room_id FROM json_each(?) asked"
        " JOIN events e ON e.event_id = asked.value"
        " JOIN delivery_cursors c ON c.room_id = e.room_id AND c.last_delivered_seq >= e.seq"
        " WHERE NOT EXISTS (SELECT 1 FROM context_resets r WHERE r.room_id = c.room_id"
        " AND r.reset_native_sessions = 1 AND r.through_seq >= c.last_delivered_seq)"
        " ORDER BY 2, 1",
        (orjson.dumps(list(event_ids)).decode(),),
    )
    return [Told(*row) for row in rows]


def _record_of(event_type: str, body: dict[str, object]) -> tuple[RecordKind, str] | None:
    """The record that an event says."""
    record = body.get("record")
    if not isinstance(record, dict):
        return None
    kind: RecordKind = "memory" if event_type.startswith("memory.") else "identity"
    record_id = record.get(f"{kind}Id")
    return (kind, record_id) if isinstance(record_id, str) else None


def _audit(
    connection: sqlite3.Connection, target: Target, removed: Removed, room_id: str, now: str
) -> str:
    body = RedactedBody(
        kind=target.kind,
        ref_id=target.ref_id,
        event_ids=tuple(removed.event_ids),
        record_ids=tuple(removed.record_ids),
        summaries=removed.summaries,
        days=removed.days,
        quote_event_ids=tuple(removed.quote_event_ids),
    )
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=room_id,
        type=EventType.CONTENT_REDACTED,
        actor_id=target.actor_id,
        correlation_id=new_id("corr"),
        occurred_at=now,
        body=body.model_dump(mode="json", by_alias=True, exclude_none=True),
        provenance={"sourceKind": target.source_kind, "authorActorId": target.actor_id},
    )
    insert_event(connection, event)
    return event.event_id
