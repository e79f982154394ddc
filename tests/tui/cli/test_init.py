"""`groupx init`."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from groupx_shared.config import load_config
from groupx_shared.settings import Config
from groupx_shared.workspace import find_workspace
from support.cli_run import Groupx


def test_it_makes_a_workspace_that_works(groupx: Groupx, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    result = groupx("init", str(folder))
    assert (result.code, result.out) == (0, f"{folder}/groupx.json\n")
    assert "docs/CONFIG.md" in result.err
    assert load_config(find_workspace(folder)) == Config()
    assert (folder / ".groupx" / ".gitignore").read_text() == "*\n"
    assert stat.S_IMODE((folder / ".groupx").stat().st_mode) == 0o700


def test_it_never_overwrites(groupx: Groupx, tmp_path: Path) -> None:
    result = groupx("init")
    assert (result.code, "left alone" in result.err) == (6, True)
    assert (tmp_path / "groupx.json").read_text() == "{}"


def test_an_earlier_data_folder_is_kept(groupx: Groupx, tmp_path: Path) -> None:
    (tmp_path / "groupx.json").unlink()
    (tmp_path / ".groupx").mkdir(mode=0o700)
    (tmp_path / ".groupx" / ".gitignore").write_text("mine")
    assert groupx("init").code == 0
    assert (tmp_path / ".groupx" / ".gitignore").read_text() == "mine"


def test_a_folder_that_is_not_there_is_a_usage_error(groupx: Groupx) -> None:
    assert groupx("init", "no/such").code == 2


def test_a_read_only_folder_is_named(
    groupx: Groupx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "groupx.json").unlink()
    monkeypatch.setattr("groupx_tui.cli.init.os.open", refuse)
    result = groupx("init")
    assert (result.code, "Permission denied" in result.err) == (3, True)
