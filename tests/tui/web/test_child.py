"""A window process: what it sends is bounded, and it is gone when it is to be."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from groupx_tui.web.child import (
    MAX_PACKET,
    WindowFailedError,
    open_window,
    window_command,
    window_environment,
)
from support.ended import end_all
from support.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.process]


def python(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", code]


async def packets(code: str) -> list[tuple[str, bytes]]:
    async with asyncio.timeout(5), open_window(python(code), os.environ) as window:
        return [packet async for packet in window.packets()]


async def test_packets_arrive_until_the_end() -> None:
    code = "print('__GANGLION__', end='\\nD\\0\\0\\0\\2hiM\\0\\0\\0\\2{}D\\0\\0')"
    assert await packets(code) == [("D", b"hi"), ("M", b"{}")], "half a packet is none"


async def test_a_packet_without_bound_is_refused() -> None:
    size = (MAX_PACKET + 1).to_bytes(4, "big")
    code = f"import sys; sys.stdout.buffer.write(b'__GANGLION__\\nD' + {size!r})"
    with pytest.raises(WindowFailedError):
        await packets(code)


async def test_a_program_that_is_no_window_is_told_from_one() -> None:
    with pytest.raises(WindowFailedError):
        await packets("print('hello\\n' * 100)")


async def test_a_window_that_ignores_its_end_is_ended_with_all_it_started() -> None:
    code = (
        "import os, signal, subprocess, sys, time\n"
        "for number in (signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'])\n"
        "print('__GANGLION__', flush=True)\n"
        "sys.stdout.buffer.write(b'D' + child.pid.to_bytes(4, 'big')); sys.stdout.flush()\n"
        "time.sleep(600)\n"
    )
    async with asyncio.timeout(20), open_window(python(code), os.environ) as window:
        process = window._process
        assert process.stdout is not None
        await process.stdout.readline()
        grandchild = int.from_bytes((await process.stdout.readexactly(5))[1:], "big")
    assert process.returncode == -signal.SIGKILL
    await asyncio.to_thread(eventually, lambda: not _runs(grandchild))


def _runs(pid: int) -> bool:
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return found.stdout.strip() != "" and not found.stdout.startswith("Z")


async def test_the_real_window_draws_and_ends_when_its_pipe_ends(tmp_path: Path) -> None:
    """As when `groupx web` is killed: nobody asks it to end, its input just stops."""
    config = tmp_path / "groupx.json"
    config.write_text('{"agents": {}}')
    environment = window_environment(os.environ, 90, 25)
    async with (
        asyncio.timeout(30),
        open_window(window_command(str(config), ""), environment, str(tmp_path)) as window,
    ):
        drawn = b""
        async for kind, payload in window.packets():
            drawn += payload if kind == "D" else b""
            if b"essage, @agent" in drawn:  # the caret stands on the first letter
                break
        stdin = window._process.stdin
        assert stdin is not None
        stdin.close()
        await window._process.wait()
    assert window._process.returncode == 0
    end_all(tmp_path)


def test_the_window_is_not_told_about_the_terminal_of_groupx_web() -> None:
    told = window_environment({"TMUX": "x", "KITTY_WINDOW_ID": "1", "HOME": "/h"}, 90, 25)
    assert "TMUX" not in told
    assert "KITTY_WINDOW_ID" not in told
    assert (told["HOME"], told["COLUMNS"], told["ROWS"]) == ("/h", "90", "25")
