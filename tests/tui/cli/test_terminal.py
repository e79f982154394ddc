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
    app = types.ModuleType("groupx_tui.opening")
    app.run_tui = lambda workspace, *, room: opened.append((workspace, room))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "groupx_tui.opening", app)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("groupx_tui.cli.output.is_terminal", lambda: True)
    assert main(words) == 0
    assert opened == [(workspace, room)]


def test_version_among_other_options(groupx: Groupx) -> None:
    assert groupx("--version", "--room", "x").out.startswith("groupx ")


@pytest.mark.parametrize(
    ("words", "term", "is_plain"),
    [(["--plain"], "xterm", True), ([], "dumb", True), ([], "xterm", False)],
)
def test_the_room_opens_line_by_line_where_it_is_asked_for_or_the_terminal_is_dumb(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    term: str,
    is_plain: bool,
) -> None:
    opened: list[str] = []
    app, plain = types.ModuleType("groupx_tui.opening"), types.ModuleType("groupx_tui.plain.client")
    app.run_tui = lambda workspace, *, room: opened.append("window")  # type: ignore[attr-defined]
    plain.run_plain = lambda workspace, room_id: opened.append(room_id)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "groupx_tui.opening", app)
    monkeypatch.setitem(sys.modules, "groupx_tui.plain.client", plain)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("groupx_tui.cli.output.is_terminal", lambda: True)
    monkeypatch.setenv("TERM", term)
    assert main(words) == 0
    assert opened == (["room:main"] if is_plain else ["window"])
