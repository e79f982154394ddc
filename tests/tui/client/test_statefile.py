"""A state file is replaced whole, private, and never in anybody's way."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from groupx_tui.client import statefile
from groupx_tui.client.statefile import StateFile


@pytest.fixture
def file(tmp_path: Path) -> StateFile:
    return StateFile(tmp_path / "folder" / "state.json", "Notes")


def test_what_is_written_is_read_and_nothing_else_is_left(file: StateFile) -> None:
    assert file.read() == {}
    assert file.write({"a": "half \udc80"})
    assert file.read() == {"a": "half \udc80"}
    assert [path.name for path in file.path.parent.iterdir()] == ["state.json"]
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.path.parent.stat().st_mode & 0o077 == 0
    assert file.problem is None


@pytest.mark.parametrize("content", [b"{half", b"[1]", b"\xff\xfe", b"", b"[" * 100_000])
def test_what_cannot_be_understood_is_set_aside(file: StateFile, content: bytes) -> None:
    file.path.parent.mkdir()
    file.path.write_bytes(content)
    assert file.read() == {}
    assert file.path.with_suffix(".damaged.json").read_bytes() == content
    assert file.problem is not None
    assert "Notes could not be understood; they were moved to" in file.problem


def test_a_file_that_is_too_large_is_set_aside(file: StateFile) -> None:
    file.write({"a": "x" * 100})
    with patch.object(statefile, "MAX_FILE_BYTES", 50):
        assert file.read() == {}
    assert file.path.with_suffix(".damaged.json").exists()


def test_a_failed_write_keeps_the_old_object(file: StateFile) -> None:
    file.write({"a": 1})
    with patch.object(Path, "replace", side_effect=OSError("disk full")):
        assert not file.write({"a": 2})
    assert file.problem == "Notes cannot be kept: disk full."
    assert file.read() == {"a": 1}
    assert len(list(file.path.parent.iterdir())) == 1
