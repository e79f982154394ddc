"""What there is to say about the connection, only while there is something. Never in the way."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from groupx_shared.text import safe_line
from groupx_tui.state.model import ClientView

MAX_CHARS = 300


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

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.sentence = ""

    def show(self, view: ClientView) -> None:
        """Say how the connection is."""
        sentence = connection_sentence(view)
        if sentence == self.sentence:
            return
        self.sentence = sentence
        self.display = bool(sentence)
        self.update(Content(sentence))


def connection_sentence(view: ClientView) -> str:
    """What to tell about the connection; empty while all is well.

    Of the detail only what happened and the next try: its advice is for the command line."""
    detail = safe_line(view.connection_detail, MAX_CHARS)
    what = detail.partition(". ")[0].rstrip(".")
    _, mark, pause = detail.rpartition("Next try")
    again = f"{mark}{pause}" if mark else ""
    match view.connection:
        case "live":
            return ""
        case "connecting":
            return f"Connecting to the server … {detail}".strip()
        case "reconnecting":
            return f"{what or 'Reconnecting'}. {again} /start starts the server.".replace("  ", " ")
        case "offline":
            return f"There is no server; /start starts it. {again}".strip()
        case "closed":
            return f"The connection is closed. {detail}".strip()
