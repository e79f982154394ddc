"""Live output of a turn: the first piece at once, then in windows."""

from __future__ import annotations

import pytest

from groupx_server.domain.limits import Limits
from groupx_server.rooms.clock import Clock
from groupx_server.rooms.deltas import CROWD, CROWDED_WINDOW_S, WINDOW_S, LiveOutput
from groupx_server.rooms.live import Speaker
from support.rooms import NOW, Listener


class Turn:
    """A turn's output at a time that the test sets."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.listener = Listener()
        clock = Clock(now=lambda: NOW, monotonic=lambda: self.now_s)
        speaker = Speaker("agent:a", "A", "room:main", "corr_1")
        self.output = LiveOutput("turn_1", speaker, self.listener, Limits(), clock)

    @property
    def sent(self) -> list[str]:
        return [body["text"] for body in self.listener.bodies("turn.content.delta")]


async def test_the_first_piece_leaves_at_once_and_those_of_a_window_together() -> None:
    turn = Turn()
    turn.output.text("content", "a")
    assert turn.sent == ["a"]
    for piece in "bc":
        turn.output.text("content", piece)
    assert turn.sent == ["a"]
    await turn.listener.until(lambda: len(turn.sent) == 2)
    assert turn.sent == ["a", "bc"]


@pytest.mark.parametrize(
    ("pieces", "after_s", "is_sent"),
    [
        (1, WINDOW_S, True),
        (CROWD, WINDOW_S, True),
        (CROWD + 1, WINDOW_S, False),
        (CROWD + 1, CROWDED_WINDOW_S, True),
    ],
)
async def test_the_window_is_longer_while_many_pieces_come(
    pieces: int, after_s: float, is_sent: bool
) -> None:
    turn = Turn()
    turn.output.text("content", "a")
    for _ in range(pieces):
        turn.output.text("content", "b")
    turn.output.flush()
    turn.now_s += after_s + 1e-6
    turn.output.text("content", "c")
    assert ("c" in turn.sent) is is_sent
    turn.output.flush()
    assert "".join(turn.sent) == "a" + "b" * pieces + "c"
