"""Disks that are full, fail, lose the file or change a byte, under a real server."""

from __future__ import annotations

import errno
import json
import re
import resource
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.times import utc_now
from groupx_server.ledger.verify import find_violations
from groupx_server.portability.restore import restore
from groupx_shared.ids import new_id
from support.broken_disk import FailingDisk, small_disk
from support.server_process import ServerProcess, client_of, send, server_in
from support.transactions import NOW
from support.waiting import eventually

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.timeout(120),
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux"),
]


def database(server: ServerProcess) -> Path:
    return server.workspace.data_folder / "groupx.db"


def log_events(server: ServerProcess) -> list[str]:
    path = server.workspace.data_folder / "logs" / "server.log"
    return [json.loads(line)["event"] for line in path.read_text("utf-8").splitlines()]


def health(client: httpx.Client) -> dict[str, Any]:
    result: dict[str, Any] = client.get("/api/health").json()
    return result


def try_to_send(client: httpx.Client, content: str, command_id: str) -> httpx.Response:
    body = {"clientCommandId": command_id, "content": content, "to": ["bot"]}
    return client.post("/api/messages", json=body)


def said(client: httpx.Client, room: str = "room:main") -> list[str]:
    page = client.get(f"/api/rooms/{room}/events?type=message.created&limit=500").json()
    people = [e for e in page["events"] if e["actor"]["actorId"] == "user:web"]
    return [event["body"]["content"] for event in people]


def assert_refused(reply: httpx.Response, words: str) -> None:
    assert reply.status_code == 503
    error = reply.json()["error"]
    assert error["code"] == "STORE_UNAVAILABLE"
    assert re.search(words, error["message"]), error


# ── Full, failing, read-only ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        ("write", errno.ENOSPC, "The disk is full"),
        ("write", errno.EIO, "The disk failed"),
        ("write", errno.EROFS, "The disk failed"),
        ("sync", errno.EIO, "The disk failed"),
        ("sync", errno.ENOSPC, "The disk failed|The disk is full"),
    ],
)
def test_a_disk_that_cannot_be_written_refuses_says_why_keeps_reading_and_heals_by_itself(
    tmp_path: Path, kind: str, code: int, words: str
) -> None:
    disk = FailingDisk(tmp_path)
    with server_in(tmp_path) as server:
        server.environment = disk.environment
        with client_of(server.start()) as client:
            first = send(client, "[[say kept]]", ["bot"], "first")["turns"][0]["turnId"]
            server.wait_turn(client, first, "completed")
            running = send(client, "[[burst 500]] [[say end]]", ["bot"], "second")
            disk.fail(kind, code)
            assert_refused(try_to_send(client, "[[say third]]", "third"), words)
            assert health(client)["status"] == "degraded"
            assert re.search(words, health(client)["problem"])
            assert str(tmp_path) not in health(client)["problem"]
            assert said(client) == ["[[say kept]]", "[[burst 500]] [[say end]]"]
            disk.heal()
            eventually(lambda: health(client)["status"] == "ok", within_s=10)
            turn_id = running["turns"][0]["turnId"]
            assert server.wait_turn(client, turn_id)["content"].endswith("end")
            third = send(client, "[[say third]]", ["bot"], "third")["turns"][0]["turnId"]
            assert server.wait_turn(client, third)["status"] == "completed"
        assert server.stop() == 0
        assert [len(server.prompts(text)) for text in ("kept", "burst", "third")] == [1, 1, 1]
        assert server.violations() == []
        events = log_events(server)
        assert events.index("ledger.failed") < events.index("ledger.recovered")


