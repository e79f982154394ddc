"""Copying: where the text goes, and that nothing is said to be copied that may not be."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from groupx_tui import clipboard
from groupx_tui.clipboard import OSC52_SAFE_BYTES, give_to_tmux, sent_sentence

pytestmark = [pytest.mark.process, pytest.mark.slow]


def tmux_that(folder: Path, script: str) -> dict[str, str]:
    """An environment inside a tmux that is this script."""
    program = folder / "tmux"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    return {"TMUX": "/tmp/x,1,0", "PATH": f"{folder}:{os.environ['PATH']}"}


async def test_tmux_takes_the_whole_text(tmp_path: Path) -> None:
    log = tmp_path / "log"
    environ = tmux_that(tmp_path, f'echo "$@" > {log}; cat >> {log}')
    text = "你好\n" * 50_000
    assert await give_to_tmux(text, environ)
    assert log.read_text() == "load-buffer -w -\n" + text


async def test_a_tmux_that_refuses_has_it_not(tmp_path: Path) -> None:
    environ = tmux_that(tmp_path, "exit 1")
    assert not await give_to_tmux("x" * 1_000_000, environ)


async def test_a_tmux_that_hangs_is_left_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clipboard, "TMUX_S", 0.2)
    environ = tmux_that(tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 60")
    async with asyncio.timeout(5):
        assert not await give_to_tmux("x", environ)
    pid = (tmp_path / "pid").read_text().strip()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


async def test_without_tmux_nothing_is_started(tmp_path: Path) -> None:
    environ = tmux_that(tmp_path, f"touch {tmp_path}/started") | {"TMUX": ""}
    assert not await give_to_tmux("x", environ)
    assert not await give_to_tmux("x", {"TMUX": "y", "PATH": "/nowhere"})
    assert not (tmp_path / "started").exists()


def test_what_was_only_sent_is_not_called_copied() -> None:
    sentence = sent_sentence("the answer", "x")
    assert "sent to the terminal" in sentence
    assert "copied" not in sentence
    assert "56 KB" in sent_sentence("it", "x" * OSC52_SAFE_BYTES)
