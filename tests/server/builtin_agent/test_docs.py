"""docs/BUILTIN_AGENT.md names what there is."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from groupx_server.builtin_agent import discovery, room_tools, settings
from groupx_server.builtin_agent.guide.commands import COMMANDS

PAGE = (Path(__file__).parents[3] / "docs" / "BUILTIN_AGENT.md").read_text()


def test_every_variable_is_documented_and_none_is_invented() -> None:
    read = set(re.findall(r'"((?:GROUPX|OPENAI)_[A-Z_]+)"', inspect.getsource(settings)))
    assert read == set(re.findall(r"`((?:GROUPX|OPENAI)_[A-Z_]+)`", PAGE))


def test_every_command_tool_and_port_is_documented() -> None:
    for command in COMMANDS:
        assert f"`{command.usage}`" in PAGE
    for name in room_tools.TOOLS:
        assert f"`{name}`" in PAGE
    for port, label in settings.USUAL_PORTS:
        assert f"{label} {port}" in PAGE
    assert discovery.PROBE_TIMEOUT_S <= 0.5
