"""One calm line about the connection, only while there is something to say. Never in the way."""

from __future__ import annotations

from textual.content import Content

from groupx_tui.state.model import ClientView
from groupx_tui.widgets.bar import Bar


class Banner(Bar):
    """Full width, above the composer; hidden while the connection is live."""

    DEFAULT_CSS = """
    Banner { background: $panel; color: $text-warning; display: none; }
    """

    def show(self, view: ClientView) -> None:
        """Say how the connection is."""
        sentence = connection_sentence(view)
        self.display = bool(sentence)
        self.put(Content(sentence))


def connection_sentence(view: ClientView) -> str:
    """What to tell about the connection; empty while all is well."""
    detail = f" ({view.connection_detail})" if view.connection_detail else ""
    match view.connection:
        case "live":
            return ""
        case "connecting":
            return f"Connecting to the server{detail}"
        case "reconnecting":
            return f"Reconnecting{detail}. You can read and write on; nothing is lost."
        case "offline":
            return f"The server does not answer{detail}. It is tried again by itself."
        case "closed":
            return f"The connection is closed{detail}."
