"""The window in a real terminal: keys as terminals send them, and a terminal left as it was."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_shared.paths import user_state_folder
from groupx_tui.attention import PROGRESS_OFF, PROGRESS_ON
from support.tmux import Terminal, open_terminal, python_line

APP = Path(__file__).parents[1] / "support" / "terminal_app.py"
WRAP_AND_CURSOR = {7, 25}
"""Modes that are on in a terminal that nobody changed: line wrap and the visible cursor."""

pytestmark = [
    pytest.mark.terminal,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    home = str(user_state_folder().parent)
    with open_terminal(tmp_path, GROUPX_HOME=home, COLORTERM="truecolor") as opened:
        yield opened


def start(terminal: Terminal, *words: str) -> None:
    terminal.type(python_line(APP, *words))
    terminal.keys("Enter")
    terminal.wait_for("And who is @codex?")


def window_process(terminal: Terminal) -> int:
    """The process of the window: the one child of the pane's shell."""
    shell = terminal.fact("pane_pid")
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", shell], capture_output=True, text=True, check=True
    )
    return int(found.stdout.split()[0])


def check_left_as_it_was(terminal: Terminal) -> None:
    terminal.wait(lambda: terminal.fact("alternate_on") == "0", "the normal screen")
    terminal.wait(lambda: terminal.modes_left_on() <= WRAP_AND_CURSOR, "all modes off")
    assert terminal.fact("mouse_any_flag") == "0"
    assert terminal.fact("cursor_flag") == "1"
    assert "GroupX" not in terminal.fact("pane_title")
    wanted = "-e icanon -e echo -e isig -e icrnl"
    terminal.type(f"echo tty=$(stty -a | tr ' ;' '\\n\\n' | grep -cx {wanted})")
    terminal.keys("Enter")
    terminal.wait_for("tty=4")


def test_new_lines_wide_characters_and_the_caret(terminal: Terminal) -> None:
    start(terminal)
    assert terminal.fact("pane_title") == "(3) GroupX · Main"
    terminal.type("hi 你好")
    terminal.keys("M-Enter")
    terminal.type("two")
    terminal.keys("C-j")
    terminal.type("threx")
    terminal.keys("BSpace")
    terminal.type("e")
    terminal.wait_for("   three")
    assert "❯ hi 你好\n   two\n   three\n" in terminal.screen()
    terminal.wait(lambda: terminal.fact("cursor_x") == "8", "the cursor at the caret")
    assert terminal.fact("cursor_y") == "22"


def test_emoji_of_several_code_points_move_nothing_that_follows(terminal: Terminal) -> None:
    start(terminal)
    terminal.type("👍🏽❤️1️⃣👨‍👩‍👧‍👦🇩🇪Q")
    terminal.wait(lambda: terminal.fact("cursor_x") == "14", "the caret behind the Q")
    terminal.wait_for("Q")
    terminal.tmux("copy-mode", "-t", "0")
    terminal.keys("-X", "search-backward", "Q")
    terminal.wait(lambda: terminal.fact("copy_cursor_x") == "13", "the Q in the cell before it")


def test_a_burst_with_enter_in_it_is_a_message_and_the_next_text(terminal: Terminal) -> None:
    start(terminal)
    terminal.type("first")
    terminal.keys("Enter", "s", "e", "c", "o", "n", "d")
    terminal.wait_for("❯ second")
    terminal.keys("C-c", "Up", "Up")
    terminal.wait_for("❯ first")


def test_words_behind_the_key_of_a_dialog_are_written_into_it(terminal: Terminal) -> None:
    start(terminal)
    terminal.keys("Tab", "Up")
    terminal.wait_for("enter open")
    terminal.keys("/", *"no such words", "Enter")
    terminal.wait_for("no such words")
    terminal.wait_for("Nothing")


def test_a_bracketed_paste_keeps_its_lines(terminal: Terminal) -> None:
    start(terminal)
    terminal.tmux("set-buffer", "one\ntwo\n\tthree")
    terminal.tmux("paste-buffer", "-p", "-t", "0")
    terminal.wait_for("   two")
    assert "❯ one\n" in terminal.screen()


def test_quitting_leaves_the_terminal_as_it_was(terminal: Terminal) -> None:
    start(terminal)
    terminal.keys("C-d")
    terminal.wait_for("CODE=0")
    check_left_as_it_was(terminal)


def test_ctrl_c_twice_quits(terminal: Terminal) -> None:
    start(terminal)
    terminal.keys("C-c")
    terminal.wait_for("again closes this window")
    terminal.keys("C-c")
    terminal.wait_for("CODE=0")


