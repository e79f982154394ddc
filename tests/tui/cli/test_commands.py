"""The table is sound: every handler exists, every flag is there once, the docs name everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupx_tui.cli.commands import COMMANDS, GROUPS, ROOT
from groupx_tui.cli.options import Command, Invocation
from groupx_tui.cli.run import handler_of

DOCS = Path(__file__).parents[3] / "docs" / "CLI.md"
ALL = pytest.mark.parametrize(
    "command", [ROOT, *COMMANDS], ids=lambda command: command.name or "groupx"
)


@ALL
def test_every_handler_exists(command: Command) -> None:
    assert callable(handler_of(Invocation(command, {})))


@ALL
def test_no_flag_is_declared_twice_in_a_command(command: Command) -> None:
    flags = [flag for option in command.options for flag in option.flags]
    assert len(flags) == len(set(flags))
    assert not set(flags) & {"-h", "--help"}


def test_words_are_unique_and_groups_are_declared() -> None:
    assert len({command.words for command in COMMANDS}) == len(COMMANDS)
    assert {command.words[0] for command in COMMANDS if len(command.words) == 2} == set(GROUPS)


@ALL
def test_docs_name_every_command_and_option(command: Command) -> None:
    text = DOCS.read_text(encoding="utf-8")
    heading = f"## `{' '.join(['groupx', *command.words])}`"
    assert f"{heading}\n" in text
    section = text.split(f"{heading}\n")[1].split("\n## ")[0]
    for option in command.options:
        if option.name != "config":
            assert all(f"`{flag}" in section for flag in option.flags), option.flags
    assert "--config" in text
