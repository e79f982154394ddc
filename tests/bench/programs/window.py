"""Windows that `groups.window` and `groups.starting` compare with ours, each a process of its own.

`bare`: a Textual app with one line. `markdown DELTAS SECONDS REPORT`, or `timeline`: an answer in
so many deltas of ten characters into Textual's Markdown stream, or into our timeline; the report
says what it cost and when each mark was handed over. `length CHARS DELTAS`: prints what a delta
costs when the answer is so long. `room COUNT`: our timeline with so many
messages, without a terminal; prints what working in it costs.
"""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from textual.app import App, ComposeResult
from textual.widgets import Input, Markdown, Static

from bench.ptys import COLUMNS, ROWS
from groupx_tui.state.model import TimelineView
from groupx_tui.state.streamtext import StreamText
from groupx_tui.widgets.timeline.pacing import FramePacer
from groupx_tui.widgets.timeline.widget import Timeline
from support import timelines

DELTA_CHARS, MARK_EVERY = 10, 100
KEYS = [chr(0x410 + n) for n in range(40)]
MARKS = [chr(0x561 + n) for n in range(20)]
"""Letters that occur nowhere else: the output shows when a key, or a delta, was drawn."""
FPS = 30


def answer(chars: int) -> str:
    """A long answer in Markdown."""
    text, number = "", 0
    while len(text) < chars:
        number += 1
        text += f"## Part {number}\n\n{timelines.ANSWER}\n{'Plain words follow here. ' * 12}\n\n"
    return text[:chars]


def pieces(count: int) -> list[str]:
    """Return the answer as deltas; every hundredth carries a mark."""
    text = answer(count * DELTA_CHARS)
    found = [text[n * DELTA_CHARS : (n + 1) * DELTA_CHARS] for n in range(count)]
    for at, mark in zip(range(50, count, MARK_EVERY), MARKS, strict=False):
        found[at] += mark
    return found


class BareApp(App[None]):
    """The least that Textual can draw."""

    def compose(self) -> ComposeResult:
        yield Static("ready")


class StreamApp(App[None]):
    """Streams the answer into one of the two widgets and notes when each mark was handed over."""

    def __init__(self, kind: str, deltas: int, seconds: float, report: Path) -> None:
        super().__init__()
        self._kind, self._deltas, self._seconds, self._report = kind, deltas, seconds, report

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
        await asyncio.sleep(min(1.0, self._seconds))
        before = _cpu_s()
        published: dict[str, float] = {}
        feed = self._feed_timeline() if self._kind == "timeline" else self._feed_markdown()
        start = time.monotonic()
        for number, piece in enumerate(pieces(self._deltas)):
            wait = start + number * self._seconds / self._deltas - time.monotonic()
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
        found = {"cpu_s": _cpu_s() - before, "wall_s": took, "published": published}
        self._report.write_text(json.dumps(found))
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
            fps=FPS,
        )

        def feed(piece: str) -> None:
            nonlocal text
            text = text.append(piece)
            pacer.request()

        return feed

    def _feed_markdown(self) -> Callable[[str], Any]:
        stream = Markdown.get_stream(self.query_one(Markdown))
        return lambda piece: stream.write(piece)


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class RoomApp(App[None]):
    """Only our timeline."""

    def compose(self) -> ComposeResult:
        yield Timeline(id="timeline")


async def measure_room(count: int) -> dict[str, Any]:
    """Show a room of `count` messages headless and work in it."""
    app = RoomApp()
    async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
        timeline = app.query_one(Timeline)
        view = timelines.long_room(count)
        timeline.show(view)
        await pilot.pause()
        result: dict[str, Any] = {}
        for name, steps in _work(timeline, view).items():
            taken = []
            for step in steps:
                start = time.perf_counter()
                step()
                await pilot.pause()
                taken.append((time.perf_counter() - start) * 1000)
            result[name] = statistics.median(taken)
        result["rss_mb"] = _rss_mb()
    return result


def _work(timeline: Timeline, view: TimelineView) -> dict[str, list[Callable[[], object]]]:
    """Return the things to time: appending, turning pages."""

    def appends() -> Iterator[Callable[[], object]]:
        blocks = view.blocks
        for number in range(30):
            blocks = (*blocks, timelines.message(100_000 + number, "one more"))
            newer = timelines.view(*blocks, total_messages=len(blocks), total_events=1)
            yield lambda newer=newer: timeline.show(newer)  # type: ignore[misc]  # bound now

    return {
        "append_ms": list(appends()),
        "page_up_ms": [timeline.action_page_up] * 40,
    }


async def measure_length(start_chars: int, deltas: int) -> float:
    """CPU in µs that a delta costs while the answer is `start_chars` long: the text grows, every
    tenth is drawn."""
    app = RoomApp()
    async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
        timeline = app.query_one(Timeline)
        text = StreamText()
        for at in range(0, start_chars, 4_000):
            text = text.append(answer(4_000) if at % 8_000 else "More words. " * 330 + "\n\n")
        for number in range(-20, deltas):
            if number == 0:
                before = _cpu_s()
            text = text.append("a few more words, ")
            if number % 10 == 0:
                shown = timelines.turn(2, text, "running")
                timeline.show(timelines.view(timelines.message(1), shown))
                await pilot.pause()
        return (_cpu_s() - before) / deltas * 1e6


def _rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def main() -> None:
    """Be one of the windows."""
    kind, *rest = sys.argv[1:]
    if kind == "bare":
        BareApp().run()
    elif kind == "room":
        print(json.dumps(asyncio.run(measure_room(int(rest[0])))))
    elif kind == "length":
        print(json.dumps(asyncio.run(measure_length(int(rest[0]), int(rest[1])))))
    else:
        StreamApp(kind, int(rest[0]), float(rest[1]), Path(rest[2])).run()


if __name__ == "__main__":
    main()
