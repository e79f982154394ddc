"""Slow, greedy, many and confused readers of the event stream: nobody else notices them."""

from __future__ import annotations

import statistics
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from groupx_shared.runtime import RuntimeFile
from support.raw_reader import RawReader
from support.server_process import client_of, send, server_in
from support.waiting import eventually

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.timeout(120),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

FILLER = "x" * 4_000


def rss_mb(runtime: RuntimeFile) -> float:
    status = Path(f"/proc/{runtime.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if "VmRSS" in line) / 1024


def open_files(runtime: RuntimeFile) -> int:
    return len(list(Path(f"/proc/{runtime.pid}/fd").iterdir()))


def say(client: httpx.Client, count: int, name: str) -> list[float]:
    """Send so many messages; return how long each took, in seconds."""
    took = []
    for number in range(count):
        begun = time.perf_counter()
        send(client, f"{name} {number} {FILLER}", [], f"{name}-{number}")
        took.append(time.perf_counter() - begun)
    return took


def newest(client: httpx.Client) -> int:
    return int(client.get("/api/bootstrap?limit=1").json()["throughSeq"])


def test_readers_that_stop_reading_cost_nobody_anything_and_miss_nothing(tmp_path: Path) -> None:
    with server_in(tmp_path) as server, ExitStack() as stack:
        runtime = server.start()
        client = stack.enter_context(client_of(runtime))
        alone = say(client, 300, "warm")
        before = rss_mb(runtime)
        stopped = [stack.enter_context(RawReader(runtime, small=True)) for _ in range(20)]
        lively = stack.enter_context(RawReader(runtime))
        beside = say(client, 1_500, "loud")  # 6 MB for each of them: three times the hot ring
        last = newest(client)
        seen = lively.seqs(last)
        assert seen == list(range(1, last + 1))
        assert rss_mb(runtime) - before < 60
        assert statistics.median(beside) < 3 * statistics.median(alone) + 0.005
        for reader in stopped[:3]:
            assert reader.seqs(last) == seen
        assert client.get("/api/health").json()["status"] == "ok"


def test_fifty_readers_at_once_each_see_everything_once_and_in_order(tmp_path: Path) -> None:
    with server_in(tmp_path) as server, ExitStack() as stack:
        runtime = server.start()
        client = stack.enter_context(client_of(runtime))
        say(client, 200, "before")
        half = newest(client)
        readers = [
            stack.enter_context(RawReader(runtime, after_seq=0 if number % 2 else half))
            for number in range(50)
        ]
        total = half + 300
        seen: list[list[int]] = [[] for _ in readers]

        def read(number: int) -> None:
            seen[number] = readers[number].seqs(total)

        threads = [threading.Thread(target=read, args=(number,)) for number in range(50)]
        for thread in threads:
            thread.start()
        say(client, 300, "during")
        for thread in threads:
            thread.join(60)
        for number, seqs in enumerate(seen):
            assert seqs == list(range(1 if number % 2 else half + 1, total + 1))


def test_an_old_cursor_is_served_from_the_ledger_while_others_are_live(tmp_path: Path) -> None:
    with server_in(tmp_path) as server, ExitStack() as stack:
        runtime = server.start()
        client = stack.enter_context(client_of(runtime))
        say(client, 1_000, "long ago")
        last = newest(client)
        live = stack.enter_context(RawReader(runtime, after_seq=last))
        old = stack.enter_context(RawReader(runtime, after_seq=0))
        say(client, 50, "now")
        assert live.seqs(last + 50) == list(range(last + 1, last + 51))
        assert old.seqs(last + 50) == list(range(1, last + 51))


def test_a_wrong_cursor_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with server_in(tmp_path) as server, client_of(server.start()) as client:
        send(client, "hello", [], "first")
        last = newest(client)
        beyond = client.get(f"/api/events?afterSeq={last + 1}")
        assert (beyond.status_code, beyond.json()["error"]["code"]) == (409, "STORE_CONFLICT")
        assert "/api/bootstrap" in beyond.json()["error"]["message"]
        assert beyond.json()["error"]["details"] == {"afterSeq": last + 1, "throughSeq": last}
        for wrong in ("-1", "abc", "1.5", "9" * 30, ""):
            reply = client.get(f"/api/events?afterSeq={wrong}")
            assert (reply.status_code, reply.json()["error"]["code"]) == (400, "INVALID_ENVELOPE")
        two = client.get("/api/events?afterSeq=0", headers={"Last-Event-ID": "1"})
        assert two.status_code == 400
        nowhere = client.get("/api/events?roomId=room:nowhere")
        assert nowhere.status_code == 404


def test_readers_that_vanish_leave_nothing_behind(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        runtime = server.start()
        with client_of(runtime) as client:
            say(client, 100, "before")
            files, memory = open_files(runtime), rss_mb(runtime)
            for round_number in range(10):
                readers = [RawReader(runtime, small=number % 2 == 0) for number in range(30)]
                say(client, 1, f"round {round_number}")
                for reader in readers:
                    reader.socket.close()
            say(client, 20, "after")
            eventually(lambda: open_files(runtime) <= files, within_s=10)
            assert rss_mb(runtime) - memory < 30
