"""`groupx reset-terminal` without a terminal (with one: tests/tui/test_terminal.py)."""

from __future__ import annotations

import pytest

from groupx_tui.cli import resetterminal
from support.cli_run import Groupx


def test_without_a_terminal_it_says_what_to_do(
    groupx: Groupx, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resetterminal, "TERMINAL", "/nonexistent/tty")
    ended = groupx("reset-terminal")
    assert ended.code == 2
    assert "ctrl+j" in ended.err


def test_what_is_no_terminal_cannot_be_set(groupx: Groupx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resetterminal, "TERMINAL", "/dev/null")
    ended = groupx("reset-terminal")
    assert ended.code == 2
    assert "cannot be set" in ended.err