def test_a_disk_that_cannot_be_read_is_said_and_the_server_stays(tmp_path: Path) -> None:
    disk = FailingDisk(tmp_path)
    with server_in(tmp_path) as server:
        _fill(server, 3_000, 2_000)  # more than the readers' cache
        server.environment = disk.environment
        with client_of(server.start()) as client:
            disk.fail("read", errno.EIO)
            reply = client.get("/api/rooms/room:main/events?before=1000&limit=500")
            assert_refused(reply, "its disk cannot be read")
            assert health(client)["status"] == "degraded"
            disk.heal()
            reply = client.get("/api/rooms/room:main/events?before=1000&limit=500")
            assert len(reply.json()["events"]) == 500
            send(client, "still here", [], "first")
        assert server.stop() == 0


def test_a_kill_while_the_disk_fails_loses_nothing_that_was_accepted(tmp_path: Path) -> None:
    disk = FailingDisk(tmp_path)
    with server_in(tmp_path) as server:
        server.environment = disk.environment
        with client_of(server.start()) as client:
            for number in range(10):
                send(client, f"number {number}", ["bot"], f"c{number}")
            disk.fail("sync", errno.EIO)
            for number in range(10, 15):
                assert try_to_send(client, f"number {number}", f"c{number}").status_code == 503
        server.kill()
        disk.heal()
        with client_of(server.start()) as client:
            for number in range(10, 15):  # refused or stored in the last moment: once after this
                send(client, f"number {number}", ["bot"], f"c{number}")
            assert sorted(said(client)) == sorted(f"number {number}" for number in range(15))
            assert said(client)[:10] == [f"number {number}" for number in range(10)]
        assert server.stop() == 0
        assert server.violations() == []


def test_a_stop_while_the_disk_fails_ends_within_bounds(tmp_path: Path) -> None:
    disk = FailingDisk(tmp_path)
    with server_in(tmp_path) as server:
        server.environment = disk.environment
        with client_of(server.start()) as client:
            turn_id = send(client, "[[say half]] [[silent]]", ["bot"], "c")["turns"][0]["turnId"]
            server.wait_turn(client, turn_id, "running")
            disk.fail("write", errno.ENOSPC)
        assert server.stop() == 0
        disk.heal()
        with client_of(server.start()) as client:
            assert server.wait_turn(client, turn_id)["status"] == "interrupted"
        assert server.stop() == 0
        assert server.violations() == []


def test_a_start_on_a_disk_that_cannot_be_written_is_refused_with_a_sentence(
    tmp_path: Path,
) -> None:
    disk = FailingDisk(tmp_path)
    with server_in(tmp_path) as server:
        with client_of(server.start()) as client:
            send(client, "kept", [], "first")
        server.kill()
        server.environment = disk.environment
        disk.fail("write", errno.ENOSPC)
        assert server.spawn().wait(30) == 3
        last = server.output().splitlines()[-1]
        assert "groupx.db" in last
        assert "full" in last
        assert "Traceback" not in server.output()
        disk.heal()
        with client_of(server.start()) as client:
            assert said(client) == ["kept"]
        assert server.stop() == 0


