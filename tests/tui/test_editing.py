"""The person's own editor: found without a shell, and no text lost."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from pathlib import Path

import pytest

from groupx_shared.errors import ConfigError
from groupx_shared.paths import user_state_folder
from groupx_tui import editing
from groupx_tui.editing import edit, editor_command


@pytest.fixture
def programs(tmp_path: Path) -> str:
    """A folder for $PATH that holds `vi` and `code`."""
    for name in ("vi", "code"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return str(tmp_path)


@pytest.mark.parametrize(
    ("environ", "command"),
    [
        ({}, ["vi"]),
        ({"EDITOR": "code"}, ["code"]),
        ({"EDITOR": "code", "VISUAL": "vi"}, ["vi"]),
        ({"EDITOR": "code --wait 'a b'"}, ["code", "--wait", "a b"]),
        ({"EDITOR": "vi; rm -rf $HOME"}, None),
        ({"EDITOR": "  ", "VISUAL": ""}, ["vi"]),
        ({"EDITOR": "nothere"}, None),
        ({"EDITOR": "'unclosed"}, None),
    ],
)
def test_the_command_is_split_but_never_given_to_a_shell(
    programs: str, environ: dict[str, str], command: list[str] | None
) -> None:
    if command is None:
        with pytest.raises(ConfigError, match="EDITOR"):
            editor_command(environ, programs)
    else:
        assert editor_command(environ, programs) == command


def test_without_any_editor_it_says_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"Set \$EDITOR"):
        editor_command({}, str(tmp_path))


def script(tmp_path: Path, body: str) -> list[str]:
    """A command that runs `body` with the file's path in `path`."""
    file = tmp_path / "editor.py"
    file.write_text(f"import os, signal, sys\npath = sys.argv[1]\n{body}\n", "utf-8")
    return [sys.executable, str(file)]


def left_over() -> list[Path]:
    return list((user_state_folder() / "editing").glob("*"))


@pytest.mark.process
@pytest.mark.slow
async def test_what_is_saved_comes_back_clean_and_the_file_goes(tmp_path: Path) -> None:
    check = "assert open(path).read() == 'draft\\n'; assert os.stat(path).st_mode & 0o77 == 0"
    command = script(tmp_path, f"{check}\nopen(path, 'wb').write(b'a\\r\\nb\\x1b[2J\\xff\\n')")
    edited = await edit("draft", command)
    assert edited.text == "a\nb␛[2J\ufffd"
    assert left_over() == []
    assert stat.S_IMODE((user_state_folder() / "editing").stat().st_mode) == 0o700


@pytest.mark.process
@pytest.mark.slow
async def test_an_editor_that_fails_changes_nothing(tmp_path: Path) -> None:
    edited = await edit("draft", script(tmp_path, "open(path, 'w').write('x'); sys.exit(3)"))
    assert edited.text is None
    assert "code 3" in edited.problem


@pytest.mark.process
@pytest.mark.slow
async def test_what_cannot_be_taken_back_stays_in_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editing, "MAX_BYTES", 10)
    edited = await edit("draft", script(tmp_path, "open(path, 'w').write('x' * 100)"))
    assert edited.text is None
    (kept,) = left_over()
    assert str(kept) in edited.problem
    gone = await edit("draft", script(tmp_path, "os.unlink(path)"))
    assert gone.text is None


@pytest.mark.process
@pytest.mark.slow
async def test_ctrl_c_is_for_the_editor_alone(tmp_path: Path) -> None:
    body = "signal.signal(signal.SIGINT, lambda *_: open(path, 'w').write('caught'))\n"
    body += "os.kill(os.getppid(), signal.SIGINT); os.kill(os.getpid(), signal.SIGINT)"
    before = signal.getsignal(signal.SIGINT)
    edited = await edit("draft", script(tmp_path, body))
    assert edited.text == "caught"
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.process
@pytest.mark.slow
async def test_closing_the_window_ends_the_editor(tmp_path: Path) -> None:
    ready = tmp_path / "pid"
    os.mkfifo(ready)
    body = f"open({str(ready)!r}, 'w').write(str(os.getpid())); signal.pause()"
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        editing_now = group.create_task(edit("draft", script(tmp_path, body)))
        pid = int(await asyncio.to_thread(ready.read_text))
        editing_now.cancel()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
