"""The window: goals 8 to 12 and 16, and its memory. The counterpart is Textual's Markdown stream.

Ours is the whole way: an agent that streams, the server, the window, the bytes on its terminal.
Textual's is fed in its own process, which is cheaper than ours by all of the way.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.groups.starting import COMMAND, PROGRAMS
from bench.ptys import COLUMNS, Link, Window, in_terminal
from bench.ptys import ROWS as TERMINAL_ROWS
from bench.rows import Figure, Put, Row, Size, most, times
from bench.sampling import cpu_s, p50, p95, rss_mb
from bench.site import Site, bench_config, filled_folder, fresh_site, running
from bench.wire import Connection
from support.server_process import client_of, send

MARKDOWN = "Textual's Markdown stream"
SMALL = "10k ledger"
KEYS = [chr(0x410 + n) for n in range(40)]
MARKS = [chr(0x561 + n) for n in range(20)]
RATE, DELTAS, MARK_EVERY = 200, 2_000, 100
KEY_EVERY_S = 0.2
PATIENCE_S = 40.0
LIVE = "live"
"""Stands in the header when the room is there."""
FRAME_BYTES = 1.1 * COLUMNS * TERMINAL_ROWS
SSH = {"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}
SSH_KB = 160.0
LINK = Link(bytes_s=250_000, one_way_s=0.02)
"""2 Mbit/s and 40 ms there and back: a hotel, or another continent's nearer half."""
LINK_ECHO_MS = 80 + 2 * LINK.one_way_s * 1000
KB_S = 30 * FRAME_BYTES / 1000

