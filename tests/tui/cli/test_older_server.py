"""Every command against a server of an older build: what it does not know is said, never a trace.

The server knows rooms, agents and messages alone, as the first one did.
"""

from __future__ import annotations

import json

import pytest

from groupx_tui.cli.commands import COMMANDS
from groupx_tui.cli.options import Command
from support.cli_run import Groupx
from support.cli_server import CliServer

FIRST = frozenset({"rooms", "agents", "messages", "runtime/shutdown"})
HERE = {
    *("serve", "start", "stop", "restart", "reload", "connect", "web", "reset-terminal", "init"),
    *("agents add", "agents remove", "agents enable", "agents disable", "agents set"),
    *("agents test", "assistant use", "config list", "config set", "doctor", "logs"),
    *("verify", "backup", "restore", "import"),
}
"""Commands that ask the server nothing of this, or tell its refusals among other things."""
FIRST_CAN = {"rooms list", "rooms create", "agents list", "send", "status"}
WORDS = {"turn": "turn_1", "room": "main", "record": "mem_1", "root": "corr_1", "path": "x.zip"}


def line_of(command: Command) -> list[str]:
    needed = [WORDS.get(each.name, "words") for each in command.arguments if each.required]
    more = {"search": ["words"], "context preview": ["--to", "guide"]}.get(command.name, [])
    return [*command.words, *needed, *more]


ASKING = [command for command in COMMANDS if command.name not in HERE]


@pytest.mark.parametrize("command", ASKING, ids=lambda command: command.name)
def test_a_command_that_an_older_server_does_not_know_says_so(
    groupx: Groupx, server: CliServer, command: Command
) -> None:
    server.knows = FIRST
    server.publish(version="0.1.0")
    result = groupx(*line_of(command), stdin=b"words")
    if command.name in FIRST_CAN:
        assert result.code == 0, result.err
        return
    asked = [path for _, path, _ in server.requests]
    assert asked, result.err
    assert result.code not in (0, 70), result.err
    assert "does not know /api/" in result.err
    assert "groupx restart" in result.err
    assert "Traceback" not in result.err


def test_status_tells_what_an_older_server_knows(groupx: Groupx, server: CliServer) -> None:
    server.knows = FIRST
    result = groupx("status")
    assert result.code == 0
    assert "rooms     1: main" in result.out
    assert "assistant not known to this server, which is older; “groupx restart”" in result.out
    assert "guide*" in result.out
    facts = json.loads(groupx("status", "--json").out)
    assert (facts["assistant"], facts["openTurns"]) == (None, None)
    assert facts["rooms"]
