"""`groupx redact --purge` while it runs: at which stage it is, and what is so when nobody waits.

Invariant: what is said is what the server told; it goes on whoever waits for it. The request is
made in a thread of its own, so that Ctrl+C and the stages are heard at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from groupx_shared.errors import GroupXError
from groupx_shared.purgewords import STAGE_WORDS
from groupx_tui.cli import diagnostics
from groupx_tui.cli.api import Json
from groupx_tui.cli.clock import Clock
from groupx_tui.cli.diagnostics import CommandError, ExitCode

LOOK_S: Final = 0.25
"""Between two looks at how it stands; a purge that is quicker tells only its end."""
GOES_ON: Final = (
    "The text is removed. Getting its bytes out of the files goes on in the server (now: {}). The "
    "same command again waits for its end."
)
UNKNOWN: Final = (
    "Nobody knows yet whether the text is removed; the server goes on with what it was asked. The "
    "same command again tells."
)
ENDED: Final = "It has ended meanwhile; the same command again tells how."

Look = Callable[[], Json | None]
"""How the purge stands now (a `PurgeInfo`); None when the server knows nothing of it."""


class _Work:
    """The request, made beside those who look."""

    def __init__(self, redact: Callable[[], Json]) -> None:
        self._redact = redact
        self.ended = threading.Event()
        self.reply: Json | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.reply = self._redact()
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self.error = error
        finally:
            self.ended.set()


class Purging:
    """Waits for a removal with its purge and tells its stages: in one line that changes on a
    terminal, else (`is_plain`, or a pipe) one line for each stage."""

    def __init__(
        self, redact: Callable[[], Json], look: Look, *, is_plain: bool, clock: Clock | None = None
    ) -> None:
        self._work = _Work(redact)
        self._look = look
        self._clock = clock or Clock()
        self._is_plain = is_plain or not diagnostics.is_terminal()
        self._told = ""
        self._began = self._clock.now()

    def wait(self) -> Json:
        """Return the server's reply. Raises: what the request raises; CommandError when the person
        does not wait any longer."""
        thread = threading.Thread(target=self._work.run, name="groupx-redact", daemon=True)
        thread.start()
        try:
            while not self._work.ended.wait(LOOK_S):
                self._tell(self._seen())
        except KeyboardInterrupt:
            self._clear()
            raise self._left() from None
        self._clear()
        if self._work.error is not None:
            raise self._work.error
        if self._work.reply is None:
            raise AssertionError("a request ends with a reply or an error")
        return self._work.reply

    def _seen(self) -> Json | None:
        try:
            return self._look()
        except GroupXError:
            return None  # the request itself says what is wrong

    def _tell(self, info: Json | None) -> None:
        words = STAGE_WORDS.get(str(info.get("stage"))) if info else None
        if info is None or words is None:
            return
        if not self._is_plain:
            steps = f" · {info['steps']:,} steps" if info.get("steps") else ""
            diagnostics.progress(f"{words}{steps} · {self._clock.now() - self._began:.0f} s")
        elif words != self._told:
            diagnostics.say(f"{words} …")
        self._told = words

    def _clear(self) -> None:
        if self._told and not self._is_plain:
            diagnostics.progress("")

    def _left(self) -> CommandError:
        info = self._seen() or {}
        words = STAGE_WORDS.get(str(info.get("stage")), "")
        if info.get("endedAt"):
            return CommandError(ENDED, ExitCode.STILL_RUNNING)
        if not info.get("removed"):
            return CommandError(UNKNOWN, ExitCode.UNCERTAIN)
        now = words.partition("; ")[2] or words
        return CommandError(GOES_ON.format(now), ExitCode.STILL_RUNNING)
