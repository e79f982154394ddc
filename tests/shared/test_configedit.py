"""The config file is changed without harm, or not at all."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groupx_shared import configedit
from groupx_shared.config import load_config, parse_config
from groupx_shared.configedit import (
    add_agent,
    change_config,
    remove_agent,
    set_agent,
    unset_agent,
)
from groupx_shared.errors import ConfigError, GroupXError, RefusedError, WorkspaceError
from groupx_shared.workspace import Workspace, default_workspace, find_workspace

TEXT = """{
  "agents": {
    "guide": { "driver": "builtin" },
    "kimi": { "driver": "kimi", "options": {"mode_id": "yolo", "settle_s": 1e-1} }
  },
  "defaultAgent": "kimi"
}
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "groupx.json").write_text(TEXT)
    return find_workspace(tmp_path)


def files(workspace: Workspace) -> list[str]:
    return sorted(path.name for path in workspace.root.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_an_agent_is_added_and_the_rest_stays_as_it_is(workspace: Workspace) -> None:
    config = change_config(workspace, add_agent("gem", {"driver": "gemini"}))
    assert list(config.agents) == ["guide", "kimi", "gem"]
    added = ',\n    "gem": {"driver": "gemini"}\n  },'
    assert workspace.config_path.read_text() == TEXT.replace("\n  },", added)
    backup = workspace.config_path.with_name("groupx.json.bak")
    assert backup.read_text() == TEXT
    assert (mode(workspace.config_path), mode(backup)) == (0o600, 0o600)
    assert files(workspace) == ["groupx.json", "groupx.json.bak"]


def test_the_default_workspace_gets_a_file_and_keeps_its_guide() -> None:
    workspace = default_workspace()
    assert not workspace.config_path.exists()
    change_config(workspace, add_agent("kimi", {"driver": "kimi"}))
    assert list(load_config(workspace).agents) == ["guide", "kimi"]
    assert mode(workspace.config_path) == 0o600


def test_a_file_without_a_roster_keeps_the_guide_it_implied(workspace: Workspace) -> None:
    workspace.config_path.write_text('{"limits": {"hopCount": 3}}')
    config = change_config(workspace, add_agent("kimi", {"driver": "kimi"}))
    assert (list(config.agents), config.limits.hop_count) == (["guide", "kimi"], 3)


def test_a_removed_agent_is_not_the_default_any_more(workspace: Workspace) -> None:
    config = change_config(workspace, remove_agent("kimi"))
    assert (list(config.agents), config.default_agent) == (["guide"], None)


def test_a_setting_is_set_and_taken_back(workspace: Workspace) -> None:
    change_config(workspace, set_agent("kimi", ["env", "KEY"], "x=y"))
    assert load_config(workspace).agents["kimi"].env == {"KEY": "x=y"}
    change_config(workspace, unset_agent("kimi", ["env"]))
    assert workspace.config_path.read_text() == TEXT


@pytest.mark.parametrize(
    "change",
    [
        add_agent("kimi", {}),
        add_agent("no spaces", {}),
        add_agent("assistant", {}),
        remove_agent("kimmi"),
        set_agent("kimmi", ["name"], "x"),
        set_agent("kimi", ["nmae"], "x"),
        set_agent("kimi", ["enabled"], "maybe"),
        set_agent("kimi", ["driver", "x"], "y"),
        set_agent("kimi", ["name"], "\udcff"),
    ],
)
def test_what_cannot_be_leaves_the_file_untouched(
    workspace: Workspace, change: configedit.Change
) -> None:
    with pytest.raises((RefusedError, ConfigError)):
        change_config(workspace, change)
    assert workspace.config_path.read_text() == TEXT
    assert files(workspace) == ["groupx.json"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"agnets": {}}',
        '{"agents": {"a": {"driver": "acp"}, "a": {"driver": "kimi"}}}',
        '{"agents": {"a": {"enabled": "yes"}}}',
        "[" * 100_000,
    ],
)
def test_a_file_with_an_error_is_refused_and_left_alone(workspace: Workspace, text: str) -> None:
    workspace.config_path.write_text(text)
    with pytest.raises(ConfigError, match=r"groupx\.json"):
        change_config(workspace, add_agent("b", {}))
    assert workspace.config_path.read_text() == text


