"""Own input and output over real pipes and files."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from groupx_server.builtin_agent.stdio import LineWriter, read_chunks
from support.acp_dialogue import WAIT_S


async def _read_all(fd: int) -> bytes:
    async with asyncio.timeout(WAIT_S):
        return b"".join([chunk async for chunk in read_chunks(fd)])


async def test_a_pipe_is_read_to_its_end() -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, b"a\nb")
    os.close(write_end)
    assert await _read_all(read_end) == b"a\nb"
    os.close(read_end)


async def test_a_file_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"x" * 200_000)
    with (tmp_path / "in").open("rb") as file:
        assert await _read_all(file.fileno()) == b"x" * 200_000


async def test_a_closed_descriptor_is_an_end() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    os.close(write_end)
    assert await _read_all(read_end) == b""


class Watched(LineWriter):
    def __init__(self) -> None:
        super().__init__()
        self.paused = asyncio.Event()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.paused.set()


async def test_lines_arrive_in_order_and_a_slow_reader_makes_the_writer_wait() -> None:
    read_end, write_end = os.pipe()
    writer = await Watched.open(write_end)
    written = 0

    async def write_all() -> None:
        nonlocal written
        for number in range(400):
            await writer.write(f"{number:04}".encode() + b"x" * 1000)
            written += 1
        await writer.aclose()

    received = b""
    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(write_all())
        await writer.paused.wait()
        held = written
        async for chunk in read_chunks(read_end):
            received += chunk
    os.close(read_end)
    assert held < 400
    assert received == b"".join(f"{n:04}".encode() + b"x" * 1000 for n in range(400))


async def test_a_reader_that_is_gone_is_a_connection_error() -> None:
    read_end, write_end = os.pipe()
    writer = await LineWriter.open(write_end)
    os.close(read_end)

    async def write_on() -> None:
        while True:
            await writer.write(b"x\n")
            await asyncio.sleep(0)

    with pytest.raises(ConnectionError, match="closed the agent's output"):
        async with asyncio.timeout(WAIT_S):
            await write_on()
    await writer.aclose()


async def test_a_file_is_written_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with path.open("wb") as file:
        writer = await LineWriter.open(os.dup(file.fileno()))
        await writer.write(b"one\n")
        assert path.read_bytes() == b"one\n"
        await writer.aclose()


@pytest.mark.process
def test_what_libraries_print_does_not_reach_the_protocol() -> None:
    code = (
        "import os; from groupx_server.builtin_agent.stdio import take_stdout; "
        "own = take_stdout(); print('noise', flush=True); os.write(own, b'line')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=30)
    assert (done.stdout, done.stderr) == (b"line", b"noise\n")
