"""Bringing the search index up to the ledger, piece by piece, outside of every other transaction.

Accepting a message costs nothing here: the events themselves and `search_queue` say what is still
to do. `index_some` is one step of the writer; it takes the next messages and changed records and
notes how far it came in the same transaction, so a kill loses nothing and nothing is done twice.
Before a search answers, its caller runs steps until `backlog` is empty (`rooms/searching.py`).
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from groupx_server.domain.searchtext import INDEX_VERSION, IndexText, index_text
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.searchrows import (
    NEIGHBOURS,
    WHOLE_TEXT,
    Row,
    change_context,
    content_of,
    context_words,
    find,
    put,
    take_out,
)

BATCH: Final = 512
"""Events or records of one step: about 30 ms, in which nobody else writes."""

BATCH_CHARS: Final = 64 * 1024
"""Characters of one step, unless one message alone is longer."""

KEPT: Final = 512
KEPT_CHARS: Final = 4_096
"""Words of that many texts of that length are kept from step to step."""

KEY: Final = "search_index"


@dataclass(frozen=True, slots=True)
class Backlog:
    """What the index lacks."""

    events: int
    """Upper bound: by seq."""
    records: int

    @property
    def is_empty(self) -> bool:
        return self.events == 0 and self.records == 0


class _Spoken:
    """A message as the index takes it; made into words when it is asked for them."""

    __slots__ = ("_content", "_found", "_made", "ref_id", "seq")

    def __init__(self, found: _Found) -> None:
        self.ref_id, self.seq = found[0], found[6]
        self._found = found
        self._content = content_of(found[8]) if found[9] is None else found[9]
        self._made: tuple[IndexText, str] | None = None

    def row(self, context_through: int) -> Row:
        """Its row before that is written."""
        ref_id, room_id, actor_id, name, event_type, root, seq, occurred_at, _, _ = self._found
        # In order and without names, since there is one for each message.
        return Row(
            0, "message", ref_id, room_id, actor_id, None, name, event_type, root, seq,
            occurred_at, context_through,
        )  # fmt: skip

    @property
    def words(self) -> IndexText:
        return self._words()[0]

    @property
    def start(self) -> str:
        """Its words in the rows of its neighbours."""
        return self._words()[1]

    def _words(self) -> tuple[IndexText, str]:
        if self._made is None:
            make = _kept_words if len(self._content) <= KEPT_CHARS else _make_words
            self._made = make(self._content)
        return self._made


def _make_words(content: str) -> tuple[IndexText, str]:
    words = index_text(content)
    return words, context_words(content, words)


_kept_words = functools.lru_cache(maxsize=KEPT)(_make_words)
"""A message is a neighbour in up to four other steps."""


def backlog(connection: sqlite3.Connection) -> Backlog:
    """How far the index is behind, in constant time."""
    (newest,) = connection.execute("SELECT COALESCE(MAX(seq), 0) FROM events").fetchone()
    (first, last) = connection.execute(
        "SELECT (SELECT MIN(queue_id) FROM search_queue), (SELECT MAX(queue_id) FROM search_queue)"
    ).fetchone()
    position = _position(connection)
    done = -1 if position is None else position
    return Backlog(max(0, newest - done), 0 if first is None else last - first + 1)


def reset(connection: sqlite3.Connection) -> None:
    """Empty the index; the next steps build it anew from the ledger."""
    connection.execute("INSERT INTO search_fts(search_fts) VALUES ('delete-all')")
    connection.execute("DELETE FROM search_rows")
    connection.execute("DELETE FROM search_vectors")
    connection.execute("DELETE FROM search_queue")
    connection.execute(
        "INSERT INTO search_queue(kind, ref_id)"
        " SELECT 'memory', memory_id FROM memory_records WHERE status = 'active'"
        " UNION ALL SELECT 'identity', identity_id FROM identity_records WHERE status = 'active'"
    )
    _move(connection, 0)


def index_some(connection: sqlite3.Connection, limit: int = BATCH) -> Backlog:
    """Do the next piece, records first; the first step of a new or an outdated index resets it."""
    position = _position(connection)
    if position is None:
        reset(connection)
        position = 0
    if not _drain_queue(connection, position, limit):
        _index_events(connection, position, limit)
    failpoint("index.before_commit")
    return backlog(connection)


def is_outdated(connection: sqlite3.Connection) -> bool:
    """Whether it was made by other rules, or never: the next step empties it, and until then its
    rows cannot be taken out word for word."""
    return _position(connection) is None


def reset_outdated(connection: sqlite3.Connection) -> None:
    """Empty an index that was made by other rules."""
    if is_outdated(connection):
        reset(connection)


def withdraw_messages(connection: sqlite3.Connection, event_ids: Sequence[str]) -> None:
    """Take messages out before their text changes, and their neighbours, whose context has it.

    All of them are queued: the next step puts in what the ledger holds then.
    """
    wanted: dict[str, None] = {}
    for event_id in event_ids:
        for near in _around(connection, event_id):
            wanted[near] = None
    rows = [row for event_id in wanted if (row := find(connection, "message", event_id))]
    taken = [(row, *_as_put(connection, row)) for row in rows]
    for row, words, context in taken:
        take_out(connection, row, words, context)
    _kept_words.cache_clear()  # the program keeps nothing either of what is taken out
    connection.executemany(
        "INSERT INTO search_queue(kind, ref_id) VALUES ('message', ?)",
        [(row.ref_id,) for row in rows],
    )


def withdraw_record(connection: sqlite3.Connection, kind: str, ref_id: str) -> None:
    """Take a memory or identity record out before its text changes, and queue it."""
    row = find(connection, kind, ref_id)
    source = _record_source(connection, kind, ref_id)
    if row is None or source is None:
        return
    take_out(connection, row, index_text(source.content), "")
    connection.execute("INSERT INTO search_queue(kind, ref_id) VALUES (?, ?)", (kind, ref_id))


def words_put(connection: sqlite3.Connection, row: Row) -> tuple[IndexText, str] | None:
    """The words and the context that a row was put in with, made again from the ledger; None: the
    ledger does not hold its text."""
    if row.kind == "message":
        known = connection.execute("SELECT 1 FROM events WHERE event_id = ?", (row.ref_id,))
        return None if known.fetchone() is None else _as_put(connection, row)
    source = _record_source(connection, row.kind, row.ref_id)
    return None if source is None else (index_text(source.content), "")


# ── Position ──────────────────────────────────────────────────────────────────────────────────


def _position(connection: sqlite3.Connection) -> int | None:
    """Seq that the index has come to; None: it was made by other rules, or never."""
    found = connection.execute("SELECT value FROM ledger_meta WHERE key = ?", (KEY,)).fetchone()
    if found is None:
        return None
    stored = orjson.loads(found[0])
    return int(stored["seq"]) if stored["version"] == INDEX_VERSION else None


def _move(connection: sqlite3.Connection, seq: int) -> None:
    value = orjson.dumps({"version": INDEX_VERSION, "seq": seq}).decode()
    connection.execute(
        "INSERT INTO ledger_meta(key, value) VALUES (?, ?)"
        " ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        (KEY, value),
    )


# ── Messages ──────────────────────────────────────────────────────────────────────────────────


def _index_events(connection: sqlite3.Connection, position: int, limit: int) -> None:
    through = _reach(connection, position, limit)
    if through is None:
        return
    (newest,) = connection.execute("SELECT MAX(seq) FROM events").fetchone()
    rooms = connection.execute(
        "SELECT room_id, MIN(seq) FROM events WHERE seq > ? AND seq <= ? GROUP BY room_id",
        (position, through),
    ).fetchall()
    for room_id, first in rooms:
        _index_room(connection, room_id, _Span(first, through, newest))
    _move(connection, through)


@dataclass(frozen=True, slots=True)
class _Span:
    """What one step puts in: [first, through]. What is in the ledger, up to `newest`, is context
    already, so that a row is written once while an index is built."""

    first: int
    through: int
    newest: int


def _reach(connection: sqlite3.Connection, position: int, limit: int) -> int | None:
    """The seq up to which one step goes: `limit` events, fewer when they are long."""
    ahead = connection.execute(
        "SELECT e.seq, COALESCE(m.chars, 0) FROM"
        " (SELECT seq, room_id FROM events WHERE seq > ? ORDER BY seq LIMIT ?) e"
        " LEFT JOIN room_messages m ON m.room_id = e.room_id AND m.seq = e.seq ORDER BY e.seq",
        (position, limit),
    )
    through, total = None, 0
    for seq, chars in ahead:
        total += chars
        if through is not None and total > BATCH_CHARS:
            break
        through = int(seq)
    return through


def _index_room(connection: sqlite3.Connection, room_id: str, span: _Span) -> None:
    """Put in the room's messages of the span, and renew the context of those before."""
    added = _spoken(connection, room_id, span.first, span.through)
    if not added:
        return
    before = _before(connection, room_id, span.first, 2 * NEIGHBOURS)
    near = [*before, *added, *_from(connection, room_id, span.through + 1, NEIGHBOURS)]
    known = max(0, len(before) - NEIGHBOURS)
    for at in range(known, len(before)):
        _renew(connection, near, at, span.newest)
    for at in range(len(before), len(before) + len(added)):
        spoken = near[at]
        put(connection, spoken.row(span.newest), spoken.words, _context(near, at, span.newest))


