"""A program in a pseudo-terminal that is only watched: when which bytes came, and how many.

A thread reads all the time, so that the program never waits for its terminal. What it shows is
not interpreted; letters that occur nowhere else tell when something was drawn.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

COLUMNS, ROWS = 200, 50
END_S = 5.0


class Window:
    """One program; made by `in_terminal`."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, letters: str) -> None:
        self.process = process
        self.begun = time.monotonic()
        self.total = 0
        """Bytes that it wrote."""
        self.seen: dict[str, float] = {}
        """Of the letters: when each was first written."""
        self.frames = 0
        """Pieces that it wrote at once, as far as they can be told apart."""
        self._waiting = {letter: letter.encode() for letter in letters}
        self._master = master
        self._changed = threading.Condition()
        self._is_over = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def press(self, keys: str) -> float:
        """Type, and return when."""
        os.write(self._master, keys.encode())
        return time.monotonic()

    def wait_for(self, letter: str, within_s: float) -> float:
        """When the letter was first written. Raises: TimeoutError, RuntimeError."""
        with self._changed:
            self._changed.wait_for(lambda: letter in self.seen or self._is_over, within_s)
        if letter in self.seen:
            return self.seen[letter]
        if self._is_over:
            raise RuntimeError("the window ended")
        raise TimeoutError(f"“{letter}” was not drawn within {within_s:g} s")

    def watch_for(self, *letters: str) -> None:
        """Look for these from now on."""
        with self._changed:
            for letter in letters:
                self.seen.pop(letter, None)
                self._waiting[letter] = letter.encode()

    def _read(self) -> None:
        tail = b""
        longest = 1
        while True:
            try:
                data = os.read(self._master, 65_536) if self._is_readable() else None
            except OSError:
                data = b""
            if data is None:
                continue
            now = time.monotonic()
            with self._changed:
                self.total += len(data)
                self.frames += data.count(b"\x1b[?2026l")
                longest = max([longest, *map(len, self._waiting.values())])
                self._note(tail + data, now)
                self._is_over = not data
                self._changed.notify_all()
            if not data:
                return
            tail = (tail + data)[-longest:]

    def _is_readable(self) -> bool:
        return (
            bool(select.select([self._master], [], [], 0.5)[0]) or self.process.poll() is not None
        )

    def _note(self, data: bytes, now: float) -> None:
        for letter in [letter for letter, code in self._waiting.items() if code in data]:
            self.seen[letter] = now
            del self._waiting[letter]

    def wait_end(self, within_s: float) -> None:
        """Wait until the program has ended by itself. Raises: TimeoutExpired."""
        self.process.wait(within_s)

    def close(self) -> None:
        """End the program."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(END_S)
        self._thread.join(END_S)
        os.close(self._master)


@contextmanager
def in_terminal(
    argv: Sequence[str], letters: str = "", env: dict[str, str] | None = None
) -> Iterator[Window]:
    """Run a program in a terminal of 200 by 50."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(env or {})}
    for name in ("SSH_CONNECTION", "TMUX", "NO_COLOR"):
        environment.pop(name, None)
    process = subprocess.Popen(
        argv, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
    )
    os.close(slave)
    window = Window(process, master, letters)
    try:
        yield window
    finally:
        window.close()
