"""The standing texts; the config lines they show must be right."""

from __future__ import annotations

from pathlib import Path

from groupx_server.builtin_agent.guide import advice
from groupx_server.builtin_agent.guide.commands import COMMANDS
from groupx_shared.config import parse_config


def _json_of(block: str) -> bytes:
    return block.removeprefix("```json\n").removesuffix("```").encode()


def test_the_config_that_setup_shows_is_one_that_the_server_takes() -> None:
    model = parse_config(_json_of(advice.MODEL_CONFIG), Path("groupx.json"))
    guide = model.agents["guide"]
    assert guide.driver == "builtin"
    assert guide.model is not None
    assert guide.model.base_url == "http://127.0.0.1:11434/v1"
    other = parse_config(_json_of(advice.AGENT_CONFIG), Path("groupx.json"))
    assert other.agents["gemini"].driver == "acp"
    assert set(other.agents) == {"guide", "gemini"}


def test_help_names_every_command() -> None:
    text = advice.help_text()
    for command in COMMANDS:
        assert f"`{command.usage}`" in text


def test_an_unknown_command_is_shown_safely() -> None:
    text = advice.unknown_command("x\x1b[31m" + "y" * 500)
    assert "\x1b" not in text
    assert len(text) < 200
