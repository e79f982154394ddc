"""Reading a table of records: one, a page by time, those among some ids, all versions of one.

What memory and identity do alike; each says its columns, its filters and how a row becomes a
record. Invariant: the first column is the record's id. Counterpart: `records`, for what a record's
fields must be; `recordsearch`, which reads them by words.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from groupx_server.ledger.records import Position, RecordKind, page_clause, versions
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.text import safe_line
from groupx_shared.wire.memory import IdentityRecord, MemoryRecord

Record = TypeVar("Record", bound=MemoryRecord | IdentityRecord)


@dataclass(frozen=True)
class RecordTable(Generic[Record]):
    """One of the two tables. `columns` is what `make` gets, the id first; `filters` are names to
    the SQL that must equal the value."""

    kind: RecordKind
    columns: str
    filters: Mapping[str, str]
    make: Callable[[tuple[Any, ...]], Record]
    unknown: ErrorCode

    @property
    def id_column(self) -> str:
        return f"{self.kind}_id"

    @property
    def _select(self) -> str:
        return f"SELECT {self.columns} FROM {self.kind}_records"

    def read(self, connection: sqlite3.Connection, record_id: str) -> Record:
        """One record in any state. Raises: RefusedError (`unknown`)."""
        row = connection.execute(
            f"{self._select} WHERE {self.id_column} = ?", (record_id,)
        ).fetchone()
        if row is None:
            raise RefusedError(
                f"There is no {self.kind} record “{safe_line(record_id, 80)}”. “groupx {self.kind} "
                "list” shows them.",
                code=self.unknown,
            )
        return self.make(row)

    def page(
        self,
        connection: sqlite3.Connection,
        filters: Mapping[str, str],
        *,
        include_history: bool,
        cursor: str | None,
        limit: int,
        only: tuple[str, Sequence[str]] = ("1", ()),
    ) -> tuple[tuple[Record, ...], str | None]:
        """Records, newest first, and the cursor of what is older. A status among the filters asks
        for history by itself. `only`: one more condition, with its values."""
        behind, place = page_clause(cursor, self.id_column)
        clauses = [behind, *self._fitting(filters), only[0]]
        if not include_history and "status" not in filters:
            clauses.append("status = 'active'")
        rows = connection.execute(
            f"{self._select} WHERE {' AND '.join(clauses)}"
            f" ORDER BY created_at DESC, {self.id_column} DESC LIMIT ?",
            (*place, *filters.values(), *only[1], limit + 1),
        ).fetchall()
        records = tuple(self.make(row) for row in rows[:limit])
        if len(rows) <= limit:
            return records, None
        return records, Position(records[-1].created_at, rows[limit - 1][0]).encode()

    def among(
        self, connection: sqlite3.Connection, ids: Sequence[str], filters: Mapping[str, str]
    ) -> dict[str, Record]:
        """Those of the active records that fit the filters, by id."""
        marks = ", ".join("?" * len(ids))
        clauses = [f"{self.id_column} IN ({marks})", *self._fitting(filters), "status = 'active'"]
        rows = connection.execute(
            f"{self._select} WHERE {' AND '.join(clauses)}", (*ids, *filters.values())
        )
        return {row[0]: self.make(row) for row in rows}

    def history(self, connection: sqlite3.Connection, record_id: str) -> tuple[Record, ...]:
        """All versions of a record, newest first. Raises: RefusedError (`unknown`)."""
        self.read(connection, record_id)
        chain = versions(connection, self.kind, record_id)
        return tuple(self.read(connection, each) for each in chain)

    def _fitting(self, filters: Mapping[str, str]) -> list[str]:
        return [f"{self.filters[name]} = ?" for name in filters]
