"""The product's own ledger and search, as a system under test of a retrieval evaluator.

Run as `PYTHONPATH=tests python -m bench.retrieval_adapter [--folder DIR]`. One JSON object a line
on stdin, one answer a line on stdout:

    {"op":"ingest","scope":S,"records":[{id,seq,session,speaker,text,caption,at}]} -> {"ok":true}
    {"op":"search","scope":S,"query":Q,"k":K}                                      -> {"ids":[...]}

A scope is a room, a speaker is a person, a record is a message with its own time. Nothing of the
index is prepared: the first search brings it up to date, as after an upgrade.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from groupx_server.ledger.connection import open_writer
from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.search import Filters, search
from groupx_server.ledger.searchindex import backlog, index_some
from groupx_server.ledger.times import utc_now, utc_now_iso

Json = dict[str, Any]
NO_TIME = "1970-01-01T00:00:00.000Z"


class Adapter:
    """One ledger; event ids lead back to the evaluator's records."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._record_of: dict[str, str] = {}

    def ingest(self, scope: str, records: list[Json]) -> Json:
        """Write the records as messages of the scope's room."""
        room_id, now = _id("room", scope), utc_now_iso()
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(
            "INSERT OR IGNORE INTO rooms(room_id, title, created_at, updated_at)"
            " VALUES (?, ?, ?, ?)",
            (room_id, scope, now, now),
        )
        for record in records:
            self._say(room_id, record, now)
        self._connection.execute("COMMIT")
        return {"ok": True}

    def _say(self, room_id: str, record: Json, now: str) -> None:
        actor_id = _id("user", record["speaker"])
        self._connection.execute(
            "INSERT OR IGNORE INTO actors(actor_id, kind, display_name, enabled, created_at,"
            " updated_at) VALUES (?, 'user', ?, 1, ?, ?)",
            (actor_id, record["speaker"], now, now),
        )
        event_id = _id("evt", f"{room_id} {record['id']}")
        self._record_of[event_id] = record["id"]
        caption = record.get("caption")
        insert_event(
            self._connection,
            NewEvent(
                event_id=event_id,
                room_id=room_id,
                type="message.created",
                actor_id=actor_id,
                correlation_id=event_id,
                occurred_at=_time(record.get("at")),
                body={"content": record["text"] + (f" [image: {caption}]" if caption else "")},
            ),
        )

    def search(self, scope: str, query: str, k: int) -> Json:
        """The ids of the best `k` records."""
        while not backlog(self._connection).is_empty:
            self._connection.execute("BEGIN IMMEDIATE")
            index_some(self._connection)
            self._connection.execute("COMMIT")
        filters = Filters(room_id=_id("room", scope), kind="message")
        page = search(self._connection, query, filters, utc_now_iso(), limit=k)
        return {"ids": [self._record_of[row.ref_id] for row in page.found]}


def _id(kind: str, name: str) -> str:
    return f"{kind}:{hashlib.blake2s(name.encode(), digest_size=8).hexdigest()}"


def _time(at: str | None) -> str:
    if at is None:
        return NO_TIME
    return f"{at[:19]}.000Z"


def serve(adapter: Adapter, read: Callable[[], str], write: Callable[[str], object]) -> None:
    """Answer requests until there are no more."""
    while line := read():
        request = json.loads(line)
        if request["op"] == "ingest":
            answer = adapter.ingest(request["scope"], request["records"])
        else:
            answer = adapter.search(request["scope"], request["query"], request["k"])
        write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def main() -> None:
    """Serve stdin over a ledger in a new folder, or in the one that is named."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--folder", type=Path)
    folder: Path | None = options.parse_args().folder
    with tempfile.TemporaryDirectory() as temporary:
        path = (folder or Path(temporary)) / "groupx.db"
        prepare(path, now=utc_now)
        with closing(open_writer(path)) as connection:
            serve(Adapter(connection), sys.stdin.readline, sys.stdout.write)


if __name__ == "__main__":
    main()
