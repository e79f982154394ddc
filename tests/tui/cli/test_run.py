"""The border: however a command ends, it is an exit code and at most a sentence."""

from __future__ import annotations

import pytest

from groupx_shared.errors import WorkspaceError
from groupx_tui.cli import run as border
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.run import run


@pytest.fixture
def ends_with(monkeypatch: pytest.MonkeyPatch) -> object:
    """Makes every command end by raising."""

    def set_error(error: BaseException) -> None:
        def handler(call: Invocation) -> int:
            raise error

        monkeypatch.setattr(border, "handler_of", lambda call: handler)

    return set_error


def test_the_handlers_code_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(border, "handler_of", lambda call: lambda call: 4)
    assert run(["status"]) == 4


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (WorkspaceError("No room."), 3, "groupx: No room.\n"),
        (KeyboardInterrupt(), 5, "groupx: Interrupted.\n"),
    ],
)
def test_an_error_is_a_sentence(
    ends_with: object,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    sentence: str,
) -> None:
    assert callable(ends_with)
    ends_with(error)
    assert run(["status"]) == code
    assert capsys.readouterr() == ("", sentence)


@pytest.mark.parametrize("debug", [False, True])
def test_a_fault_of_the_program_says_so(
    ends_with: object,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    debug: bool,
) -> None:
    assert callable(ends_with)
    ends_with(KeyError("turns"))
    if debug:
        monkeypatch.setenv("GROUPX_DEBUG", "1")
    assert run(["status"]) == 5
    err = capsys.readouterr().err
    assert "fault of the program: KeyError: 'turns'" in err
    assert ("Traceback" in err) is debug


def test_a_closed_pipe_is_silent(
    ends_with: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(ends_with)
    ends_with(BrokenPipeError())
    monkeypatch.setattr("groupx_tui.cli.output.abandon", lambda: None)
    assert run(["status"]) == 0
    assert capsys.readouterr() == ("", "")


def test_help_and_usage_errors_come_from_typer(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["send", "--help"]) == 0
    assert "Usage: groupx send" in capsys.readouterr().out
    assert run(["sned"]) == 2