ROWS = (
    Row("delta", "agent → terminal bytes, 200 deltas a second, p95", "ms", most(60), most(50)),
    Row(
        "key", "key → echo while that streams, p95", "ms",
        times(0.2) & most(80, "ms"), times(0.2) & most(40, "ms"), MARKDOWN,
    ),
    Row("stream-cpu", "CPU while that streams", "s", times(0.45), times(0.3), MARKDOWN),
    Row("stream-bytes", "bytes to the terminal, 30 frames a second", "KB/s", most(KB_S), None),
    Row("ssh-bytes", "the same over ssh", "KB/s", most(SSH_KB), None),
    Row("ssh-key", "key → echo, 2 Mbit/s and 40 ms away, p95", "ms", most(LINK_ECHO_MS), None),
    Row("ssh-delta", "agent → terminal bytes over that link, p95", "ms", None, None),
    Row("idle-cpu", "idle window, CPU", "%", most(0.5), most(0.1)),
    Row("idle-bytes", "idle window, bytes to the terminal", "B/s", most(50), most(0)),
    Row("page", "page up in a view of 10,000 messages", "ms", times(3), None, "100 messages"),
    Row("append", "append in a view of 10,000 messages", "ms", times(1.3), None, "100 messages"),
    Row("content", "window, spawn → newest message, largest ledger", "ms", times(1.3), None, SMALL),
    Row("window-rss", "window, memory, largest ledger", "MB", most(90), None, SMALL),
    Row("window-old", "window, page up 20 times, largest ledger", "ms", times(1.3), None, SMALL),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Streamed:
    """What one streamed answer cost."""

    cpu_s: float
    kb_per_s: float
    echoes_ms: list[float]
    draws_ms: list[float]


def _command(folder: Path) -> list[str]:
    return [sys.executable, "-c", COMMAND.format(words=["--config", str(folder)])]


def _path() -> dict[str, str]:
    path = filter(None, (str(PROGRAMS.parents[1]), os.environ.get("PYTHONPATH")))
    return {"PYTHONPATH": os.pathsep.join(path)}


@contextmanager
def _site_with_log() -> Iterator[tuple[Site, Path]]:
    with tempfile.TemporaryDirectory(prefix="groupx-bench-") as name:
        log = Path(name) / "marks"
        config = bench_config()
        config["agents"]["bot"]["env"] = {"SCRIPTED_LOG": str(log)}
        with fresh_site(config) as site:
            yield site, log


def _stream_rows(size: Size, put: Put) -> None:
    ours, theirs = [], []
    deltas = size.of(DELTAS, 60)
    for _ in range(size.rounds):
        ours.append(_our_stream(deltas, {}))
        theirs.append(_their_stream(deltas))
    ssh = [_our_stream(deltas, SSH, LINK) for _ in range(min(size.rounds, 2))]
    put("delta", Figure(p95(_all(ours, "draws_ms")), None, _middle(_all(ours, "draws_ms"))))
    echo, their_echo = p95(_all(ours, "echoes_ms")), p95(_all(theirs, "echoes_ms"))
    put("key", Figure(echo, their_echo, _middle(_all(ours, "echoes_ms"))))
    put("stream-cpu", Figure(p50(s.cpu_s for s in ours), p50(s.cpu_s for s in theirs)))
    put("stream-bytes", Figure(p50(s.kb_per_s for s in ours)))
    put("ssh-bytes", Figure(p50(s.kb_per_s for s in ssh)))
    put("ssh-key", Figure(p95(_all(ssh, "echoes_ms")), None, _middle(_all(ssh, "echoes_ms"))))
    put("ssh-delta", Figure(p95(_all(ssh, "draws_ms")), None, _middle(_all(ssh, "draws_ms"))))


def _all(runs: list[Streamed], name: str) -> list[float]:
    return [value for run in runs for value in getattr(run, name)] or [float("nan")]


def _middle(values: list[float]) -> str:
    return f"p50 {statistics.median(values):.1f}"


def _our_stream(deltas: int, env: dict[str, str], link: Link | None = None) -> Streamed:
    """An agent streams into a whole window."""
    with (
        _site_with_log() as (site, log),
        in_terminal(_command(site.server.folder), env=env | _path(), link=link) as window,
    ):
        window.watch_for(LIVE)
        window.wait_for(LIVE, PATIENCE_S)
        window.watch_for(*MARKS, *KEYS)
        with client_of(site.runtime) as client:
            send(client, f"[[pace {deltas} {RATE}]]", ["bot"], "pace")
        window.wait_for(MARKS[0], PATIENCE_S)
        before, total, begun = cpu_s(window.process.pid), window.total, time.monotonic()
        pressed = _press_until(window, MARKS[(deltas - 51) // MARK_EVERY])
        cpu, took = cpu_s(window.process.pid) - before, time.monotonic() - begun
        published = _marks(log)
        kb = (window.total - total) / 1000 / max(took, 0.001)
        whole = deltas / RATE / max(took, 0.001)
        return Streamed(
            cpu * whole if took > 1 else cpu, kb, _waits(pressed, window.seen),
            _waits(published, window.seen),
        )  # fmt: skip


def _press_until(window: Window, last: str) -> dict[str, float]:
    """Press a key now and then until the last mark is drawn; return when each was pressed."""
    pressed: dict[str, float] = {}
    deadline = time.monotonic() + PATIENCE_S
    for key in KEYS:
        pressed[key] = window.press(key)
        try:
            window.wait_for(last, KEY_EVERY_S)
            break
        except TimeoutError:
            if time.monotonic() > deadline:
                raise
    window.wait_for(last, PATIENCE_S)
    window.wait_for(next(reversed(pressed)), PATIENCE_S)
    return pressed


def _marks(log: Path) -> dict[str, float]:
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    return {entry["letter"]: entry["at"] for entry in entries if entry["what"] == "mark"}


def _waits(begun: dict[str, float], seen: dict[str, float]) -> list[float]:
    return [(seen[letter] - at) * 1000 for letter, at in begun.items() if letter in seen]


def _their_stream(deltas: int) -> Streamed:
    """The same into Textual's own widget."""
    seconds = deltas / RATE
    with tempfile.TemporaryDirectory(prefix="groupx-bench-") as name:
        report = Path(name) / "report"
        program = [sys.executable, str(PROGRAMS / "window.py")]
        argv = [*program, "markdown", str(deltas), str(seconds), str(report)]
        with in_terminal(argv, "".join([*MARKS, *KEYS]), env=_path()) as window:
            window.wait_for(MARKS[0], PATIENCE_S)
            pressed: dict[str, float] = {}
            deadline = time.monotonic() + PATIENCE_S + seconds
            while window.process.poll() is None and time.monotonic() < deadline:
                if len(pressed) < len(KEYS):
                    key = KEYS[len(pressed)]
                    pressed[key] = window.press(key)
                time.sleep(KEY_EVERY_S)
        found = json.loads(report.read_text())
        echoes = _waits(pressed, window.seen)
        return Streamed(found["cpu_s"], window.total / 1000 / found["wall_s"], echoes, [])


def _idle_rows(size: Size, put: Put) -> None:
    seconds = 10.0 if not size.is_quick else 0.3
    with fresh_site() as site, in_terminal(_command(site.server.folder), env=_path()) as window:
        window.watch_for(LIVE)
        window.wait_for(LIVE, PATIENCE_S)
        time.sleep(0 if size.is_quick else 3)
        before, total = cpu_s(window.process.pid), window.total
        time.sleep(seconds)
        used, written = cpu_s(window.process.pid) - before, window.total - total
    put("idle-cpu", Figure(used / seconds * 100))
    put("idle-bytes", Figure(written / seconds))


def _view_rows(size: Size, put: Put) -> None:
    counts = {"small": 100, "large": size.of(10_000, 200)}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in counts}
    for _ in range(size.rounds):
        for name, count in counts.items():
            argv = [sys.executable, str(PROGRAMS / "window.py"), "room", str(count)]
            done = subprocess.run(
                argv, capture_output=True, check=True, timeout=60, env={**os.environ, **_path()}
            )
            found[name].append(json.loads(done.stdout))
    for key, name in (("page", "page_up_ms"), ("append", "append_ms")):
        large, small = (p50(run[name] for run in found[kind]) for kind in ("large", "small"))
        put(key, Figure(large, small))


async def _ledger_rows(size: Size, put: Put) -> None:
    """The same window on a small ledger and on the largest."""
    found: dict[str, list[tuple[float, float, float]]] = {"small": [], "large": []}
    with ExitStack() as stack:
        sites = {}
        for name, which in (("small", 0), ("large", 2)):
            folder = stack.enter_context(filled_folder(size, which))
            site = stack.enter_context(running(folder, bench_config()))
            sites[name] = site, await _last_word(site)
        for _ in range(size.rounds):
            for name, (site, word) in sites.items():
                found[name].append(_open(site, word))
    for column, key in enumerate(("content", "window-rss", "window-old")):
        large, small = (p50(run[column] for run in found[kind]) for kind in ("large", "small"))
        put(key, Figure(large, small))


async def _last_word(site: Site) -> str:
    """A word of the newest message in the main room that no other has."""
    async with Connection(site.address) as connection:
        await connection.send("the newest (note zqlast)")
    return "zqlast"


def _open(site: Site, word: str) -> tuple[float, float, float]:
    """Milliseconds to the newest message; memory; milliseconds for going far up."""
    with in_terminal(_command(site.server.folder), env=_path()) as window:
        window.watch_for(word)
        content = (window.wait_for(word, PATIENCE_S) - window.begun) * 1000
        begun = time.monotonic()
        for number in range(20):
            total = window.total
            window.press("\x1b[5~")
            _wait_for_bytes(window, total, 2.0 if number < 2 else 0.5)
        took = (time.monotonic() - begun) * 1000
        return content, rss_mb(window.process.pid), took


def _wait_for_bytes(window: Window, total: int, within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while window.total == total and time.monotonic() < deadline:
        time.sleep(0.002)


PARTS = (_stream_rows, _idle_rows, _view_rows, _ledger_rows)
