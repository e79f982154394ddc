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
from dataclasses import dataclass

COLUMNS, ROWS = 200, 50
END_S = 5.0
LINK_PIECE = 4_096
"""Bytes read at once over a link: about what a pseudo-terminal holds."""


@dataclass(frozen=True, slots=True)
class Link:
    """What lies between a program's terminal and the person: as over ssh, bytes come late and not
    faster than so many a second, and the program waits when more are under way."""

    bytes_s: float
    one_way_s: float


class Window:
    """One program; made by `in_terminal`."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        master: int,
        letters: str,
        link: Link | None = None,
    ) -> None:
        self._link = link
        self._link_free_at = 0.0
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
        if self._link is not None:
            begun = time.monotonic()
            time.sleep(self._link.one_way_s)
            os.write(self._master, keys.encode())
            return begun
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
            most = 65_536 if self._link is None else LINK_PIECE
            try:
                data = os.read(self._master, most) if self._is_readable() else None
            except OSError:
                data = b""
            if data is None:
                continue
            now = self._arrival(len(data))
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

    def _arrival(self, size: int) -> float:
        """When bytes that were just read are at the person's; holds the next ones back."""
        now = time.monotonic()
        if self._link is None:
            return now
        self._link_free_at = max(now, self._link_free_at) + size / self._link.bytes_s
        time.sleep(max(0.0, self._link_free_at - now))
        return self._link_free_at + self._link.one_way_s

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
    argv: Sequence[str],
    letters: str = "",
    env: dict[str, str] | None = None,
    link: Link | None = None,
) -> Iterator[Window]:
    """Run a program in a terminal of 200 by 50."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    own = {k: v for k, v in os.environ.items() if k not in ("SSH_CONNECTION", "TMUX", "NO_COLOR")}
    environment = {**own, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(env or {})}
    process = subprocess.Popen(
        argv, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
    )
    os.close(slave)
    window = Window(process, master, letters, link)
    try:
        yield window
    finally:
        window.close()
