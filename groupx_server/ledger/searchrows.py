"""Rows of the search index: what their columns are, put in and taken out.

The index stores no text. To take a row out, the very words that were put in must be given again,
so every column here is made only of what never changes: the row's own fields in `search_rows`, and
texts of the ledger. Whoever changes a text takes its rows out first
(`searchindex.withdraw_messages`, `withdraw_record`).
"""

from __future__ import annotations

import functools
import hashlib
import sqlite3
from datetime import datetime
from typing import Final, NamedTuple

import orjson

from groupx_server.domain.searchtext import IndexText, index_text, words_of

NEIGHBOURS: Final = 2
"""Messages before and after one that make its context (measured: more recall than any other
part of the index)."""

CONTEXT_CHARS: Final = 600
"""Of each neighbour: a page of log beside a short question must not drown it."""

KINDS: Final = ("message", "memory", "identity")

WHOLE_TEXT: Final = (
    "(SELECT group_concat(part.text, '') FROM (SELECT t.text FROM event_texts t"
    " WHERE t.event_id = e.event_id AND t.field = 'content' ORDER BY t.part_no) part)"
)
"""The text of event `e` where its body holds a cut one; else NULL."""

_ROW: Final = (
    "row_id, kind, ref_id, room_id, actor_id, subject_id, speaker, type, root, seq, occurred_at,"
    " context_through, owner_id"
)
_MARKS: Final = ", ".join("?" * len(_ROW.split(",")))
_PUT: Final = f"INSERT INTO search_rows({_ROW}) VALUES ({_MARKS})"
_WORDS: Final = "context, text, speaker, days, singles, scope"
_PUT_WORDS: Final = f"INSERT INTO search_fts(rowid, {_WORDS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
_TAKE_WORDS: Final = (
    f"INSERT INTO search_fts(search_fts, rowid, {_WORDS}) VALUES ('delete', ?, ?, ?, ?, ?, ?, ?)"
)


class Row(NamedTuple):
    """A row of `search_rows`; `row_id` is 0 before it is written."""

    row_id: int
    kind: str
    ref_id: str
    room_id: str | None
    actor_id: str
    subject_id: str | None
    speaker: str
    type: str
    root: str | None
    seq: int | None
    occurred_at: str
    context_through: int
    owner_id: str | None = None
    """The agent or the root whose own memory it is."""


def context_words(content: str, words: IndexText) -> str:
    """The words of a text's beginning, each once, for the rows of its neighbours; `words` are those
    of all of it."""
    start = words if len(content) <= CONTEXT_CHARS else index_text(content[:CONTEXT_CHARS])
    return " ".join(dict.fromkeys(start.main.split(" ")))


def content_of(body_json: str) -> str:
    """The text of a message's body; what is no such body has none."""
    try:
        body = orjson.loads(body_json)
    except orjson.JSONDecodeError:
        return ""
    content = body.get("content") if isinstance(body, dict) else None
    return content if isinstance(content, str) else ""


_CONTENT: Final = {
    "message": f"SELECT e.body_json, {WHOLE_TEXT} FROM events e WHERE e.event_id = ?",
    "memory": "SELECT NULL, content FROM memory_records WHERE memory_id = ?",
    "identity": "SELECT NULL, content FROM identity_records WHERE identity_id = ?",
}


def content_at(connection: sqlite3.Connection, kind: str, ref_id: str) -> str:
    """The text of a row that is in the index."""
    body, whole = connection.execute(_CONTENT[kind], (ref_id,)).fetchone()
    return content_of(body) if whole is None else str(whole)


@functools.lru_cache(maxsize=4_096)
def scope_word(kind: str, value: str) -> str:
    """One word for a room, an actor, or the owner of a record. The digit at its end keeps the
    stemmer away."""
    return f"{kind}{hashlib.blake2s(value.encode(), digest_size=8).hexdigest()}0"


def kind_word(kind: str) -> str:
    """The scope word of a kind of row."""
    return f"kind{kind}0"


def put(connection: sqlite3.Connection, row: Row, words: IndexText, context: str) -> None:
    """Write a row and its words; a row that has its number already keeps it."""
    cursor = connection.execute(_PUT, (row.row_id or None, *row[1:]))
    columns = _columns(row, words, context)
    connection.execute(_PUT_WORDS, (cursor.lastrowid or row.row_id, *columns))


def take_out(connection: sqlite3.Connection, row: Row, words: IndexText, context: str) -> None:
    """Take a row out; `words` and `context` are those it was put in with."""
    _take_words(connection, row, words, context)
    connection.execute("DELETE FROM search_rows WHERE row_id = ?", (row.row_id,))
    connection.execute("DELETE FROM search_vectors WHERE row_id = ?", (row.row_id,))


def change_context(
    connection: sqlite3.Connection, row: Row, words: IndexText, old: str, new: str, through: int
) -> None:
    """Put other neighbours' words into a row."""
    if old != new:
        _take_words(connection, row, words, old)
        connection.execute(_PUT_WORDS, (row.row_id, *_columns(row, words, new)))
    connection.execute(
        "UPDATE search_rows SET context_through = ? WHERE row_id = ?", (through, row.row_id)
    )


def find(connection: sqlite3.Connection, kind: str, ref_id: str) -> Row | None:
    """The row of a message or record; None when it is not in the index."""
    found = connection.execute(
        f"SELECT {_ROW} FROM search_rows WHERE kind = ? AND ref_id = ?", (kind, ref_id)
    ).fetchone()
    return None if found is None else Row(*found)


def row_of(connection: sqlite3.Connection, row_id: int) -> Row | None:
    """The row with this number; None when there is none."""
    found = connection.execute(
        f"SELECT {_ROW} FROM search_rows WHERE row_id = ?", (row_id,)
    ).fetchone()
    return None if found is None else Row(*found)


def _take_words(connection: sqlite3.Connection, row: Row, words: IndexText, context: str) -> None:
    columns = _columns(row, words, context)
    connection.execute(_TAKE_WORDS, (row.row_id, *columns))


def _columns(row: Row, words: IndexText, context: str) -> tuple[str, ...]:
    """What the columns of `search_fts` hold, in their order."""
    return (
        context,
        words.main,
        _names(row.speaker),
        _days(row.occurred_at),
        words.singles,
        _scope(row),
    )


@functools.lru_cache(maxsize=256)
def _names(speaker: str) -> str:
    return " ".join(words_of(speaker))


def _scope(row: Row) -> str:
    words = [kind_word(row.kind)]
    if row.room_id is not None:
        words.append(scope_word("r", row.room_id))
    if row.owner_id is not None:
        words.append(scope_word("o", row.owner_id))
    named = (row.actor_id, row.subject_id, None if row.root else row.owner_id)
    words += [scope_word("a", actor_id) for actor_id in dict.fromkeys(named) if actor_id]
    return " ".join(words)


def _days(occurred_at: str) -> str:
    """The day in words: `2026 january 31 saturday`. A time that cannot be read has none."""
    return _days_of(occurred_at[: len("2026-01-31")])


@functools.lru_cache(maxsize=256)
def _days_of(occurred_at: str) -> str:
    try:
        moment = datetime.fromisoformat(occurred_at)
    except ValueError:
        return ""
    return f"{moment.year} {_MONTHS[moment.month - 1]} {moment.day} {_WEEKDAYS[moment.weekday()]}"


_MONTHS: Final = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
"""Not by strftime, which speaks the language of the machine."""
