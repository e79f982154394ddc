"""The runtime file: private, atomic, and refused when it is not private."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from groupx_shared.errors import ServerUnreachableError, WorkspaceError
from groupx_shared.paths import private_folder
from groupx_shared.runtime import (
    RuntimeFile,
    new_token,
    read_runtime,
    remove_runtime,
    runtime_path,
    write_runtime,
)
from groupx_shared.workspace import default_workspace


def _runtime(pid: int = 1) -> RuntimeFile:
    return RuntimeFile("http://127.0.0.1:1", new_token(), pid, "a" * 64, "b" * 64, "1", "t", "l")


def test_it_is_read_as_it_was_written_and_private() -> None:
    workspace = default_workspace()
    written = _runtime()
    path = write_runtime(workspace, written)
    assert read_runtime(workspace) == written
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o077 == 0


def test_no_file_means_no_server() -> None:
    assert read_runtime(default_workspace()) is None


def test_a_token_file_that_others_can_read_is_refused_with_the_remedy() -> None:
    path = write_runtime(default_workspace(), _runtime())
    path.chmod(0o644)
    with pytest.raises(WorkspaceError, match="chmod 600"):
        read_runtime(default_workspace())


@pytest.mark.parametrize("text", ["", "{", "[]", '{"url": 1}'])
def test_a_damaged_file_is_named(text: str) -> None:
    path = write_runtime(default_workspace(), _runtime())
    path.write_text(text)
    with pytest.raises(ServerUnreachableError, match="groupx restart"):
        read_runtime(default_workspace())


def test_only_the_owner_of_a_file_removes_it() -> None:
    workspace = default_workspace()
    write_runtime(workspace, _runtime(pid=7))
    remove_runtime(workspace, pid=8)
    assert runtime_path(workspace).exists()
    remove_runtime(workspace, pid=7)
    assert not runtime_path(workspace).exists()


def test_a_folder_that_cannot_be_made_is_an_error_with_the_remedy(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    with pytest.raises(WorkspaceError, match="GROUPX_HOME"):
        private_folder(blocker / "folder")


def test_a_full_or_read_only_folder_leaves_no_half_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(WorkspaceError, match="No space left"):
        write_runtime(default_workspace(), _runtime())
    assert list(runtime_path(default_workspace()).parent.iterdir()) == []


def test_tokens_are_long_and_never_the_same() -> None:
    assert len({new_token() for _ in range(50)}) == 50
    assert len(new_token()) >= 43
