"""Ends of files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_shared.workspace import Workspace
from groupx_tui.cli import logfiles
from groupx_tui.cli.logfiles import last_lines

LINES = st.lists(st.text(st.characters(exclude_characters="\n", codec="utf-8")), max_size=20)


@pytest.mark.slow
@settings(max_examples=50)
@given(lines=LINES, count=st.integers(1, 25), block=st.integers(1, 50))
def test_the_last_lines_are_those_of_the_whole_file(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], count: int, block: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.log"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logfiles, "BLOCK", block)
        assert last_lines(path, count) == lines[-count:]


def test_nothing_from_before_a_place(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_text("old\nnew\nlast")
    assert last_lines(path, 9, since=4) == ["new", "last"]
    assert last_lines(path, 9, since=12) == []
    assert last_lines(path, 0) == []


def test_logs_are_in_the_data_folder(workspace: Workspace) -> None:
    folder = workspace.data_folder / "logs"
    assert logfiles.server_log(workspace) == folder / "server.log"
    assert logfiles.start_log(workspace) == folder / "start.log"
