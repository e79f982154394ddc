"""A terminal that a killed window left is put right: by a mark that says who had it, and how it
was."""

from __future__ import annotations

import json
import os
import pty
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groupx_shared.paths import user_state_folder
from groupx_tui import terminalreset
from groupx_tui.attention import PROGRESS_OFF
from groupx_tui.terminalreset import RESET, leave_mark, put_right, remove_mark, repair_if_left

FOLDER = "windows"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    """A terminal: what it shows can be read from the first, the second is a program's side."""
    master, slave = pty.openpty()
    monkeypatch.setattr(terminalreset, "_terminal_name", lambda: "pts-99")
    yield master, slave
    os.close(master)
    os.close(slave)


def marks() -> list[Path]:
    return sorted((user_state_folder() / FOLDER).glob("*.json"))


def make_raw(slave: int) -> list[Any]:
    """Set the terminal as a window does; returns how it was."""
    before = termios.tcgetattr(slave)
    raw = termios.tcgetattr(slave)
    raw[3] &= ~(termios.ICANON | termios.ECHO)
    termios.tcsetattr(slave, termios.TCSANOW, raw)
    return before


def pretend_dead(**changes: object) -> None:
    """Change the one mark as if another process had left it."""
    (path,) = marks()
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_window_leaves_a_mark_and_takes_it_away(terminal: tuple[int, int]) -> None:
    mark = leave_mark(termios.tcgetattr(terminal[1]))
    assert marks() == [mark]
    assert mark is not None
    assert mark.parent.stat().st_mode & 0o77 == 0
    remove_mark(mark)
    assert marks() == []
    remove_mark(mark)
    remove_mark(None)


def test_the_terminal_of_a_living_window_is_left_alone(terminal: tuple[int, int]) -> None:
    leave_mark(termios.tcgetattr(terminal[1]))
    assert not repair_if_left(terminal[1])
    assert len(marks()) == 1


@pytest.mark.parametrize(
    "changes",
    [{"pid": 2**22 - 1}, {"born": "another life"}, {"pid": "x"}, {"pid": -1}],
    ids=["dead", "its number was given to another", "damaged", "impossible"],
)
def test_the_terminal_of_a_dead_one_is_put_right(
    terminal: tuple[int, int], changes: dict[str, object]
) -> None:
    master, slave = terminal
    before = make_raw(slave)
    leave_mark(before)
    pretend_dead(**changes)
    assert repair_if_left(slave)
    assert os.read(master, 4096).decode() == RESET
    assert termios.tcgetattr(slave)[:6] == before[:6]
    assert marks() == []
    assert not repair_if_left(slave)


@pytest.mark.parametrize("attributes", [None, "x", [1, 2], [0, 0, 0, 0, 0, 0, "x"]])
def test_without_a_usable_mark_it_is_set_as_a_shell_expects(
    terminal: tuple[int, int], attributes: object
) -> None:
    _, slave = terminal
    make_raw(slave)
    leave_mark(termios.tcgetattr(slave))
    pretend_dead(pid=2**22 - 1, attributes=attributes)
    assert repair_if_left(slave)
    assert termios.tcgetattr(slave)[3] & (termios.ICANON | termios.ECHO)


def test_progress_is_cleared_where_it_may_have_been_shown(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WT_SESSION", "x")
    for name in ("TMUX", "STY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    put_right(None, terminal[1])
    assert os.read(terminal[0], 4096).decode().endswith(PROGRESS_OFF)


def test_a_mark_that_cannot_be_left_costs_nothing(
    terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert leave_mark(None) is None
    (user_state_folder()).mkdir(parents=True)
    (user_state_folder() / FOLDER).write_text("in the way")
    assert leave_mark(termios.tcgetattr(terminal[1])) is None
    monkeypatch.setattr(terminalreset, "_terminal_name", lambda: None)
    assert not repair_if_left(terminal[1])
