"""Measures the timeline: streams against Textual's Markdown widget, large rooms against small ones.

Run `python tests/bench/timeline_bench.py [--seconds 10]`; prints JSON. Nothing is asserted: the
numbers depend on the machine, so read the ratios. Streaming runs in a real pty (200x50): 20 KB of
markdown in 2,000 deltas, a key every 0.2 s; rooms run headless, each in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import pty
import resource
import statistics
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from fcntl import ioctl
from pathlib import Path
from select import select
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from textual.app import App, ComposeResult
from textual.widgets import Input, Markdown

from groupx_tui.state.model import TimelineView
from groupx_tui.state.streamtext import StreamText
from groupx_tui.widgets.timeline.pacing import FramePacer
from groupx_tui.widgets.timeline.widget import Timeline
from support import timelines

COLUMNS, ROWS = 200, 50
DELTAS, TOTAL_CHARS = 2_000, 20_000
KEYS = [chr(0x410 + n) for n in range(40)]
MARKS = [chr(0x561 + n) for n in range(20)]
"""Letters that occur nowhere else: the output shows when a key, or a delta, was drawn."""


def pieces() -> list[str]:
    """Return the answer as deltas; every hundredth carries a mark."""
    text = ""
    number = 0
    while len(text) < TOTAL_CHARS:
        number += 1
        text += (
            f"## Part {number}\n\n{timelines.ANSWER}\n" + "Plain words follow here. " * 12 + "\n\n"
        )
    size = TOTAL_CHARS // DELTAS
    found = [text[n * size : (n + 1) * size] for n in range(DELTAS)]
    for index, mark in enumerate(MARKS):
        found[50 + index * (DELTAS // len(MARKS))] += mark
    return found


class StreamApp(App[None]):
    """Streams the answer into one of the two widgets and notes when each mark was published."""

    def __init__(self, kind: str, seconds: float, report: Path) -> None:
        super().__init__()
        self._kind, self._seconds, self._report = kind, seconds, report

    def compose(self) -> ComposeResult:
        yield Timeline(id="timeline") if self._kind == "timeline" else Markdown()
        yield Input()

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        if self._kind != "timeline":
            self.query_one(Markdown).styles.height = "1fr"
            self.query_one(Markdown).styles.overflow_y = "auto"
            self.query_one(Markdown).anchor()
        self.run_worker(self._stream())

    async def _stream(self) -> None:
        await asyncio.sleep(1)
        usage = resource.getrusage(resource.RUSAGE_SELF)
        published: dict[str, float] = {}
        feed = self._feed_timeline() if self._kind == "timeline" else await self._feed_markdown()
        start = time.monotonic()
        for number, piece in enumerate(pieces()):
            wait = start + number * self._seconds / DELTAS - time.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            elif number % 20 == 0:
                await asyncio.sleep(0)
            if piece[-1] in MARKS:
                published[piece[-1]] = time.monotonic()
            result = feed(piece)
            if result is not None:
                await result
        took = time.monotonic() - start
        await asyncio.sleep(0.5)
        after = resource.getrusage(resource.RUSAGE_SELF)
        cpu = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
        self._report.write_text(json.dumps({"cpu_s": cpu, "wall_s": took, "published": published}))
        self.exit()

    def _feed_timeline(self) -> Callable[[str], Any]:
        timeline = self.query_one(Timeline)
        text = StreamText()
        pacer = FramePacer(
            lambda: timeline.show(
                timelines.view(timelines.message(1), timelines.turn(2, text, "running"))
            ),
            self.set_timer,
            time.monotonic,
            fps=30,
        )

        def feed(piece: str) -> None:
            nonlocal text
            text = text.append(piece)
            pacer.request()

        return feed

    async def _feed_markdown(self) -> Callable[[str], Any]:
        stream = Markdown.get_stream(self.query_one(Markdown))
        return lambda piece: stream.write(piece)


def measure_stream(kind: str, seconds: float, report: Path) -> dict[str, Any]:
    """Run a streaming child in a pty; returns its CPU, bytes and latencies."""
    pid, master = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
        arguments = [sys.executable, __file__, "--child", kind, str(seconds), str(report)]
        os.execv(sys.executable, arguments)
    ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    seen, sent, total = _drain(master)
    os.waitpid(pid, 0)
    found = json.loads(report.read_text())
    echoes = [(seen[key] - at) * 1000 for key, at in sent.items() if key in seen]
    draws = [(seen[m] - at) * 1000 for m, at in found["published"].items() if m in seen]
    return {
        "cpu_s": round(found["cpu_s"], 2),
        "wall_s": round(found["wall_s"], 2),
        "kb_per_s": round(total / 1000 / found["wall_s"], 1),
        "key_echo_ms": _quantiles(echoes),
        "delta_to_terminal_ms": _quantiles(draws),
    }


def _drain(master: int) -> tuple[dict[str, float], dict[str, float], int]:
    """Read until the child ends, pressing keys; returns when each letter was first seen, when
    each key was pressed, and the bytes read."""
    seen: dict[str, float] = {}
    sent: dict[str, float] = {}
    total, next_key, tail = 0, time.monotonic() + 1.5, b""
    waiting = {letter: letter.encode() for letter in [*KEYS, *MARKS]}
    while True:
        now = time.monotonic()
        unsent = [key for key in KEYS if key not in sent]
        if now >= next_key and unsent:
            os.write(master, unsent[0].encode())
            sent[unsent[0]] = time.monotonic()
            next_key = now + 0.2
        if not select([master], [], [], 0.01)[0]:
            continue
        try:
            data = os.read(master, 65_536)
        except OSError:
            return seen, sent, total
        if not data:
            return seen, sent, total
        total += len(data)
        data = tail + data
        tail = data[-3:]
        for letter in [letter for letter, code in waiting.items() if code in data]:
            seen[letter] = time.monotonic()
            del waiting[letter]


def _quantiles(values: list[float]) -> dict[str, float]:
    if len(values) < 2:
        return {"n": len(values)}
    cuts = statistics.quantiles(values, n=20)
    return {
        "n": len(values),
        "p50": round(statistics.median(values), 1),
        "p95": round(cuts[18], 1),
    }


async def measure_room(count: int) -> dict[str, Any]:
    """Show a room of `count` messages headless and work in it."""

    class RoomApp(App[None]):
        def compose(self) -> ComposeResult:
            yield Timeline(id="timeline")

    app = RoomApp()
    async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
        timeline = app.query_one(Timeline)
        base = _rss_mb()
        view = timelines.long_room(count)
        result: dict[str, Any] = {"blocks": count, "view_mb": round(_rss_mb() - base, 1)}
        start = time.perf_counter()
        timeline.show(view)
        await pilot.pause()
        result["first_show_ms"] = round((time.perf_counter() - start) * 1000, 1)
        for name, steps in _work(timeline, view).items():
            times = []
            for step in steps:
                start = time.perf_counter()
                step()
                await pilot.pause()
                times.append((time.perf_counter() - start) * 1000)
            result[name] = round(statistics.median(times), 2)
        for width in (150, 90, COLUMNS):
            start = time.perf_counter()
            await pilot.resize_terminal(width, ROWS)
            await pilot.pause()
            result["resize_ms"] = round((time.perf_counter() - start) * 1000, 1)
        result["timeline_mb"] = round(_rss_mb() - base - result["view_mb"], 1)
        result["rss_mb"] = round(_rss_mb(), 1)
    return result


def _work(timeline: Timeline, view: TimelineView) -> dict[str, list[Callable[[], object]]]:
    """Return the things to time: appending, turning pages, going far."""

    def appends() -> Iterator[Callable[[], object]]:
        blocks = view.blocks
        for number in range(30):
            blocks = (*blocks, timelines.message(100_000 + number, "one more"))
            newer = timelines.view(*blocks, total_messages=len(blocks), total_events=1)
            yield lambda newer=newer: timeline.show(newer)  # type: ignore[misc]  # bound now

    return {
        "append_ms": list(appends()),
        "page_up_ms": [timeline.action_page_up] * 40,
        "page_down_ms": [timeline.action_page_down] * 30,
        "go_far_ms": [timeline.action_first, timeline.action_end] * 5,
    }


def _rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def main() -> None:
    """Run everything, or one child."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--child", nargs=3, metavar=("KIND", "SECONDS", "REPORT"))
    parser.add_argument("--room", type=int)
    arguments = parser.parse_args()
    if arguments.child:
        kind, seconds, report = arguments.child
        StreamApp(kind, float(seconds), Path(report)).run()
        return
    if arguments.room:
        print(json.dumps(asyncio.run(measure_room(arguments.room))))
        return
    report = Path(f"/tmp/timeline_bench.{os.getpid()}.json")
    streams = {
        kind: measure_stream(kind, arguments.seconds, report) for kind in ("timeline", "markdown")
    }
    report.unlink()
    rooms = [
        json.loads(subprocess.check_output([sys.executable, __file__, "--room", str(count)]))
        for count in (100, 10_000)
    ]
    print(json.dumps({"stream": streams, "rooms": rooms}, indent=2))


if __name__ == "__main__":
    main()
