"""The banner: silent while live, a whole sentence otherwise, never a control character."""

from __future__ import annotations

import pytest

from groupx_tui.state.model import ClientView, Connection
from groupx_tui.widgets.banner import STARTING, Banner, connection_sentence


@pytest.mark.parametrize(
    ("connection", "words"),
    [
        ("connecting", "Connecting to the server"),
        ("reconnecting", "No answer. Trying again every few seconds, /reconnect tries now; f5 or"),
        ("offline", "There is no server; f5 or /start starts it."),
        ("closed", "The connection is closed."),
    ],
)
def test_it_says_how_it_is_and_what_to_do(connection: Connection, words: str) -> None:
    view = ClientView(connection=connection, connection_detail="No answer. Next try in 2 s.")
    sentence = connection_sentence(view, "f5 or /start")
    assert words in sentence
    assert "2 s" not in sentence, "nobody counts it down"


def test_the_address_is_left_out() -> None:
    view = ClientView(
        connection="reconnecting",
        connection_detail="The GroupX server at http://127.0.0.1:39587 does not answer (no). Look.",
    )
    assert connection_sentence(view).startswith("The GroupX server does not answer (no). Trying")


def test_while_live_there_is_nothing() -> None:
    assert connection_sentence(ClientView(connection="live", connection_detail="x")) == ""


def test_a_start_is_told_while_it_goes_on_and_not_longer_than_it_matters() -> None:
    banner = Banner("f5")
    banner.show(ClientView(connection="offline"))
    banner.say_starting(is_starting=True)
    assert banner.sentence == STARTING
    banner.show(ClientView(connection="live"))
    assert banner.sentence == ""
    banner.show(ClientView(connection="offline"))
    banner.say_starting(is_starting=False)
    assert "f5 or /start" in banner.sentence


@pytest.mark.parametrize("connection", ["reconnecting", "offline"])
def test_a_server_elsewhere_is_not_said_to_be_started_from_here(connection: Connection) -> None:
    banner = Banner("f5")
    banner.is_elsewhere = True
    banner.show(ClientView(connection=connection))
    assert "connect anew" in banner.sentence
    assert "start" not in banner.sentence


def test_it_shows_and_hides_itself() -> None:
    banner = Banner()
    banner.show(ClientView(connection="reconnecting", connection_detail="a\x1b[2Jb"))
    assert banner.display
    assert "\x1b" not in banner.sentence
    banner.show(ClientView(connection="live"))
    assert not banner.display
