"""A real terminal for tests: one pane of a private tmux server, its bytes kept in a file."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 20.0
"""A cold start on a busy machine."""
LOOK_EVERY_S = 0.05
MODES = re.compile(rb"\x1b\[\?([\d;]+)([hl])")


class Terminal:
    """One pane."""

    def __init__(self, socket: Path, output: Path) -> None:
        self._socket = socket
        self.output = output

    def tmux(self, *words: str) -> str:
        """Run a tmux command and return what it prints."""
        done = subprocess.run(
            ["tmux", "-S", str(self._socket), *words],
            capture_output=True, text=True, timeout=PATIENCE_S, check=True,
        )  # fmt: skip
        return done.stdout

    def keys(self, *keys: str) -> None:
        """Press keys by their tmux names."""
        self.tmux("send-keys", "-t", "0", *keys)

    def type(self, text: str) -> None:
        """Type a text in one burst."""
        self.tmux("send-keys", "-t", "0", "-l", text)

    def screen(self) -> str:
        """What is on the screen."""
        return self.tmux("capture-pane", "-p", "-t", "0")

    def fact(self, name: str) -> str:
        """A tmux variable of the pane, like `alternate_on`."""
        return self.tmux("display-message", "-p", "-t", "0", f"#{{{name}}}").strip()

    def wait(self, is_so: Callable[[], bool], what: str) -> None:
        """Wait until it is so; fails with the screen when it does not become so."""
        deadline, pause = time.monotonic() + PATIENCE_S, threading.Event()
        while not is_so():
            if time.monotonic() > deadline:
                raise AssertionError(f"never: {what}\n{self.screen()}")
            pause.wait(LOOK_EVERY_S)

    def wait_for(self, text: str) -> None:
        """Wait until `text` is on the screen."""
        self.wait(lambda: text in self.screen(), f"“{text}” on the screen")

    def modes_left_on(self) -> set[int]:
        """Terminal modes that were switched on and not off again, by what was written."""
        state: dict[int, bool] = {}
        for match in MODES.finditer(self.output.read_bytes()):
            for number in match[1].split(b";"):
                state[int(number)] = match[2] == b"h"
        return {number for number, is_on in state.items() if is_on}


@contextmanager
def open_terminal(
    folder: Path, *, columns: int = 80, rows: int = 24, **environ: str
) -> Iterator[Terminal]:
    """A terminal with a shell whose prompt is `$ `."""
    terminal = Terminal(folder / "tmux.sock", folder / "output")
    settings = {"PS1": "$ ", "PATH": os.environ["PATH"], "TERM": "tmux-256color", **environ}
    shell = ["env", "-i", *(f"{key}={value}" for key, value in settings.items()), "sh"]
    terminal.tmux(
        "-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
        shlex.join(shell),
    )  # fmt: skip
    try:
        terminal.tmux("pipe-pane", "-t", "0", f"cat > {shlex.quote(str(terminal.output))}")
        terminal.wait_for("$")
        yield terminal
    finally:
        terminal.tmux("kill-server")


def python_line(script: Path, *words: str) -> str:
    """A shell line that runs `script` with this Python and then says `ended`."""
    return shlex.join([sys.executable, str(script), *words]) + "; echo ended=$?"
