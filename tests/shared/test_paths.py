"""Folders of the machine: as platformdirs says, and private."""

from __future__ import annotations

import stat
from pathlib import Path

import platformdirs
import pytest

from groupx_shared import paths
from groupx_shared.errors import WorkspaceError


@pytest.mark.parametrize("home", ["/home/someone", "relative", "", None])
@pytest.mark.parametrize("base", [None, "", "/srv/x", "/srv/x/", "relative"])
def test_user_folders_are_those_of_platformdirs(
    monkeypatch: pytest.MonkeyPatch, home: str | None, base: str | None
) -> None:
    monkeypatch.delenv("GROUPX_HOME")
    for name, value in {
        "HOME": home,
        **dict.fromkeys(["XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"], base),
    }.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    assert paths.user_data_folder() == platformdirs.user_data_path("groupx", appauthor=False)
    state = platformdirs.user_state_path("groupx", appauthor=False)
    assert paths.user_state_folder() == state
    assert paths.user_runtime_folder() == state / "run"
    config = platformdirs.user_config_path("groupx", appauthor=False)
    assert paths.user_themes_folder() == config / "themes"


def test_one_variable_replaces_all_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GROUPX_HOME", str(tmp_path))
    assert paths.user_data_folder() == tmp_path / "data"
    assert paths.user_runtime_folder() == tmp_path / "state" / "run"


def test_a_private_folder_is_made_for_this_user_only(tmp_path: Path) -> None:
    made = paths.private_folder(tmp_path / "a" / "b")
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match="GROUPX_HOME"):
        paths.private_folder(tmp_path / "file" / "b")
