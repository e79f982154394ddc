"""The terminal as we found it: restored on every exit, with its title.

`RoomDriver` is Textual's driver plus the title and what that driver forgets. `leave_on_signals`
ends the app on SIGTERM and SIGHUP, and should the loop be stuck (a terminal that takes no more
bytes), ends the process anyway after restoring what can be restored.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import signal
import sys
import termios
import threading
from abc import abstractmethod
from codecs import getincrementaldecoder
from collections.abc import Callable
from enum import StrEnum
from itertools import chain
from typing import Any, Final

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver

from groupx_shared.text import safe_line
from groupx_tui.attention import PROGRESS_OFF, PROGRESS_ON, is_multiplexed
from groupx_tui.picture import USUAL_CELL, cell_pixels
from groupx_tui.steadycells import steady
from groupx_tui.terminalanswers import Shows, TerminalAnswers
from groupx_tui.terminalreset import POP_TITLE, reset_sequence

SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)
STUCK_S: Final = 5.0
"""An exit takes well under a second; after this long the loop is taken for stuck."""
PUSH_TITLE: Final = "\x1b[22;0t"
ERASE_SCREEN: Final = "\x1b[2J"
"""Before the alternate screen is left: tmux moves full lines of a window that was made wider into
the history of the shell."""
MOUSE_PIXELS_OFF: Final = "\x1b[?1016l"
"""Textual turns this on where the terminal has it, and leaves it on."""
MAX_TITLE_CHARS: Final = 80
READ_S: Final = 0.1
READ_BYTES: Final = 4096
NEVER_ASKED: Final = frozenset({"dumb", "linux"})
"""Terminals that show no pictures and might write the question."""


class MoreKeys(StrEnum):
    """Keys that Textual's table lacks."""

    ALT_ENTER = "alt+enter"


def teach_keys() -> None:
    """Let alt+enter arrive as itself: unknown to Textual, it would be taken for enter, which
    sends. Terminals write it as escape and return (or newline)."""
    table: dict[str, Any] = ANSI_SEQUENCES_KEYS  # type: ignore[assignment] # a dict, typed narrowly
    for sequence in ("\x1b\r", "\x1b\n"):
        table.setdefault(sequence, (MoreKeys.ALT_ENTER,))


class WindowDriver(Driver):
    """A driver that can name the window: a terminal's, or a browser's."""

    @abstractmethod
    def set_title(self, title: str) -> None:
        """Name the window; kept for the return from a suspension."""

    @abstractmethod
    def set_progress(self, *, is_on: bool) -> None:
        """Show, or stop showing, that something works."""

    def set_mouse(self, *, is_on: bool) -> None:
        """Take the mouse, or leave it to the terminal; kept for the return from a suspension."""
        if is_on != self._mouse:
            self._mouse = True  # else neither does anything
            if is_on:
                self._enable_mouse_support()
            else:
                self._disable_mouse_support()
            self._mouse = is_on

    async def shows_pictures(self) -> Shows:
        """How it shows pictures."""
        return "text"

    def cell_pixels(self) -> tuple[int, int]:
        """How many pixels a cell is wide and high, as far as it tells."""
        return USUAL_CELL

    @abstractmethod
    def _enable_mouse_support(self) -> None: ...

    @abstractmethod
    def _disable_mouse_support(self) -> None: ...


class RoomDriver(LinuxDriver, WindowDriver):
    """Textual's driver, with the window's title kept and given back."""

    title = ""
    has_progress = False

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._answers = TerminalAnswers()

    def start_application_mode(self) -> None:
        """Take the terminal."""
        teach_keys()
        super().start_application_mode()  # type: ignore[no-untyped-call] # Textual's own
        if self._writer_thread is not None:
            self.write(PUSH_TITLE)
            self.set_title(self.title)
            self._write_progress()

    def stop_application_mode(self) -> None:
        """Give the terminal back as it was."""
        if self._writer_thread is not None:
            progress = PROGRESS_OFF if self.has_progress else ""
            self.write(ERASE_SCREEN + MOUSE_PIXELS_OFF + POP_TITLE + progress)
        super().stop_application_mode()

    def set_title(self, title: str) -> None:
        """Name the terminal window; kept for the return from a suspension."""
        self.title = safe_line(title, MAX_TITLE_CHARS)
        if self.title:
            self.write(f"\x1b]0;{self.title}\x07")

    def set_progress(self, *, is_on: bool) -> None:
        """Show, or stop showing, that something works; kept for the return from a suspension."""
        if is_on != self.has_progress:
            self.has_progress = is_on
            self.write(PROGRESS_ON if is_on else PROGRESS_OFF)

    async def shows_pictures(self) -> Shows:
        """Ask the terminal, once."""
        if os.environ.get("TERM") in NEVER_ASKED:
            return "text"
        if not self._answers.has_answer:
            self.write(self._answers.question(is_multiplexed=is_multiplexed(os.environ)))
        return await self._answers.shows()

    def cell_pixels(self) -> tuple[int, int]:
        """How many pixels a cell is wide and high, as far as it tells."""
        return cell_pixels(self.fileno)

    def run_input_thread(self) -> None:
        """Read what is typed, as Textual's own does, less what the terminal answers to us."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")().decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if not selector.select(READ_S):
                    typed = self._answers.release()
                elif data := os.read(self.fileno, READ_BYTES):
                    typed = self._answers.feed(decode(data))
                else:
                    typed = ""
                    self.exit_event.wait(READ_S)  # nothing comes any more
                events = chain(parser.feed(typed) if typed else (), parser.tick())
                for event in events:
                    self.process_message(event)

    def _write_progress(self) -> None:
        if self.has_progress:
            self.write(PROGRESS_ON)

    def write(self, data: str) -> None:
        """Write, unless nobody takes it any more: then waiting for room would never end."""
        if self._writer_thread is not None and self._writer_thread.is_alive():
            super().write(steady(data))


def leave_on_signals(leave: Callable[[int], object], attributes: list[Any] | None) -> None:
    """Call `leave(128 + number)` on the running loop when the process is asked to end;
    `attributes` are the terminal's from before the app took it."""
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, _leave, leave, 128 + number, attributes)


def _leave(leave: Callable[[int], object], code: int, attributes: list[Any] | None) -> None:
    watch = threading.Timer(STUCK_S, _force_exit, (code, attributes))
    watch.daemon = True
    watch.start()
    leave(code)


def terminal_attributes() -> list[Any] | None:
    """How the terminal is set now; None when standard input is none."""
    try:
        return termios.tcgetattr(sys.__stdin__.fileno()) if sys.__stdin__ else None
    except (termios.error, ValueError, OSError):
        return None  # not a terminal: nothing to restore


def _force_exit(code: int, attributes: list[Any] | None) -> None:
    try:
        if attributes is not None and sys.__stdin__ is not None:
            termios.tcsetattr(sys.__stdin__.fileno(), termios.TCSANOW, attributes)
        os.set_blocking(2, False)
        os.write(2, reset_sequence(os.environ).encode())
    except (termios.error, OSError, ValueError):
        pass  # the terminal is gone
    os._exit(code)
