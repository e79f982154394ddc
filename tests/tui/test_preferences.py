"""The window's choices: kept, and never in the way when they cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupx_shared.errors import WorkspaceError
from groupx_tui.preferences import PreferenceFile, Preferences


def test_a_choice_is_there_again(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    PreferenceFile(folder).choose(theme="nord")
    PreferenceFile(folder).load()
    again = PreferenceFile(folder)
    again.load()
    again.choose(panel=False)
    assert PreferenceFile(folder).load() == Preferences("nord", False)
    assert [path.name for path in folder.iterdir()] == ["window.json"]


def test_without_a_file_there_are_the_defaults(tmp_path: Path) -> None:
    assert PreferenceFile(tmp_path).load() == Preferences()


@pytest.mark.parametrize("text", ["{", "", "\x00"])
def test_a_damaged_file_costs_a_sentence_and_is_mended_by_the_next_choice(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "window.json").write_text(text)
    file = PreferenceFile(tmp_path)
    with pytest.raises(WorkspaceError, match="defaults are used"):
        file.load()
    file.choose(theme="mono")
    assert PreferenceFile(tmp_path).load().theme == "mono"


@pytest.mark.parametrize("text", ["[]", '{"theme": 5, "panel": "yes"}', '{"other": 1}'])
def test_what_is_not_understood_is_left_out(tmp_path: Path, text: str) -> None:
    (tmp_path / "window.json").write_text(text)
    assert PreferenceFile(tmp_path).load() == Preferences()


def test_a_choice_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    (folder / "window.json").mkdir()
    file = PreferenceFile(folder)
    with pytest.raises(WorkspaceError, match="cannot be kept"):
        file.choose(theme="nord")
    assert file.chosen.theme == "nord"
    assert [path.name for path in folder.iterdir()] == ["window.json"]
