"""R2, no lost write: many write at once while the server is killed again and again; what was
acknowledged is there once and whole, and the search index is sound.

R3 beside it: whatever got no answer is sent again with the same key, and is there once."""

from __future__ import annotations

import random
import sqlite3
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from groupx_server.ledger.indexcheck import rows_without_words, unsound_index
from groupx_server.ledger.searchindex import index_some
from groupx_shared.runtime import RuntimeFile
from support.goal_size import bound_s, rare_words, sized
from support.server_process import ServerProcess, client_of, server_in

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(bound_s(180))]

WRITERS = 8
APPENDS = sized(12, 1_000)
"""Of each writer."""
KILLS = sized(4, 200)
WAIT_S = 60.0
JITTER_S = 0.03
KINDS = ("message", "memory", "identity")


class Site:
    """Where the server is now, and how much was acknowledged."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._runtime: RuntimeFile | None = None
        self.acknowledged: dict[str, str] = {}
        """Id of what holds each word."""
        self.repeats = 0

    def moved(self, runtime: RuntimeFile | None) -> None:
        with self._changed:
            self._runtime = runtime
            self._changed.notify_all()

    def where(self) -> RuntimeFile:
        """Wait for a server."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._runtime is not None, WAIT_S)
            assert self._runtime is not None
            return self._runtime

    def acknowledge(self, word: str, ref_id: str) -> None:
        with self._changed:
            self.acknowledged[word] = ref_id
            self._changed.notify_all()

    def until(self, count: int) -> None:
        """Wait until so many were acknowledged."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.acknowledged) >= count, WAIT_S)


def _request(kind: str, word: str) -> tuple[str, dict[str, Any]]:
    body: dict[str, Any] = {"clientCommandId": word, "content": f"first {word}\nlast {word}"}
    if kind == "message":
        return "/api/messages", {**body, "to": []}
    if kind == "memory":
        return "/api/memory", {
            **body,
            "kind": "fact",
            "scope": {"type": "room", "id": "room:main"},
        }
    return "/api/identity", {**body, "kind": "note", "subjectActorId": "agent:bot"}


def _id_in(reply: dict[str, Any]) -> str:
    if "messageEventId" in reply:
        return str(reply["messageEventId"])
    kind = "memory" if "memory" in reply else "identity"
    return str(reply[kind][f"{kind}Id"])


def _write(site: Site, words: list[str], number: int) -> None:
    """Append one after the other, each until it is acknowledged."""
    for at, word in enumerate(words):
        path, body = _request(KINDS[(at + number) % len(KINDS)], word)
        while True:
            with client_of(site.where()) as client:
                try:
                    reply = client.post(path, json=body)
                except httpx.TransportError:
                    site.repeats += 1
                    continue
            if reply.is_success:
                break
            assert reply.status_code == 503, reply.text
        site.acknowledge(word, _id_in(reply.json()))


def _kill_now_and_then(server: ServerProcess, site: Site, every: int) -> None:
    draw = random.Random(2)
    pause = threading.Event()
    for number in range(1, KILLS + 1):
        site.until(number * every)
        pause.wait(draw.random() * JITTER_S)  # anywhere in what is under way
        site.moved(None)
        server.kill()
        site.moved(server.start())


def _texts(book: sqlite3.Connection) -> dict[str, str]:
    """Everything that was written, by id; no word may be there twice."""
    rows = book.execute(
        "SELECT memory_id, content FROM memory_records UNION ALL"
        " SELECT identity_id, content FROM identity_records UNION ALL"
        " SELECT event_id, json_extract(body_json, '$.content') FROM events"
        " WHERE event_type = 'message.created'"
    ).fetchall()
    assert len({content for _, content in rows}) == len(rows)
    return dict(rows)


def test_eight_writers_and_many_kills_lose_nothing_double_nothing_and_leave_nothing_half(
    tmp_path: Path,
) -> None:
    words = rare_words(2, WRITERS * APPENDS)
    site = Site()
    with server_in(tmp_path) as server, ThreadPoolExecutor(WRITERS) as pool:
        site.moved(server.start())
        writing: list[Future[None]] = [
            pool.submit(_write, site, words[number::WRITERS], number) for number in range(WRITERS)
        ]
        _kill_now_and_then(server, site, len(words) // (KILLS + 1))
        for each in writing:
            each.result(WAIT_S)
        assert server.stop() == 0
        assert server.violations() == []
        with closing(sqlite3.connect(server.workspace.data_folder / "groupx.db")) as book:
            expected = {
                ref_id: f"first {word}\nlast {word}" for word, ref_id in site.acknowledged.items()
            }
            assert len(expected) == len(words)
            assert _texts(book) == expected
            said = book.execute(
                "SELECT COUNT(*), COUNT(DISTINCT COALESCE(json_extract(body_json,"
                " '$.record.memoryId'), json_extract(body_json, '$.record.identityId')))"
                " FROM events WHERE event_type IN ('memory.remembered', 'identity.remembered')"
            ).fetchone()
            records = sum(not ref_id.startswith("evt_") for ref_id in expected)
            assert said == (records, records)
            while not index_some(book).is_empty:
                book.commit()
            assert unsound_index(book) is None
            assert rows_without_words(book, is_deep=True, most=5) == []