def _renew(connection: sqlite3.Connection, near: Sequence[_Spoken], at: int, newest: int) -> None:
    """Put into a row's context what was said since it was written."""
    row = find(connection, "message", near[at].ref_id)
    if row is None or all(other.seq <= row.context_through for other in _later(near, at)):
        return
    old, new = _context(near, at, row.context_through), _context(near, at, newest)
    change_context(connection, row, near[at].words, old, new, newest)


def _later(near: Sequence[_Spoken], at: int) -> Sequence[_Spoken]:
    return near[at + 1 : at + 1 + NEIGHBOURS]


def _context(near: Sequence[_Spoken], at: int, through: int) -> str:
    """The words of the neighbours of `near[at]`, as far as they were there at seq `through`; those
    of the one right before it twice, since answers follow questions."""
    earlier = near[max(0, at - NEIGHBOURS) : at]
    later = [other for other in _later(near, at) if other.seq <= through]
    return " ".join(other.start for other in (*earlier, *earlier[-1:], *later))


def _spoken(
    connection: sqlite3.Connection, room_id: str, first: int, through: int
) -> list[_Spoken]:
    cursor = connection.execute(
        f"{_MESSAGE} WHERE m.room_id = ? AND m.seq >= ? AND m.seq <= ? ORDER BY m.seq",
        (room_id, first, through),
    )
    return [_Spoken(found) for found in cursor]


