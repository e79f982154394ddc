"""stderr and exit codes."""

from __future__ import annotations

import io
import sys

import pytest

from groupx_shared.errors import (
    ConfigError,
    ErrorCode,
    GroupXError,
    RefusedError,
    ServerUnreachableError,
    WorkspaceError,
)
from groupx_tui.cli import diagnostics
from groupx_tui.cli.diagnostics import CommandError, ExitCode, exit_code_of


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Broken(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CommandError("x", ExitCode.STILL_RUNNING), 4),
        (RefusedError("x"), 6),
        (RefusedError("x", code=ErrorCode.SHUTTING_DOWN), 3),
        (RefusedError("x", code=ErrorCode.INTERNAL_ERROR), 5),
        (ServerUnreachableError("x"), 3),
        (WorkspaceError("x"), 3),
        (ConfigError("x"), 3),
    ],
)
def test_each_error_has_its_exit_code(error: GroupXError, code: int) -> None:
    assert exit_code_of(error) == code


def test_narration_is_cleaned_and_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    diagnostics.say("a\x1b[2J" + "x" * 10_000)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("a␛[2Jx")
    assert len(captured.err) == diagnostics.MAX_SENTENCE + 1


def test_trouble_names_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    diagnostics.trouble("no")
    assert capsys.readouterr().err == "groupx: no\n"


def test_a_terminal_sees_colours_and_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    diagnostics.trouble("no")
    diagnostics.progress("1 MiB")
    assert terminal.getvalue() == "\x1b[31mgroupx:\x1b[0m no\n\r\x1b[K1 MiB"


def test_without_a_terminal_there_is_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    diagnostics.progress("1 MiB")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("stream", [None, Broken()])
def test_nobody_listening_is_no_error(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO | None
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    diagnostics.trouble("no")
