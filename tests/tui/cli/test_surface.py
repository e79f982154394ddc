"""typer's side: help names everything, usage errors end with 2 and a helpful sentence."""

from __future__ import annotations

import pytest

from groupx_tui.cli.commands import COMMANDS, GROUPS, ROOT
from groupx_tui.cli.options import Command, Invocation
from groupx_tui.cli.surface import read


@pytest.mark.parametrize("command", [ROOT, *COMMANDS], ids=lambda command: command.name or "groupx")
def test_help_names_every_option(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert read([*command.words, "--help"]) == 0
    shown = capsys.readouterr().out
    for option in command.options:
        assert all(flag in shown for flag in option.flags)
    for argument in command.arguments:
        assert str(argument.metavar) in shown


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert read(["-h"]) == 0
    shown = capsys.readouterr().out
    assert all(command.words[0] in shown for command in COMMANDS)


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_alone_shows_its_commands(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert read([group]) == 2
    captured = capsys.readouterr()
    names = [command.words[1] for command in COMMANDS if command.words[0] == group]
    assert all(name in captured.out + captured.err for name in names)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["sned"], "'send'"),
        (["send", "--waitt"], "--wait"),
        (["send", "a", "b"], "extra argument"),
        (["history", "--limit", "many"], "--limit"),
        (["history", "--limit", "0"], "--limit"),
        (["turns", "list", "--status", "x"], "open"),
        (["rooms", "rename", "main"], "TITLE"),
        (["--room", "dev", "send", "hi"], "--room"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_usage_error_ends_with_two_and_a_hint(
    words: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert read(words) == 2
    captured = capsys.readouterr()
    assert hint in captured.err
    assert captured.out == ""


def test_version_wins_over_a_command() -> None:
    call = read(["--version", "send", "hi"])
    assert isinstance(call, Invocation)
    assert (call.command, call.flag("version")) == (ROOT, True)


def test_completion_scripts_can_be_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    assert read(["--show-completion", "bash"]) == 0
    assert "_GROUPX_COMPLETE" in capsys.readouterr().out