def test_a_disk_that_is_really_full_is_told_and_used_again_when_there_is_space(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    server = ServerProcess(folder)
    data = folder / ".groupx"
    data.mkdir()
    with small_disk(data, 8) as disk:
        server.launcher = disk.launcher
        try:
            with client_of(server.start()) as client:
                first = send(client, "[[say kept]]", ["bot"], "first")["turns"][0]["turnId"]
                server.wait_turn(client, first, "completed")
                disk.fill()
                reply = try_to_send(client, "x" * 100_000, "big")
                assert_refused(reply, "The disk is full")
                assert health(client)["status"] == "degraded"
                assert said(client) == ["[[say kept]]"]
                disk.empty()
                eventually(lambda: health(client)["status"] == "ok", within_s=10)
                send(client, "x" * 100_000, [], "big")
                assert len(said(client)) == 2
            assert server.stop() == 0
            with closing(sqlite3.connect(disk.folder / "groupx.db")) as book:
                assert find_violations(book) == []
        finally:
            if server.process is not None and server.process.poll() is None:
                server.process.kill()
                server.process.wait()


def test_a_process_that_may_write_no_file_goes_on_reading_and_recovers(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        runtime = server.start()
        with client_of(runtime) as client:
            send(client, "kept", [], "first")
            _, hard = resource.prlimit(runtime.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(runtime.pid, resource.RLIMIT_FSIZE, (0, hard))  # its log, too
            assert_refused(try_to_send(client, "[[say later]]", "later"), "The disk failed")
            assert said(client) == ["kept"]
            resource.prlimit(runtime.pid, resource.RLIMIT_FSIZE, (hard, hard))
            eventually(lambda: health(client)["status"] == "ok", within_s=10)
            turn_id = send(client, "[[say later]]", ["bot"], "later")["turns"][0]["turnId"]
            assert server.wait_turn(client, turn_id)["content"] == "later"
        assert server.stop() == 0
        assert server.violations() == []


# ── Lost and damaged files ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("lost", ["groupx.db", "groupx.db-wal", "."])
def test_a_file_deleted_under_the_server_is_noticed_and_all_that_was_accepted_is_rescued(
    tmp_path: Path, lost: str
) -> None:
    with server_in(tmp_path) as server:
        with client_of(server.start()) as client:
            turn_id = send(client, "[[say kept]]", ["bot"], "first")["turns"][0]["turnId"]
            server.wait_turn(client, turn_id, "completed")
            target = server.workspace.data_folder / lost
            shutil.rmtree(target) if lost == "." else target.unlink()
            assert_refused(try_to_send(client, "refused", "second"), "deleted, moved or replaced")
            assert said(client) == ["[[say kept]]"]
            assert "rescued" in health(client)["problem"]
        server.stop()
        (rescued,) = server.workspace.data_folder.glob("groupx.rescued-*.bak.db")
        for left in server.workspace.data_folder.glob("groupx.db*"):
            left.unlink()
        restore(rescued, database(server))
        with client_of(server.start()) as client:
            assert said(client) == ["[[say kept]]"]
            assert server.wait_turn(client, turn_id)["content"] == "kept"
        assert server.stop() == 0
        assert server.violations() == []


def test_a_damaged_page_refuses_what_needs_it_and_leaves_the_rest_readable(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        _fill(server, 5_000, 2_500)  # so large that a start does not read all of it
        _damage_the_middle_of(database(server))
        with client_of(server.start()) as client:
            client.post("/api/rooms", json={"clientCommandId": "r", "title": "Side"})
            turn = send(client, "[[say fine]]", ["bot"], "first", roomId="room:side")
            turn_id = turn["turns"][0]["turnId"]
            assert server.wait_turn(client, turn_id)["content"] == "fine"
            broken = [
                client.get(f"/api/rooms/room:main/events?before={before}&limit=500")
                for before in range(500, 5_500, 500)
            ]
            assert {page.status_code for page in broken} == {200, 503}
            for page in broken:
                if page.status_code == 503:
                    assert_refused(page, "is damaged")
            assert health(client)["status"] == "degraded"
            assert "is damaged" in health(client)["problem"]
            assert said(client, "room:side") == ["[[say fine]]"]
        assert server.stop() == 0


def _fill(server: ServerProcess, count: int, size: int) -> None:
    """A ledger with many large messages."""
    path = database(server)
    path.parent.mkdir()
    prepare(path, now=utc_now)
    with closing(sqlite3.connect(path, isolation_level=None)) as book:
        book.execute("BEGIN")
        for number in range(count):
            event = NewEvent(
                event_id=new_id("evt"),
                room_id="room:main",
                type="message.created",
                actor_id="user:web",
                correlation_id="corr_fill",
                occurred_at=NOW,
                body={"content": f"{number} " + "x" * size},
            )
            insert_event(book, event)
        book.execute("COMMIT")


def _damage_the_middle_of(path: Path) -> None:
    """Overwrite some pages with events, as a disk does that loses sectors."""
    data = path.read_bytes()
    at = data.index(b'{"content":"2500 ') // 4096 * 4096
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"\xa5" * 4096 * 4)
