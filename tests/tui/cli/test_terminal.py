"""`groupx` without a command."""

from __future__ import annotations

import sys
import types

import pytest

from groupx_shared.workspace import Workspace
from groupx_tui.cli.main import main
from support.cli_run import Groupx


def test_without_a_terminal_it_says_what_to_use(groupx: Groupx) -> None:
    result = groupx()
    assert (result.code, result.out) == (2, "")
    assert "groupx send" in result.err


@pytest.mark.parametrize(
    ("words", "room"), [([], None), (["--room", "dev"], "room:dev"), (["-r", "room:x"], "room:x")]
)
def test_on_a_terminal_the_room_opens(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, words: list[str], room: str | None
) -> None:
    opened: list[tuple[Workspace, str | None]] = []
    app = types.ModuleType("groupx_tui.app")
    app.run_tui = lambda workspace, *, room: opened.append((workspace, room))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "groupx_tui.app", app)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("groupx_tui.cli.output.is_terminal", lambda: True)
    assert main(words) == 0
    assert opened == [(workspace, room)]


def test_version_among_other_options(groupx: Groupx) -> None:
    assert groupx("--version", "--room", "x").out.startswith("groupx ")
