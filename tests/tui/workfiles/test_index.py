"""Which files come in: bounded, without what is ignored, hidden or dangerous."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from groupx_tui.workfiles import index
from groupx_tui.workfiles.index import FRESH_S, WorkFiles


def write(folder: Path, *paths: str, text: str = "") -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")


def test_files_come_level_by_level_without_what_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "z.md", "src/app.py", "src/deep/x.py", ".env", ".github/ci.yml")
    write(tmp_path, "node_modules/a.js", "src/__pycache__/a.pyc", ".cache/x", ".git/config")
    write(tmp_path, "a.log", "build/out", "src/keep.log")
    write(tmp_path, ".gitignore", text="*.log\nbuild/\n")
    write(tmp_path, "src/.gitignore", text="!keep.log\n")
    assert WorkFiles(tmp_path).scan() == (
        ".env",
        ".gitignore",
        "z.md",
        ".github/ci.yml",
        "src/.gitignore",
        "src/app.py",
        "src/keep.log",
        "src/deep/x.py",
    )


def test_ignore_files_of_the_repository_above_count(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, ".gitignore", text="/part/gen\n")
    write(tmp_path, "part/gen/x.py", "part/y.py")
    assert WorkFiles(tmp_path / "part").scan() == ("y.py",)


def test_names_that_could_not_be_drawn_do_not_come_in(tmp_path: Path) -> None:
    write(tmp_path, "ok.md", "new\nline.md", "esc\x1b[2J.md", "rtl\u202e.md")
    os.close(os.open(os.fsencode(tmp_path) + b"/bad\xff.md", os.O_CREAT))
    assert WorkFiles(tmp_path).scan() == ("ok.md",)


def test_links_are_not_followed_and_what_cannot_be_read_is_skipped(tmp_path: Path) -> None:
    write(tmp_path, "in/a.md", "closed/b.md")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "out.md").symlink_to("/etc/passwd")
    (tmp_path / "closed").chmod(0)
    try:
        found = WorkFiles(tmp_path).scan()
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert "in/a.md" in found
    assert not any(path.startswith(("loop", "out")) for path in found)


def test_there_is_an_end_to_files_to_depth_and_to_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, *(f"{number}.md" for number in range(20)), "a/b/c/d.md")
    monkeypatch.setattr(index, "MAX_FILES", 7)
    assert len(WorkFiles(tmp_path).scan()) == 7
    monkeypatch.setattr(index, "MAX_FILES", 1_000)
    monkeypatch.setattr(index, "MAX_DEPTH", 2)
    assert "a/b/c/d.md" not in WorkFiles(tmp_path).scan()
    ticks = iter(range(100))
    slow = WorkFiles(tmp_path, monotonic=lambda: float(next(ticks)))
    assert 0 < len(slow.scan()) < 5


def test_without_a_folder_or_with_one_that_is_gone_there_is_nothing(tmp_path: Path) -> None:
    assert WorkFiles(None).scan() == ()
    assert not WorkFiles(None).is_stale
    assert WorkFiles(tmp_path / "gone").scan() == ()


def test_a_list_is_used_for_a_while() -> None:
    now = [100.0]
    files = WorkFiles(Path("/x"), monotonic=lambda: now[0])
    assert files.is_stale
    files.take(("a",))
    assert (files.paths, files.is_stale) == (("a",), False)
    now[0] += FRESH_S + 1
    assert files.is_stale
