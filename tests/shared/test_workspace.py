"""Which workspace a command means."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupx_shared.errors import ConfigError
from groupx_shared.workspace import default_workspace, find_workspace


def test_a_config_file_upward_from_the_current_folder_is_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "groupx.json").write_text("{}")
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    workspace = find_workspace(None, cwd=deep)
    assert workspace.config_path == (tmp_path / "groupx.json").resolve()
    assert workspace.data_folder == tmp_path.resolve() / ".groupx"
    assert not workspace.is_default


def test_without_a_file_the_default_workspace_is_used(tmp_path: Path) -> None:
    workspace = find_workspace(None, cwd=tmp_path)
    assert workspace == default_workspace()
    assert workspace.is_default
    assert workspace.data_folder == workspace.config_path.parent


def test_a_named_folder_or_file_is_taken(tmp_path: Path) -> None:
    (tmp_path / "groupx.json").write_text("{}")
    assert find_workspace(tmp_path) == find_workspace(tmp_path / "groupx.json")


def test_a_named_file_that_is_not_there_is_an_error_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="groupx init"):
        find_workspace(tmp_path / "none.json")


def test_the_scope_key_follows_the_canonical_path(tmp_path: Path) -> None:
    (tmp_path / "groupx.json").write_text("{}")
    link = tmp_path.parent / f"{tmp_path.name}-link"
    link.symlink_to(tmp_path)
    one, other = find_workspace(tmp_path), find_workspace(link)
    assert one.scope_key == other.scope_key
    assert len(one.scope_key) == 64
    assert one.scope_key != default_workspace().scope_key
