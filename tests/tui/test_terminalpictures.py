"""A terminal that is asked how it shows pictures: what it answers is nowhere on the screen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from groupx_shared.paths import user_state_folder
from support.tmux import Terminal, open_terminal, python_line

APP = Path(__file__).parents[1] / "support" / "terminal_app.py"

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


def test_a_picture_in_tmux_is_there_and_no_answer_is_typed(
    terminal: Terminal, tmp_path: Path
) -> None:
    Image.new("RGB", (200, 100), (250, 20, 20)).save(tmp_path / "a.jpg")
    terminal.type(python_line(APP))
    terminal.keys("Enter")
    terminal.wait_for("And who is @codex?")
    terminal.type(f"/picture {tmp_path / 'a.jpg'}")
    terminal.keys("Enter")
    terminal.wait_for("JPEG, 200×100")
    terminal.wait(lambda: b"\x1b[c" in terminal.output.read_bytes(), "the question")
    terminal.wait(lambda: "Decoding" not in terminal.screen(), "the picture")
    terminal.keys("Escape")
    terminal.wait_for("❯ Message")
    terminal.type("typed")
    terminal.wait_for("❯ typed\n")
    terminal.keys("C-c", "C-d")
    terminal.wait_for("CODE=0")
