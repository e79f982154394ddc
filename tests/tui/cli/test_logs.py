"""`groupx logs`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_shared.workspace import Workspace
from groupx_tui.cli import logs
from groupx_tui.cli.logs import log_line
from support.cli_clock import SteppedClock
from support.cli_run import Groupx
from support.cli_server import CliServer

ENTRY = {
    "event": "turn ended\x1b[2J",
    "level": "info",
    "at": "2026-11-03T14:03:21Z",
    "turn": "turn_1",
}


@pytest.fixture
def log(workspace: Workspace) -> Path:
    path = workspace.data_folder / "logs" / "server.log"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"line {number}\n" for number in range(1, 100)))
    return path


def test_it_prints_the_last_lines(groupx: Groupx, log: Path) -> None:
    result = groupx("logs", "-n", "2")
    assert (result.code, result.out, result.err) == (0, "line 98\nline 99\n", "")


def test_a_json_line_becomes_readable_and_harmless() -> None:
    assert log_line(json.dumps(ENTRY)) == "2026-11-03T14:03:21Z info turn ended␛[2J turn=turn_1"


@pytest.mark.parametrize("line", ["plain\x1b[2J", "[1]\x1b", "{\x1b"])
def test_any_other_line_is_cleaned(line: str) -> None:
    assert "\x1b" not in log_line(line)


def test_json_is_the_line_as_it_is(groupx: Groupx, log: Path) -> None:
    log.write_text(json.dumps(ENTRY) + "\n")
    assert json.loads(groupx("logs", "--json").out) == ENTRY


def test_the_running_servers_own_log_is_read(
    groupx: Groupx, server: CliServer, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere.log").write_text("here\n")
    server.publish(log_file=str(tmp_path / "elsewhere.log"))
    assert groupx("logs").out == "here\n"


def test_before_the_first_log_the_starts_words_are_shown(
    groupx: Groupx, workspace: Workspace
) -> None:
    path = workspace.data_folder / "logs" / "start.log"
    path.parent.mkdir(parents=True)
    path.write_text("Traceback\n")
    result = groupx("logs")
    assert (result.out, "its start printed" in result.err) == ("Traceback\n", True)


def test_without_a_log_it_says_so(groupx: Groupx) -> None:
    result = groupx("logs")
    assert (result.code, "no log yet" in result.err) == (3, True)


def test_following_shows_whole_lines_over_a_rotation(log: Path) -> None:
    added: Iterator[str]

    def act(pauses: int) -> None:
        if pauses == 1:
            with log.open("a") as file:
                file.write("one\ntw")
        elif pauses == 2:
            with log.open("a") as file:
                file.write("o\n")
        elif pauses == 3:
            log.rename(log.with_suffix(".1"))
        elif pauses == 4:
            log.write_text("three\n")

    added = logs._added(log, SteppedClock(act).clock)
    assert [next(added) for _ in range(3)] == ["one", "two", "three"]


def test_ctrl_c_ends_following_well(
    groupx: Groupx, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(path: Path, clock: object) -> Iterator[str]:
        yield "new"
        raise KeyboardInterrupt

    monkeypatch.setattr(logs, "_added", interrupt)
    result = groupx("logs", "--follow", "-n", "1")
    assert (result.code, result.out) == (0, "line 99\nnew\n")