def test_a_term_signal_leaves_the_terminal_as_it_was(terminal: Terminal) -> None:
    start(terminal)
    subprocess.run(["kill", "-TERM", str(window_process(terminal))], check=True)
    terminal.wait_for("CODE=143")
    check_left_as_it_was(terminal)


def test_a_hangup_signal_ends_the_window(terminal: Terminal) -> None:
    start(terminal)
    subprocess.run(["kill", f"-{int(signal.SIGHUP)}", str(window_process(terminal))], check=True)
    terminal.wait_for("CODE=129")
    check_left_as_it_was(terminal)


def test_an_error_of_ours_leaves_a_sentence_and_the_terminal_as_it_was(
    terminal: Terminal,
) -> None:
    start(terminal, "crash")
    terminal.keys("M-Down")
    terminal.wait_for("CODE=1")
    assert "The server and the agents go on." in terminal.screen()
    check_left_as_it_was(terminal)


def test_suspending_gives_the_terminal_back_and_fg_the_window(terminal: Terminal) -> None:
    start(terminal)
    terminal.type("kept")
    terminal.wait_for("❯ kept")
    terminal.keys("C-z")
    terminal.wait(lambda: terminal.fact("alternate_on") == "0", "the shell")
    terminal.type("fg")
    terminal.keys("Enter")
    terminal.wait_for("❯ kept")
    assert terminal.fact("pane_title") == "(3) GroupX · Main"
    terminal.keys("C-c", "C-d")
    terminal.wait_for("CODE=0")
    check_left_as_it_was(terminal)


def test_a_storm_of_sizes_leaves_the_same_screen(terminal: Terminal) -> None:
    start(terminal)
    terminal.type("kept")
    terminal.wait_for("❯ kept")
    before = terminal.screen()
    for step in range(60):
        columns, rows = 20 + step * 37 % 180, 6 + step * 13 % 54
        terminal.tmux("resize-window", "-t", "0", "-x", str(columns), "-y", str(rows))
    terminal.tmux("resize-window", "-t", "0", "-x", "80", "-y", "24")
    terminal.wait(lambda: terminal.screen() == before, "the screen of before")
    terminal.keys("C-c", "C-d")
    terminal.wait_for("CODE=0")
    check_left_as_it_was(terminal)


def test_a_pasted_megabyte_is_one_chip_and_one_undo(terminal: Terminal, tmp_path: Path) -> None:
    start(terminal)
    text = tmp_path / "megabyte.txt"
    text.write_text("汉字 and ﷽ and 0123456789 in a line\n" * 25_000, "utf-8")
    assert text.stat().st_size >= 1_000_000
    terminal.tmux("load-buffer", str(text))
    terminal.tmux("paste-buffer", "-p", "-t", "0")
    terminal.wait_for("[pasted 25,000 lines]")
    terminal.wait_for("characters too many")
    terminal.keys("Enter")
    terminal.wait_for("Your text is kept")
    terminal.keys("C-_")
    terminal.wait(lambda: "pasted" not in terminal.screen().splitlines()[-2], "the chip gone")
    terminal.type("next")
    terminal.wait_for("❯ next")


def test_a_window_that_was_made_wider_leaves_nothing_in_the_shells_history(
    terminal: Terminal,
) -> None:
    start(terminal)
    before = terminal.fact("history_size")
    terminal.tmux("resize-window", "-t", "0", "-x", "200", "-y", "24")
    terminal.wait(lambda: any(len(line) > 150 for line in terminal.screen().splitlines()), "wider")
    terminal.keys("C-d")
    terminal.wait(lambda: terminal.fact("alternate_on") == "0", "the normal screen")
    assert terminal.fact("history_size") == before
    assert "And who is @codex?" not in terminal.screen()


def test_the_persons_editor_gets_the_terminal_and_gives_it_back(
    terminal: Terminal, tmp_path: Path
) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\necho "editing $1"\nread line\necho "$line" >> "$1"\n')
    editor.chmod(0o755)
    terminal.type(f"EDITOR={editor}; export EDITOR")
    terminal.keys("Enter")
    start(terminal)
    terminal.type("draft")
    terminal.wait_for("❯ draft")
    terminal.keys("F4")
    terminal.wait_for("editing ")
    assert terminal.fact("alternate_on") == "0"
    terminal.type("and more")
    terminal.keys("Enter")
    terminal.wait_for("   and more")
    assert "❯ draft\n   and more\n" in terminal.screen()
    terminal.keys("C-c", "C-d")
    terminal.wait_for("CODE=0")
    check_left_as_it_was(terminal)


