"""One window process of the web view: started, fed, read, and ended for certain.

Speaks the packets of Textual's web driver: a letter (`D` data, `M` JSON), four bytes of length, the
payload. Invariants: what the process sends is bounded; nothing outlives `stop`, which ends the
whole process group. Counterpart: `driver`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from groupx_shared.errors import GroupXError
from groupx_shared.text import safe_text
from groupx_shared.version import VERSION

READY_LINE: Final = b"__GANGLION__\n"
MAX_PRELUDE_LINES: Final = 10
MAX_PACKET: Final = 16 * 1024 * 1024
"""A whole screen of 400x100 in true colour is less than 2 MB."""
KEPT_WORDS: Final = 4096
"""Of what a window wrote to stderr, for who looks why it failed."""
STOP_S: Final = 3.0


class WindowFailedError(GroupXError):
    """The window process did not start, or broke its protocol."""


class WindowProcess:
    """One running window."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._words = b""

    async def packets(self) -> AsyncIterator[tuple[str, bytes]]:
        """Yield what the window sends, until it ends. Raises: WindowFailedError."""
        assert self._process.stdout is not None
        stdout = self._process.stdout
        try:
            await self._wait_ready(stdout)
            while True:
                head = await stdout.readexactly(5)
                size = int.from_bytes(head[1:], "big")
                if size > MAX_PACKET:
                    raise WindowFailedError(f"The window sent a packet of {size} bytes.")
                yield chr(head[0]), await stdout.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionResetError):
            return

    async def _wait_ready(self, stdout: asyncio.StreamReader) -> None:
        for _ in range(MAX_PRELUDE_LINES):
            line = await stdout.readline()
            if line == READY_LINE:
                return
            if not line:
                break
        raise WindowFailedError(f"The window did not open. {self.words()}".strip())

    async def keep_words(self) -> None:
        """Read what it writes to stderr, so that it never waits; the end is kept."""
        assert self._process.stderr is not None
        while data := await self._process.stderr.read(KEPT_WORDS):
            self._words = (self._words + data)[-KEPT_WORDS:]

    def words(self) -> str:
        """The end of what it wrote to stderr, cleaned."""
        return safe_text(self._words.decode("utf-8", "replace")).strip()

    async def type(self, data: str) -> None:
        """Hand over what was typed or pasted."""
        await self._send(b"D", data.encode("utf-8", "replace"))

    async def tell(self, meta: Mapping[str, Any]) -> None:
        """Hand over a resize, a focus, an end."""
        await self._send(b"M", json.dumps(meta).encode())

    async def _send(self, kind: bytes, payload: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with suppress(ConnectionError, RuntimeError):  # it ended: `packets` tells
            stdin.write(kind + len(payload).to_bytes(4, "big") + payload)
            await stdin.drain()

    async def stop(self) -> None:
        """End it: ask, end its input, then end its group by force."""
        if self._process.returncode is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_S):
                    await self.tell({"type": "quit"})
                    await self._process.wait()
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_S):
                    await self._process.wait()
                    break


def window_command(config: str, room: str) -> list[str]:
    """The command line of a window; empty words stand for the defaults. `-P` keeps the current
    folder off the module path."""
    return [sys.executable, "-P", "-m", "groupx_tui.web.window", config, room]


def window_environment(environ: Mapping[str, str], width: int, height: int) -> dict[str, str]:
    """What the window is told of the terminal in the browser; this one here does not count."""
    gone = ("TMUX", "STY", "KITTY_WINDOW_ID", "WT_SESSION", "VTE_VERSION", "ConEmuANSI")
    kept = {key: value for key, value in environ.items() if key not in gone}
    return kept | {
        "TERM": "xterm-256color",
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "TERM_PROGRAM": "groupx-web",
        "TERM_PROGRAM_VERSION": VERSION,
        "COLUMNS": str(width),
        "ROWS": str(height),
    }


@asynccontextmanager
async def open_window(
    command: Sequence[str], environment: Mapping[str, str], folder: str | None = None
) -> AsyncIterator[WindowProcess]:
    """A window process in a group of its own, gone at the end. Raises: WindowFailedError."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
        )
    except OSError as error:
        raise WindowFailedError(f"The window cannot be started: {error.strerror}.") from error
    window = WindowProcess(process)
    try:
        yield window
    finally:
        await window.stop()
