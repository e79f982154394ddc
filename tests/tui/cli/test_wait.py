"""Small things of `send --wait`; test_send.py has the whole."""

from __future__ import annotations

import pytest

from groupx_shared.runtime import remove_runtime
from groupx_tui.cli.answers import Answer
from groupx_tui.cli.api import Api
from groupx_tui.cli.clock import Deadline
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.wait import Waiter, worst
from support.cli_clock import SteppedClock
from support.cli_server import CliServer, Stream, accepted, answered, delta, play

TURN = {"turnId": "turn_a", "target": "agent:a"}


def waiter(server: CliServer, clock: SteppedClock, written: list[str]) -> Waiter:
    api = Api(server.workspace, server.runtime())
    return Waiter(api, accepted("room:main", [TURN]), clock.clock, written.append)


def test_a_server_that_stays_away_ends_the_wait_with_how_to_look(
    server: CliServer, capsys: pytest.CaptureFixture[str]
) -> None:
    def die(stream: Stream) -> None:
        stream.send(delta("turn_a", 0, "half"))
        remove_runtime(server.workspace, server.runtime().pid)
        stream.drop()

    server.streams = [die]
    clock, written = SteppedClock(), list[str]()
    code = waiter(server, clock, written).wait(Deadline(clock.clock, None))
    assert (code, "".join(written)) == (ExitCode.UNCERTAIN, "half\n")
    assert sum(clock.pauses) == pytest.approx(30.0, abs=2.0)
    err = capsys.readouterr().err
    assert "did not come back" in err
    assert "groupx turns show turn_a" in err


def test_a_turn_with_missed_pieces_is_looked_at_once_a_second(server: CliServer) -> None:
    server.turns["turn_a"] = {"turnId": "turn_a"}
    pieces = [delta("turn_a", 10 + number, "x") for number in range(5)]
    server.streams = [play(*pieces, *answered("turn_a", 11, "whole"))]
    clock, written = SteppedClock(), list[str]()
    code = waiter(server, clock, written).wait(Deadline(clock.clock, None))
    assert (code, "".join(written)) == (ExitCode.DONE, "whole\n")
    looks = [path for _, path, _ in server.requests if path == "/api/turns/turn_a"]
    assert len(looks) == 1


def test_a_reader_that_went_away_ends_the_wait(
    server: CliServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(text: str) -> None:
        raise BrokenPipeError

    abandoned: list[bool] = []
    monkeypatch.setattr("groupx_tui.cli.output.abandon", lambda: abandoned.append(True))
    server.streams = [play(delta("turn_a", 0, "x"), then=Stream.hold)]
    clock = SteppedClock()
    api = Api(server.workspace, server.runtime())
    waiting = Waiter(api, accepted("room:main", [TURN]), clock.clock, write)
    assert waiting.wait(Deadline(clock.clock, None)) is ExitCode.UNCERTAIN
    assert abandoned == [True]


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ([], ExitCode.DONE),
        (["completed"], ExitCode.DONE),
        (["completed", "cancelled"], ExitCode.TURN_FAILED),
        (["failed", "interrupted"], ExitCode.UNCERTAIN),
    ],
)
def test_the_worst_outcome_counts(statuses: list[str], code: ExitCode) -> None:
    answers = [Answer("t", "agent:a", status) for status in statuses]
    assert worst(answers) is code