def test_progress_is_shown_where_it_is_understood_and_cleared_at_the_end(tmp_path: Path) -> None:
    home = str(user_state_folder().parent)
    with open_terminal(
        tmp_path, GROUPX_HOME=home, TERM="xterm-256color", WT_SESSION="x"
    ) as terminal:
        start(terminal, "busy")
        terminal.wait(lambda: PROGRESS_ON in terminal.output.read_text(), "progress shown")
        assert PROGRESS_OFF not in terminal.output.read_text()
        terminal.keys("C-d")
        terminal.wait_for("CODE=0")
        terminal.wait(lambda: PROGRESS_OFF in terminal.output.read_text(), "progress cleared")


def kill_window(terminal: Terminal) -> None:
    """SIGKILL: nothing of ours runs after it, and the terminal stays as the window had it."""
    subprocess.run(["kill", "-KILL", str(window_process(terminal))], check=True)
    terminal.wait(lambda: bool(terminal.modes_left_on() - WRAP_AND_CURSOR), "modes left on")


def test_the_next_window_puts_right_what_a_killed_one_left(terminal: Terminal) -> None:
    start(terminal)
    kill_window(terminal)
    terminal.type(python_line(APP))
    terminal.keys("C-j")
    terminal.wait_for("was killed")
    terminal.keys("C-d")
    terminal.wait_for("CODE=0")
    check_left_as_it_was(terminal)


def test_a_command_puts_right_what_a_killed_window_left(terminal: Terminal) -> None:
    start(terminal)
    kill_window(terminal)
    terminal.type(f"{sys.executable} -m groupx_tui.cli reset-terminal")
    terminal.keys("C-j")
    terminal.wait_for("as a shell expects it")
    check_left_as_it_was(terminal)


def test_a_dumb_terminal_gets_the_client_line_by_line(tmp_path: Path) -> None:
    home = str(user_state_folder().parent)
    (tmp_path / "groupx.json").write_text("{}")
    with open_terminal(tmp_path, GROUPX_HOME=home, TERM="dumb") as terminal:
        terminal.type(f"cd {tmp_path}; {sys.executable} -m groupx_tui.cli; echo ended=$?")
        terminal.keys("Enter")
        terminal.wait_for("Room main, 0 messages.")
        terminal.type("/status")
        terminal.keys("Enter")
        terminal.wait_for("Guide answers")
        terminal.type("/quit")
        terminal.keys("Enter")
        terminal.wait_for("ended=0")
        assert b"\x1b" not in terminal.output.read_bytes()
        terminal.type(f"{sys.executable} -m groupx_tui.cli stop; echo stopped=$?")
        terminal.keys("Enter")
        terminal.wait_for("stopped=0")


def test_a_terminal_that_goes_away_takes_the_window_with_it(terminal: Terminal) -> None:
    start(terminal)
    pid = window_process(terminal)
    terminal.tmux("new-session", "-d", "-s", "other")
    terminal.tmux("kill-session", "-t", "0")

    def is_gone() -> bool:
        return subprocess.run(["kill", "-0", str(pid)], capture_output=True).returncode != 0

    terminal.wait(is_gone, "the window gone")


def test_what_is_copied_is_in_tmux_and_that_is_said(terminal: Terminal) -> None:
    terminal.type(f"export TMUX={terminal.fact('socket_path')},1,0")
    terminal.keys("Enter")
    start(terminal)
    terminal.keys("Tab", "Up", "c")  # in one burst: none of them is typed into the message
    terminal.wait_for("tmux handed it on")
    assert terminal.tmux("show-buffer").strip() == "And who is @codex?"


def test_the_mouse_is_left_to_the_terminal_when_one_wants_also_next_time(
    terminal: Terminal,
) -> None:
    start(terminal)
    terminal.wait(lambda: terminal.fact("mouse_any_flag") == "1", "the mouse is taken")
    terminal.type("/mouse off")
    terminal.keys("Enter")
    terminal.wait(lambda: terminal.fact("mouse_any_flag") == "0", "the mouse is left")
    terminal.keys("C-d")
    terminal.wait_for("ended=0")
    terminal.type("clear")
    terminal.keys("Enter")
    start(terminal)
    assert terminal.fact("mouse_any_flag") == "0"
    terminal.type("/mouse on")
    terminal.keys("Enter")
    terminal.wait(lambda: terminal.fact("mouse_any_flag") == "1", "the mouse is taken again")