def _before(connection: sqlite3.Connection, room_id: str, seq: int, count: int) -> list[_Spoken]:
    cursor = connection.execute(
        f"{_MESSAGE} WHERE m.room_id = ? AND m.seq < ? ORDER BY m.seq DESC LIMIT ?",
        (room_id, seq, count),
    )
    return [_Spoken(found) for found in cursor][::-1]


def _from(connection: sqlite3.Connection, room_id: str, seq: int, count: int) -> Iterator[_Spoken]:
    cursor = connection.execute(
        f"{_MESSAGE} WHERE m.room_id = ? AND m.seq >= ? ORDER BY m.seq LIMIT ?",
        (room_id, seq, count),
    )
    return map(_Spoken, cursor)


_Found = tuple[str, str, str, str, str, str, int, str, str, str | None]
_MESSAGE: Final = (
    "SELECT e.event_id, e.room_id, e.actor_id, e.actor_display_name, e.event_type,"
    f" e.correlation_id, e.seq, e.occurred_at, e.body_json, {WHOLE_TEXT}"
    " FROM room_messages m JOIN events e ON e.seq = m.seq"
)


def _around(connection: sqlite3.Connection, event_id: str) -> Iterable[str]:
    """A message and its neighbours on both sides, as event ids."""
    found = connection.execute(
        "SELECT room_id, seq FROM events WHERE event_id = ?", (event_id,)
    ).fetchone()
    if found is None:
        return ()
    room_id, seq = found
    later = _from(connection, room_id, seq, NEIGHBOURS + 1)
    near = [*_before(connection, room_id, seq, NEIGHBOURS), *later]
    return [spoken.ref_id for spoken in near]


