"""A ledger for tests of search: say, remember, index, ask."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.ledger.memory import NewMemory, remember
from groupx_server.ledger.migrate import load_migrations
from groupx_server.ledger.records import Author
from groupx_server.ledger.search import Filters, FoundPage, search
from groupx_server.ledger.searchindex import backlog, index_some
from groupx_shared.wire.memory import MemoryScope

NOW = "2026-01-31T09:15:00.250Z"
YOU = Author("user:web", "web")


class Searchable:
    """One open ledger."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._count = 0

    def actor(self, actor_id: str, name: str) -> None:
        self.connection.execute(
            "INSERT INTO actors(actor_id, kind, display_name, enabled, created_at, updated_at)"
            " VALUES (?, 'agent', ?, 1, ?, ?)",
            (actor_id, name, NOW, NOW),
        )

    def room(self, room_id: str) -> None:
        self.connection.execute(
            "INSERT OR IGNORE INTO rooms(room_id, title, created_at, updated_at)"
            " VALUES (?, ?, ?, ?)",
            (room_id, room_id, NOW, NOW),
        )

    def say(
        self, content: str, room_id: str = "room:main", actor: str = "user:web", at: str = NOW
    ) -> str:
        """Add a message; return its event id."""
        self._count += 1
        event_id = f"evt_{self._count:05d}"
        event = NewEvent(event_id, room_id, "message.created", actor, "c", at, {"content": content})
        insert_event(self.connection, event)
        return event_id

    def remember(self, content: str, room_id: str = "room:main") -> str:
        """Keep a fact of a room; return its id."""
        scope = MemoryScope(type="room", id=room_id)
        return remember(self.connection, NewMemory(scope, "fact", content, YOU), NOW).memory_id

    def catch_up(self, limit: int = 256) -> None:
        """Index everything, in steps."""
        while not backlog(self.connection).is_empty:
            index_some(self.connection, limit)

    def page(self, text: str, cursor: str | None = None, limit: int = 20, **by: str) -> FoundPage:
        self.catch_up()
        return search(self.connection, text, Filters(**by), NOW, cursor=cursor, limit=limit)

    def found(self, text: str, limit: int = 20, **by: str) -> list[str]:
        """Ids, best first."""
        return [row.ref_id for row in self.page(text, limit=limit, **by).found]

    def words(self) -> list[tuple[str, str, str]]:
        """All words of the index: which row, which column, which word."""
        self.connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.words"
            " USING fts5vocab(main, search_fts, instance)"
        )
        return sorted(
            self.connection.execute(
                "SELECT COALESCE(r.ref_id, 'nobody'), w.col, w.term FROM temp.words w"
                " LEFT JOIN search_rows r ON r.row_id = w.doc"
            ).fetchall()
        )


@functools.cache
def _new() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for step in load_migrations():
        for statement in step.statements():
            connection.execute(statement, {"now": NOW})
    return connection


@contextmanager
def searchable() -> Iterator[Searchable]:
    """A new ledger in memory, with `room:main`."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _new().backup(connection)
        yield Searchable(connection)
