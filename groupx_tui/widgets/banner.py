"""What there is to say about the connection, only while there is something. Never in the way.

Invariant: what stands here is so as long as it stands here: no countdown that nobody counts, no
promise. A click does what the key does.
"""

from __future__ import annotations

import re

from textual import events
from textual.content import Content
from textual.widgets import Static

from groupx_shared.text import safe_line
from groupx_tui.state.model import ClientView

MAX_CHARS = 300
STARTING = "Starting the server …"
ELSEWHERE = "if its port is not forwarded any more, close this window and connect anew"
_ADDRESS = re.compile(r" at https?://[^\s/]+")


class Banner(Static):
    """Full width, above the composer, at most three lines; hidden while the connection is live."""

    DEFAULT_CSS = """
    Banner {
        height: auto;
        max-height: 3;
        width: 1fr;
        padding: 0 1;
        background: $panel;
        color: $text-warning;
        display: none;
    }
    """

    def __init__(self, start_key: str = "") -> None:
        """`start_key`: what people call the key that starts the server."""
        super().__init__(markup=False)
        self.sentence = ""
        self._how = f"{start_key} or /start" if start_key else "/start"
        self.is_elsewhere = False
        """The server is another machine's: it cannot be started from here."""
        self._view = ClientView(connection="live")
        self._is_starting = False

    def show(self, view: ClientView) -> None:
        """Say how the connection is."""
        self._view = view
        self._say()

    def say_starting(self, *, is_starting: bool) -> None:
        """A start of the server was asked for here, or has ended."""
        self._is_starting = is_starting
        self._say()

    def _say(self) -> None:
        is_live = self._view.connection == "live"
        starting = self._is_starting and not is_live
        how = "" if self.is_elsewhere else self._how
        sentence = STARTING if starting else connection_sentence(self._view, how)
        if sentence == self.sentence:
            return
        self.sentence = sentence
        self.display = bool(sentence)
        self.update(Content(sentence))

    async def on_click(self, event: events.Click) -> None:
        """Start the server."""
        event.stop()
        await self.run_action("app.act('server.start')")


def connection_sentence(view: ClientView, how: str = "/start") -> str:
    """What to tell about the connection; empty while all is well. `how`: what starts the server,
    empty when it is elsewhere.

    Of the detail only what happened: its advice is for the command line."""
    what = safe_line(view.connection_detail, MAX_CHARS).partition(". ")[0].rstrip(".")
    what = _ADDRESS.sub("", what)  # there is one server; where it listens helps nobody here
    match view.connection:
        case "live":
            return ""
        case "connecting":
            return "Connecting to the server …"
        case "reconnecting":
            reason = what or "The connection broke"
            tries = "Trying again every few seconds, /reconnect tries now"
            return f"{reason}. {tries}; {f'{how} starts the server' if how else ELSEWHERE}."
        case "offline":
            what = f"There is no server; {how} starts it" if how else f"No server: {ELSEWHERE}"
            return f"{what}. What you write here is kept."
        case "closed":
            return "The connection is closed."
