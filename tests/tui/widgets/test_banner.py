"""The banner: silent while live, a whole sentence otherwise, never a control character."""

from __future__ import annotations

import pytest

from groupx_tui.state.model import ClientView, Connection
from groupx_tui.widgets.banner import Banner, connection_sentence


@pytest.mark.parametrize(
    ("connection", "words"),
    [
        ("connecting", "Connecting to the server"),
        ("reconnecting", "No answer. Next try in 2 s. /start starts the server."),
        ("offline", "There is no server; /start starts it. Next try in 2 s."),
        ("closed", "The connection is closed."),
    ],
)
def test_it_says_how_it_is_and_what_to_do(connection: Connection, words: str) -> None:
    view = ClientView(connection=connection, connection_detail="No answer. Next try in 2 s.")
    assert words in connection_sentence(view)


def test_while_live_there_is_nothing() -> None:
    assert connection_sentence(ClientView(connection="live", connection_detail="x")) == ""


def test_it_shows_and_hides_itself() -> None:
    banner = Banner()
    banner.show(ClientView(connection="reconnecting", connection_detail="a\x1b[2Jb"))
    assert banner.display
    assert "\x1b" not in banner.sentence
    banner.show(ClientView(connection="live"))
    assert not banner.display
