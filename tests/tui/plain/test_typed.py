"""Lines come as they are typed, bounded, and the end is seen."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Iterator

import pytest

from groupx_tui.plain import typed
from groupx_tui.plain.typed import typed_lines


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for descriptor in (reading, writing):
        try:
            os.close(descriptor)
        except OSError:
            continue  # closed by the test


async def collect(descriptor: int) -> list[str]:
    async with asyncio.timeout(5):
        return [line async for line in typed_lines(descriptor)]


async def test_lines_are_split_decoded_and_the_last_one_needs_no_end(
    pipe: tuple[int, int],
) -> None:
    os.write(pipe[1], "one\n汉字\r\n\n".encode() + b"\xff\nlast")
    os.close(pipe[1])
    assert await collect(pipe[0]) == ["one", "汉字", "", "\ufffd", "last"]


async def test_a_line_without_end_comes_in_pieces(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typed, "MAX_LINE_BYTES", 1_000)
    monkeypatch.setattr(typed, "PIECE_BYTES", 500)
    os.write(pipe[1], b"x" * 2_500)
    os.close(pipe[1])
    assert [len(line) for line in await collect(pipe[0])] == [1_000, 1_000, 500]


async def test_an_input_that_cannot_be_read_has_ended(pipe: tuple[int, int]) -> None:
    os.close(pipe[0])
    assert await collect(pipe[0]) == []


async def test_no_more_is_read_than_somebody_takes(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"line\n" * 1_000)
    async with asyncio.timeout(5):
        lines = typed_lines(pipe[0])
        assert [await anext(lines) for _ in range(300)] == ["line"] * 300


async def test_the_thread_ends_when_nobody_takes_more(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"line\n" * 1_000)
    before = set(threading.enumerate())
    lines = typed_lines(pipe[0])
    assert isinstance(lines, AsyncGenerator)
    async with asyncio.timeout(5):
        assert await anext(lines) == "line"
        (thread,) = set(threading.enumerate()) - before
        await lines.aclose()
        await asyncio.to_thread(thread.join, 5)
    assert not thread.is_alive()
