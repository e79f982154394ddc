"""The config file: defaults, every error with file, key, expectation and the nearest key."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupx_shared.config import MAX_CONFIG_BYTES, load_config, parse_config, runtime_key
from groupx_shared.errors import ConfigError
from groupx_shared.settings import Config
from groupx_shared.workspace import find_workspace

PATH = Path("/somewhere/groupx.json")


def test_an_empty_object_is_the_defaults_with_the_guide() -> None:
    config = parse_config(b"{}", PATH)
    assert config == Config()
    assert config.agents["guide"].driver == "builtin"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"limit": {}}', "limit: no such key. Did you mean “limits”?"),
        (
            '{"agents": {"x": {"drivr": "acp"}}}',
            "agents.x.drivr: no such key. Did you mean “driver”",
        ),
        ('{"limits": {"queuePerAgnt": 3}}', "Did you mean “queuePerAgent”?"),
        ('{"server": {"port": "a"}}', 'server.port: Input should be a valid integer; found "a"'),
        ('{"server": {"host": "0.0.0.0"}}', "server.host"),
        ('{"agents": {"assistant": {}}}', "agents.assistant"),
        ('{"agents": {"bad id": {}}}', "agents.bad id"),
        ('{"defaultAgent": "gude"}', "did you mean “guide”?"),
        ('{"transport": "direct"}', "transport"),
        ('{"limits": {"queuePerAgent": 0}}', "limits.queuePerAgent"),
        ('{"server": {\n "port": }', "line 2"),
        ("[]", "expected one JSON object, found list"),
    ],
)
def test_an_error_names_file_key_and_what_was_expected(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_config(text.encode(), PATH)
    assert sentence in refused.value.message
    assert str(PATH) in refused.value.message or "agents." in sentence or "gude" in text


def test_a_file_that_is_far_too_large_is_refused() -> None:
    with pytest.raises(ConfigError, match="larger than 4 MiB"):
        parse_config(b" " * (MAX_CONFIG_BYTES + 1), PATH)


def test_bytes_that_are_no_text_are_an_error_and_not_a_crash() -> None:
    with pytest.raises(ConfigError, match="not valid JSON"):
        parse_config(b"\xff\xfe{}", PATH)


def test_a_config_of_the_earlier_program_is_read(tmp_path: Path) -> None:
    path = tmp_path / "groupx.json"
    path.write_text(
        '{"transport": "structured", "server": {"host": "127.0.0.1", "port": 4310},'
        ' "storage": {"path": ".groupx/groupx.db"}, "agents": {"codex": {"driver": "codex",'
        ' "command": {"executable": "node", "prefixArgs": ["cli.js"]}, "cwd": ".",'
        ' "enabled": true}}, "assistant": {"enabled": false, "name": "x", "brain":'
        ' {"driver": "claude"}}, "limits": {"messageCharacters": 131072}}'
    )
    config = load_config(find_workspace(path))
    assert config.server.port == 4310
    assert config.agents["codex"].command is not None


def test_the_runtime_key_follows_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "groupx.json"
    path.write_text("{}")
    workspace = find_workspace(path)
    first = runtime_key(workspace, load_config(workspace))
    path.write_text('{"limits": {"queuePerAgent": 5}}')
    assert runtime_key(workspace, load_config(workspace)) != first
    path.write_text("{ }")
    assert runtime_key(workspace, load_config(workspace)) == first
