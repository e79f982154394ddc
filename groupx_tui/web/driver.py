"""The window's side of the pipe to the web view: Textual's web driver, and an end that is sure.

Invariant: when the pipe ends, in whatever way, this process ends within `STUCK_S`.
Counterpart: `child` at the other end of the pipe.
"""

from __future__ import annotations

import asyncio
import os
import threading
from typing import Any, Final

from textual import messages
from textual.app import App
from textual.drivers.web_driver import WebDriver
from textual.geometry import Size

from groupx_shared.text import safe_line
from groupx_tui.steadycells import steady
from groupx_tui.terminal import MAX_TITLE_CHARS, WindowDriver, teach_keys

STUCK_S: Final = 5.0
"""An exit takes well under a second; after this long the window is taken for stuck."""


class BrowserDriver(WebDriver, WindowDriver):
    """Textual's web driver, with a title, for a pipe that may end at any time."""

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._is_broken = False

    def start_application_mode(self) -> None:
        """Begin to draw into the pipe."""
        teach_keys()
        # Textual's own would say first that nobody looks; keys that come before the browser says
        # otherwise would be lost. A page that has just been opened is looked at.
        app: Any = self._app
        app.call_later = lambda *_: True
        try:
            super().start_application_mode()
        finally:
            del app.call_later

    def run_input_thread(self) -> None:
        """Read until the pipe ends, then see to it that the program ends too."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            watch = threading.Timer(STUCK_S, os._exit, (1,))
            watch.daemon = True
            watch.start()
            end = self._app._post_message(messages.ExitApp())
            asyncio.run_coroutine_threadsafe(end, self._loop)

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Take a new size for what it is; leave all else to Textual."""
        if packet_type == "resize" and self._size == Size(*_numbers(payload)):
            return  # the browser says its size several times while it opens
        super().on_meta(packet_type, payload)

    def set_title(self, title: str) -> None:
        """Name the browser's tab."""
        self._send({"type": "title", "title": safe_line(title, MAX_TITLE_CHARS)})

    def set_progress(self, *, is_on: bool) -> None:
        """A browser has no place for it; the title tells."""

    def _send(self, meta: dict[str, object]) -> None:
        if not self._is_broken:
            try:
                self.write_meta(meta)
            except OSError:
                self._is_broken = True

    def write(self, data: str) -> None:
        """Write, unless nobody takes it any more."""
        if not self._is_broken:
            try:
                super().write(steady(data))
            except OSError:
                self._is_broken = True


def _numbers(payload: dict[str, object]) -> tuple[int, int]:
    width, height = payload.get("width"), payload.get("height")
    return (width, height) if isinstance(width, int) and isinstance(height, int) else (0, 0)