def test_nothing_is_written_when_nothing_changes(workspace: Workspace) -> None:
    before = workspace.config_path.stat()
    change_config(workspace, unset_agent("kimi", ["cwd"]))
    assert workspace.config_path.stat() == before
    assert files(workspace) == ["groupx.json"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_the_file_keeps_its_encoding(workspace: Workspace, encoding: str) -> None:
    workspace.config_path.write_bytes(TEXT.encode(encoding))
    change_config(workspace, set_agent("kimi", ["name"], "Küme"))
    assert json.loads(workspace.config_path.read_bytes())["agents"]["kimi"]["name"] == "Küme"
    assert workspace.config_path.read_bytes()[:2] == TEXT.encode(encoding)[:2]


def test_a_link_to_the_file_stays_a_link(workspace: Workspace, tmp_path: Path) -> None:
    home = default_workspace()
    home.root.mkdir(parents=True)
    home.config_path.symlink_to(workspace.config_path)
    change_config(home, add_agent("gem", {"driver": "gemini"}))
    assert home.config_path.is_symlink()
    assert "gem" in load_config(workspace).agents


def test_a_folder_that_cannot_be_written_is_said(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(WorkspaceError, match="No space left on device"):
        change_config(workspace, add_agent("gem", {"driver": "gemini"}))
    assert workspace.config_path.read_text() == TEXT
    assert files(workspace) == ["groupx.json"]


def test_changes_at_the_same_time_are_all_kept(workspace: Workspace) -> None:
    names = [f"a{number}" for number in range(12)]

    def add(name: str) -> None:
        change_config(workspace, add_agent(name, {"driver": "kimi"}))

    threads = [threading.Thread(target=add, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert set(load_config(workspace).agents) == {"guide", "kimi", *names}


def test_a_change_that_hangs_does_not_hold_up_others_for_ever(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configedit, "LOCK_S", 0.05)
    with configedit._lock(workspace), pytest.raises(WorkspaceError, match="Another program"):
        change_config(workspace, remove_agent("kimi"))


AGENT: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"driver": st.sampled_from(["acp", "kimi", "builtin"])},
    optional={
        "name": st.text(min_size=1, max_size=8),
        "identity": st.text(max_size=20),
        "cwd": st.text(max_size=8),
        "enabled": st.booleans(),
        "env": st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=3),
        "options": st.dictionaries(st.text(max_size=4), st.integers() | st.text(), max_size=3),
        "command": st.text(min_size=1, max_size=8),
        "unknown": st.integers(),
    },
)
CONFIGS = st.fixed_dictionaries(
    {},
    optional={
        "agents": st.dictionaries(st.sampled_from(["a", "b", "c", "d e"]), AGENT, max_size=3),
        "defaultAgent": st.sampled_from(["a", "b", "x"]),
        "limits": st.just({"hopCount": 5}),
        "extra": st.integers(),
    },
)
CHANGES = st.one_of(
    st.builds(add_agent, st.sampled_from(["a", "b", "n", "-"]), AGENT),
    st.builds(remove_agent, st.sampled_from(["a", "b", "guide", "x"])),
    st.builds(
        set_agent,
        st.sampled_from(["a", "guide"]),
        st.sampled_from([["name"], ["env", "K"], ["options", "x"], ["enabled"], ["nope"]]),
        st.text(max_size=5) | st.booleans(),
    ),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CONFIGS, CHANGES, st.sampled_from([None, 2, "\t"]))
def test_no_key_is_ever_lost_and_the_file_is_valid_or_untouched(
    workspace: Workspace, document: dict[str, Any], change: configedit.Change, indent: Any
) -> None:
    text = json.dumps(document, indent=indent)
    workspace.config_path.write_text(text)
    try:
        change_config(workspace, change)
    except GroupXError:
        assert workspace.config_path.read_text() == text
        return
    after = json.loads(workspace.config_path.read_text())
    parse_config(workspace.config_path.read_bytes(), workspace.config_path)
    untouched = {key: value for key, value in document.items() if key not in ("agents",)}
    untouched.pop("defaultAgent", None)
    assert untouched.items() <= after.items()
    before = document.get("agents", {"guide": {"driver": "builtin", "name": "Guide"}})
    assert len(before.keys() ^ after["agents"].keys()) <= 1
    changed = [k for k in before if k in after["agents"] and before[k] != after["agents"][k]]
    assert len(changed) <= 1
    assert all(before[k].keys() <= after["agents"][k].keys() for k in changed)