def _as_put(connection: sqlite3.Connection, row: Row) -> tuple[IndexText, str]:
    """The words and the context that a message's row was put in with."""
    if row.room_id is None or row.seq is None:
        return index_text(""), ""
    later = _from(connection, row.room_id, row.seq, NEIGHBOURS + 1)
    near = [*_before(connection, row.room_id, row.seq, NEIGHBOURS), *later]
    at = next(at for at, spoken in enumerate(near) if spoken.seq == row.seq)
    return near[at].words, _context(near, at, row.context_through)


# ── Records and the queue ─────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Source:
    row: Row
    content: str
    is_active: bool


def _drain_queue(connection: sqlite3.Connection, position: int, limit: int) -> bool:
    """Bring the next changed records up to date; False when there were none."""
    queued = connection.execute(
        "SELECT queue_id, kind, ref_id FROM search_queue ORDER BY queue_id LIMIT ?", (limit,)
    ).fetchall()
    for _, kind, ref_id in queued:
        if kind == "message":
            _sync_message(connection, ref_id, position)
        else:
            _sync_record(connection, kind, ref_id)
    if queued:
        connection.execute("DELETE FROM search_queue WHERE queue_id <= ?", (queued[-1][0],))
    return bool(queued)


def _sync_message(connection: sqlite3.Connection, event_id: str, position: int) -> None:
    """Put a withdrawn message in again. Behind `position` it comes by itself."""
    found = connection.execute(f"{_MESSAGE} WHERE e.event_id = ?", (event_id,)).fetchone()
    if found is None or found[6] > position or find(connection, "message", event_id):
        return
    row = _Spoken(found).row(position)
    put(connection, row, *_as_put(connection, row))


def _sync_record(connection: sqlite3.Connection, kind: str, ref_id: str) -> None:
    source = _record_source(connection, kind, ref_id)
    row = find(connection, kind, ref_id)
    if source is None:
        return
    if row is None and source.is_active:
        put(connection, source.row, index_text(source.content), "")
    if row is not None and not source.is_active:
        take_out(connection, row, index_text(source.content), "")


_RECORDS: Final = {
    "memory": (
        "SELECT memory_id, CASE scope_type WHEN 'room' THEN scope_id END, author_actor_id,"
        " COALESCE(subject_actor_id, CASE scope_type WHEN 'agent' THEN scope_id END), kind,"
        " created_at, content, status, CASE scope_type WHEN 'correlation' THEN scope_id END,"
        " CASE WHEN scope_type <> 'room' THEN scope_id END"
        " FROM memory_records WHERE memory_id = ?"
    ),
    "identity": (
        "SELECT identity_id, NULL, author_actor_id, subject_actor_id, kind, created_at, content,"
        " status, NULL, NULL FROM identity_records WHERE identity_id = ?"
    ),
}


def _record_source(connection: sqlite3.Connection, kind: str, ref_id: str) -> _Source | None:
    found = connection.execute(_RECORDS[kind], (ref_id,)).fetchone()
    if found is None:
        return None
    record_id, room_id, author, subject, record_type, created_at, content, status, *rest = found
    root, owner = rest
    row = Row(
        row_id=0,
        kind=kind,
        ref_id=record_id,
        room_id=room_id,
        actor_id=author,
        subject_id=subject,
        speaker=_names(connection, author, subject),
        type=record_type,
        root=root,
        seq=None,
        occurred_at=created_at,
        context_through=0,
        owner_id=owner,
    )
    return _Source(row, content, status == "active")


def _names(connection: sqlite3.Connection, author: str, subject: str | None) -> str:
    names = connection.execute(
        "SELECT display_name FROM actors WHERE actor_id IN (?, ?) ORDER BY actor_id = ?",
        (author, subject, subject),
    ).fetchall()
    return " ".join(str(name) for (name,) in names)
