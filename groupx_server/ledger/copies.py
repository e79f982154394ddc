"""Where else a text stands: events and records that have it in them.

Looking through all events takes a second for each gigabyte, so the long look is made on a reader's
snapshot (`foresee`), and the removal looks only at what came since. A text is found as it is, and
as it stands in a tool's result that was JSON itself.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from groupx_server.domain.tombstone import TOMBSTONE, texts_of
from groupx_server.ledger.records import RecordKind, versions
from groupx_server.ledger.stored import read_body

LEAST_CHARS: Final = 8
"""A shorter text stands in many places by chance: only copies that are known go with it."""
MAIN_KEYS: Final = ("content", "partialText", "reason")
RECORD_TABLES: Final[dict[RecordKind, str]] = {
    "memory": "memory_records",
    "identity": "identity_records",
}


@dataclass(slots=True)
class Foreseen:
    """Events that hold each text, as it was at a seq."""

    through_seq: int = 0
    events: dict[str, list[str]] = field(default_factory=dict)


def main_texts(body: dict[str, Any]) -> list[str]:
    """What was said in an event: the texts whose copies are looked for."""
    return [body[key] for key in MAIN_KEYS if isinstance(body.get(key), str)]


def is_telling(text: str) -> bool:
    """Whether it is long enough to be looked for elsewhere."""
    return text != TOMBSTONE and len(text.strip()) >= LEAST_CHARS


def spellings(text: str) -> list[str]:
    """The text as it stands in strings: plain, with a mark of quoting before each line, and inside
    JSON that a string holds."""
    quoted = text.replace("\n", "\n> ")
    forms = (text, quoted, orjson.dumps(text).decode()[1:-1], json.dumps(text)[1:-1])
    return list(dict.fromkeys(forms))


def foresee(connection: sqlite3.Connection, kind: str, ref_id: str) -> Foreseen:
    """Look through all events for the texts of an event or record, and of the records that go with
    it, before it is removed."""
    (seq,) = connection.execute("SELECT COALESCE(MAX(seq), 0) FROM events").fetchone()
    copies = Copies(connection, Foreseen())
    texts = _texts_of_target(connection, kind, ref_id)
    found = {text: copies.events_with(text) for text in texts if is_telling(text)}
    return Foreseen(seq, found)


def _texts_of_target(connection: sqlite3.Connection, kind: str, ref_id: str) -> list[str]:
    if kind == "event":
        row = connection.execute(
            "SELECT body_json FROM events WHERE event_id = ?", (ref_id,)
        ).fetchone()
        said = [] if row is None else main_texts(read_body(row[0]))
        return [*said, *_texts_of_records(connection, ref_id)]
    if kind in RECORD_TABLES:
        return _texts_of_versions(connection, "memory" if kind == "memory" else "identity", ref_id)
    row = connection.execute(
        "SELECT content FROM assistant_conversation_messages WHERE message_id = ?", (ref_id,)
    ).fetchone()
    return [] if row is None else [str(row[0])]


def _texts_of_records(connection: sqlite3.Connection, event_id: str) -> list[str]:
    """What records that name the event as their source say, in all their versions."""
    return [
        text
        for kind, table in RECORD_TABLES.items()
        for (record_id,) in connection.execute(
            f"SELECT {kind}_id FROM {table} WHERE source_event_id = ?", (event_id,)
        ).fetchall()
        for text in _texts_of_versions(connection, kind, record_id)
    ]


def _texts_of_versions(
    connection: sqlite3.Connection, kind: RecordKind, record_id: str
) -> list[str]:
    marked = orjson.dumps([record_id, *versions(connection, kind, record_id)]).decode()
    rows = connection.execute(
        f"SELECT DISTINCT content FROM {RECORD_TABLES[kind]}"
        f" WHERE {kind}_id IN (SELECT value FROM json_each(?))",
        (marked,),
    )
    return [str(text) for (text,) in rows]


class Copies:
    """Finds texts, of which `foreseen` has the older places."""

    def __init__(self, connection: sqlite3.Connection, foreseen: Foreseen) -> None:
        self._book = connection
        self._foreseen = foreseen
        self._looked: dict[str, list[str]] = {}

    def events_with(self, text: str) -> list[str]:
        """Events that hold the text now, in the order of the ledger."""
        known = self._looked.get(text)
        if known is None:
            before = self._foreseen.events.get(text)
            since = 0 if before is None else self._foreseen.through_seq
            known = self._looked[text] = [*(before or ()), *self._look(text, since)]
        return [event_id for event_id in known if self._holds(event_id, text)]

    def records_with(self, text: str, *, is_whole: bool = False) -> list[tuple[RecordKind, str]]:
        """Records that hold the text, or are it."""
        test = "content = ?" if is_whole else "instr(content, ?)"
        return [
            (kind, str(record_id))
            for kind, table in RECORD_TABLES.items()
            for (record_id,) in self._book.execute(
                f"SELECT {kind}_id FROM {table} WHERE {test}", (text,)
            )
        ]

    def is_exactly(self, event_id: str, text: str) -> bool:
        """Whether one of the event's texts is this one."""
        return text in texts_of(self.body(event_id))

    def body(self, event_id: str) -> dict[str, Any]:
        """The body of an event that is there."""
        (body,) = self._book.execute(
            "SELECT body_json FROM events WHERE event_id = ?", (event_id,)
        ).fetchone()
        return read_body(body)

    def _look(self, text: str, since: int) -> list[str]:
        test, values = _test(text)
        rows = self._book.execute(
            f"SELECT event_id FROM events WHERE seq > ? AND ({test}) ORDER BY seq", (since, *values)
        )
        return [str(event_id) for (event_id,) in rows]

    def _holds(self, event_id: str, text: str) -> bool:
        test, values = _test(text)
        row = self._book.execute(
            f"SELECT 1 FROM events WHERE event_id = ? AND ({test})", (event_id, *values)
        ).fetchone()
        return row is not None


def _test(text: str) -> tuple[str, list[str]]:
    values = list(dict.fromkeys(orjson.dumps(form).decode()[1:-1] for form in spellings(text)))
    return " OR ".join(["instr(body_json, ?)"] * len(values)), values
