"""A stream that starts far behind catches up in one connection while new events arrive."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.times import utc_now
from groupx_shared.ids import USER_WEB, new_id
from groupx_shared.runtime import RuntimeFile
from groupx_shared.wire.sse import SseParser
from support.server_process import ServerProcess, client_of, send, server_in
from support.transactions import NOW

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(120)]

STORED = 20_000
NEW = 50


def _fill(server: ServerProcess, count: int) -> None:
    path = server.workspace.data_folder / "groupx.db"
    path.parent.mkdir()
    prepare(path, now=utc_now)
    with closing(sqlite3.connect(path, isolation_level=None)) as book:
        book.execute("BEGIN")
        for number in range(count):
            event = NewEvent(
                event_id=new_id("evt"),
                room_id="room:main",
                type="message.created",
                actor_id=USER_WEB,
                correlation_id="corr_fill",
                occurred_at=NOW,
                body={"content": f"message {number} 你好 👋"},
            )
            insert_event(book, event)
        book.execute("COMMIT")


def _durable(runtime: RuntimeFile, after_seq: int) -> Generator[int, None, None]:
    """Seqs of the durable events of one connection."""
    headers = {"Authorization": f"Bearer {runtime.token}"}
    url = f"{runtime.url}/api/events?afterSeq={after_seq}"
    parser = SseParser()
    with httpx.stream("GET", url, headers=headers, timeout=30, trust_env=False) as reply:
        assert reply.status_code == 200
        for chunk in reply.iter_raw():
            for frame in parser.feed(chunk):
                event = json.loads(frame.data)
                if event["seq"] is not None:
                    assert frame.event_id == str(event["seq"])
                    yield event["seq"]


def test_twenty_thousand_events_come_once_in_order_while_new_ones_arrive(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        _fill(server, STORED)
        runtime = server.start()

        def talk() -> None:
            with client_of(runtime) as client:
                for number in range(NEW):
                    send(client, f"new {number}", [], f"new{number}")

        talker = threading.Thread(target=talk)
        seen: list[int] = []
        for seq in _durable(runtime, 0):
            seen.append(seq)
            if len(seen) == 100:
                talker.start()
            if len(seen) == STORED + NEW:
                break
        talker.join()
        assert seen == list(range(1, STORED + NEW + 1))


def test_a_stream_resumes_after_the_last_event_it_saw(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        _fill(server, 300)
        runtime = server.start()
        first = _durable(runtime, 0)
        seen = [next(first) for _ in range(120)]
        first.close()
        rest = _durable(runtime, seen[-1])
        assert seen + [next(rest) for _ in range(180)] == list(range(1, 301))
        rest.close()


def test_pages_of_a_long_room_reach_the_first_event(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        _fill(server, 1_234)
        with client_of(server.start()) as client:
            seqs: list[int] = []
            before = ""
            while True:
                page = client.get(f"/api/rooms/room:main/events?limit=500{before}").json()
                seqs = [event["seq"] for event in page["events"]] + seqs
                if not page["hasMoreBefore"]:
                    break
                before = f"&before={seqs[0]}"
            assert seqs == list(range(1, 1_235))
            exported = client.get("/api/export?format=jsonl").text.splitlines()
            assert [json.loads(line)["seq"] for line in exported] == seqs
