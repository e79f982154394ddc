"""The product's own ledger and search, as a system under test of a retrieval evaluator.

Run from the root as `python -m tests.bench.retrieval_adapter [--folder DIR]`; with `--embeddings
URL --model NAME` what texts mean counts too. One JSON object a line on stdin, one answer a line on
stdout:

    {"op":"ingest","scope":S,"records":[{id,seq,session,speaker,text,caption,at}]} -> {"ok":true}
    {"op":"search","scope":S,"query":Q,"k":K}                                      -> {"ids":[...]}

A scope is a room, a speaker is a person, a record is a message with its own time. Only `id` must be
there. Nothing of the index is prepared: the first search brings it up to date, as after an upgrade.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from groupx_server.domain.vectors import unpack
from groupx_server.ledger.connection import open_writer
from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.search import Filters, Meaning, search
from groupx_server.ledger.searchindex import backlog, index_some
from groupx_server.ledger.searchvectors import next_sources, put_vectors
from groupx_server.ledger.times import utc_now, utc_now_iso
from groupx_server.rooms.embedding import EmbeddingEndpoint
from groupx_shared.settings import EmbeddingSettings

Json = dict[str, Any]
NO_TIME = "1970-01-01T00:00:00.000Z"
MOST = 1_000


class Adapter:
    """One ledger; event ids lead back to the evaluator's records."""

    def __init__(
        self, connection: sqlite3.Connection, embeddings: EmbeddingSettings | None = None
    ) -> None:
        self._connection = connection
        self._embeddings = embeddings
        self._record_of: dict[str, Any] = {}

    def answer(self, request: Json) -> Json:
        """Do what a request asks for."""
        if request["op"] == "ingest":
            return self.ingest(str(request["scope"]), request["records"])
        k = int(request.get("k") or MOST)
        return self.search(str(request["scope"]), _text(request.get("query")), k)

    def undo(self) -> None:
        """Leave nothing of a request that failed half-way."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def ingest(self, scope: str, records: list[Json]) -> Json:
        """Write the records as messages of the scope's room."""
        room_id, now = _id("room", scope), utc_now_iso()
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(
            "INSERT OR IGNORE INTO rooms(room_id, title, created_at, updated_at)"
            " VALUES (?, ?, ?, ?)",
            (room_id, _text(scope), now, now),
        )
        for record in records:
            self._say(room_id, record, now)
        self._connection.execute("COMMIT")
        return {"ok": True}

    def _say(self, room_id: str, record: Json, now: str) -> None:
        speaker = _text(record.get("speaker")) or "somebody"
        actor_id = _id("user", speaker)
        self._connection.execute(
            "INSERT OR IGNORE INTO actors(actor_id, kind, display_name, enabled, created_at,"
            " updated_at) VALUES (?, 'user', ?, 1, ?, ?)",
            (actor_id, speaker, now, now),
        )
        event_id = _id("evt", f"{room_id} {len(self._record_of)} {record['id']}")
        self._record_of[event_id] = record["id"]
        caption = _text(record.get("caption"))
        insert_event(
            self._connection,
            NewEvent(
                event_id=event_id,
                room_id=room_id,
                type="message.created",
                actor_id=actor_id,
                correlation_id=event_id,
                occurred_at=_time(record.get("at")),
                body={
                    "content": _text(record.get("text"))
                    + (f" [image: {caption}]" if caption else "")
                },
            ),
        )

    def search(self, scope: str, query: str, k: int) -> Json:
        """The ids of the best `k` records."""
        while not backlog(self._connection).is_empty:
            self._connection.execute("BEGIN IMMEDIATE")
            index_some(self._connection)
            self._connection.execute("COMMIT")
        meaning = None if self._embeddings is None else self._meaning(self._embeddings, query)
        filters = Filters(room_id=_id("room", scope), kind="message")
        page = search(self._connection, query, filters, utc_now_iso(), limit=k, meaning=meaning)
        found = [self._record_of[row.ref_id] for row in page.found if row.ref_id in self._record_of]
        return {"ids": list(dict.fromkeys(found))}

    def _meaning(self, settings: EmbeddingSettings, query: str) -> Meaning | None:
        """Give vectors to all rows that have none, then to the query."""
        if not query.strip():
            return None

        async def ask(texts: list[str]) -> list[bytes]:
            endpoint = EmbeddingEndpoint(settings)
            try:
                return await endpoint.embed(texts, settings.timeout_ms / 1000)
            finally:
                await endpoint.aclose()

        model, chars = EmbeddingEndpoint(settings).model, settings.characters
        while rows := next_sources(self._connection, model, settings.batch_size, chars):
            vectors = asyncio.run(ask([row.text for row in rows]))
            found = {row.row_id: vector for row, vector in zip(rows, vectors, strict=True)}
            put_vectors(self._connection, model, dict(found))
        [vector] = asyncio.run(ask([query]))
        return Meaning(unpack(vector), settings.weight, settings.least_nearness)


def _id(kind: str, name: str) -> str:
    digest = hashlib.blake2s(name.encode(errors="surrogatepass"), digest_size=8)
    return f"{kind}:{digest.hexdigest()}"


def _text(value: object) -> str:
    """Any value as text that can be stored."""
    text = "" if value is None else str(value)
    return text.encode(errors="replace").decode()


def _time(at: object) -> str:
    """A time as the ledger stores it; what is none is long ago."""
    try:
        moment = datetime.fromisoformat(str(at))
    except ValueError:
        return NO_TIME
    return f"{moment.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def serve(adapter: Adapter, read: Callable[[], str], write: Callable[[str], object]) -> None:
    """Answer requests until there are no more; a wrong one costs no more than its answer."""
    while line := read():
        if not line.strip():
            continue
        try:
            answer = adapter.answer(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            adapter.undo()
            answer = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def main() -> None:
    """Serve stdin over a ledger in a new folder, or in the one that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--embeddings", metavar="URL")
    parser.add_argument("--model", default="default")
    options = parser.parse_args()
    embeddings = None
    if options.embeddings:
        embeddings = EmbeddingSettings(
            enabled=True,
            base_url=options.embeddings,
            model=options.model,
            timeout_ms=300_000,
        )
    folder: Path | None = options.folder
    with tempfile.TemporaryDirectory() as temporary:
        path = (folder or Path(temporary)) / "groupx.db"
        prepare(path, now=utc_now)
        with closing(open_writer(path)) as connection:
            stdin = open(0, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
            serve(Adapter(connection, embeddings), stdin.readline, sys.stdout.write)


if __name__ == "__main__":
    main()
