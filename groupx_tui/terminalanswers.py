"""What the terminal says of itself when it is asked, kept out of what the person types.

Asked only when a picture is to be shown. One question: whether it takes kitty's pictures (not in
tmux or screen, where that would be taken for a title), then what it is (DA1), which every terminal
answers; so the second answer says that there is no first. Invariants: an answer, whenever it
comes, is never a key; what only may be the beginning of one is held back for a moment at most.
Thread-safe: the thread that reads input feeds, the loop asks.
"""

from __future__ import annotations

import asyncio
import re
import threading
from typing import Final, Literal

Shows = Literal["kitty", "sixel", "text"]
ASK_S: Final = 1.5
"""A terminal answers at once; a line to a far machine takes some time."""
KITTY_QUESTION: Final = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
DEVICE_QUESTION: Final = "\x1b[c"
_HAS_SIXEL: Final = "4"
_ANSWER: Final = re.compile(r"\x1b\[\?[\d;]*c|\x1b_G[^\x1b]{0,200}\x1b\\")
_BEGINNING: Final = re.compile(r"\x1b(?:\[(?:\?[\d;]{0,80})?|_(?:G[^\x1b]{0,200}\x1b?)?)?\Z")


class TerminalAnswers:
    """Filters input for one terminal."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = ""
        self._is_asked = False
        self._has_kitty = False
        self._shows: Shows | None = None
        self._answered: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def has_answer(self) -> bool:
        """Whether the terminal has said what it is."""
        return self._shows is not None

    def feed(self, data: str) -> str:
        """Return what is typed of `data`; answers are taken out of it."""
        with self._lock:
            data, self._held = self._held + data, ""
            if not self._is_asked or "\x1b" not in data:
                return data
            data = _ANSWER.sub(self._take, data)
            if self._shows is None and (found := _BEGINNING.search(data)):
                data, self._held = data[: found.start()], found[0]
            return data

    def release(self) -> str:
        """Return what was held back: nothing followed it."""
        with self._lock:
            held, self._held = self._held, ""
            return held

    def question(self, *, is_multiplexed: bool) -> str:
        """Return what to write to the terminal; answers are looked for from now on."""
        with self._lock:
            self._is_asked = True
        return DEVICE_QUESTION if is_multiplexed else KITTY_QUESTION + DEVICE_QUESTION

    async def shows(self) -> Shows:
        """Return what the terminal said, when it has; `text` when it says nothing in time."""
        with self._lock:
            if self._shows is not None:
                return self._shows
            self._loop, self._answered = asyncio.get_running_loop(), asyncio.Event()
            answered = self._answered
        try:
            await asyncio.wait_for(answered.wait(), ASK_S)
        except TimeoutError:
            return "text"
        return self._shows or "text"

    def _take(self, found: re.Match[str]) -> str:
        answer = found[0]
        if answer.startswith("\x1b_"):
            self._has_kitty = self._has_kitty or answer == "\x1b_Gi=31;OK\x1b\\"
        else:
            is_sixel = _HAS_SIXEL in answer[3:-1].split(";")[1:]
            self._shows = "kitty" if self._has_kitty else "sixel" if is_sixel else "text"
            if self._loop is not None and self._answered is not None:
                self._loop.call_soon_threadsafe(self._answered.set)
        return ""
