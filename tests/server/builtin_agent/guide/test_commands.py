"""The command table."""

from __future__ import annotations

from groupx_server.builtin_agent.guide.commands import BY_NAME, COMMANDS, available_commands


def test_no_two_commands_share_a_name() -> None:
    names = [name for command in COMMANDS for name in (command.name, *command.aliases)]
    assert len(names) == len(set(names)) == len(BY_NAME)


def test_commands_are_offered_in_acps_form() -> None:
    offered = {command["name"]: command for command in available_commands()}
    assert offered["find"]["input"] == {"hint": "WORDS"}
    assert "input" not in offered["help"]
