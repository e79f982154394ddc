"""Ignore files say what git says."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_tui.workfiles.ignore import IgnoreFile, is_ignored

CASES = [
    ("*.log", "a.log", True),
    ("*.log", "x/y/a.log", True),
    ("*.log\n!keep.log", "x/keep.log", False),
    ("/build", "build", True),
    ("/build", "x/build", False),
    ("build/", "build", True),
    ("docs/*.md", "docs/a.md", True),
    ("docs/*.md", "docs/x/a.md", False),
    ("**/tmp", "a/b/tmp", True),
    ("a/**/b", "a/b", True),
    ("a/**/b", "a/x/y/b", True),
    ("a/**", "a/x", True),
    ("a/**", "a", False),
    ("[a-c]?.txt", "b1.txt", True),
    ("[!a-c]?.txt", "b1.txt", False),
    ("[]x].txt", "].txt", True),
    (r"\#a", "#a", True),
    (r"\!a", "!a", True),
    ("# a", "# a", False),
    ("name  ", "name", True),
    ("name\\ ", "name ", True),
    ("", "x", False),
    ("/", "x", False),
    ("[unclosed", "[unclosed", True),
    ("*", "anything", True),
    ("a*b*c", "aXXbYYc", True),
    ("a*b*c", "aXXcYYb", False),
]


@pytest.mark.parametrize(("text", "path", "is_so"), CASES)
def test_patterns_mean_what_they_mean_in_git(text: str, path: str, is_so: bool) -> None:
    assert is_ignored([IgnoreFile(text)], path, is_folder="/" in text[-1:]) is is_so


def test_folder_patterns_leave_files_alone() -> None:
    assert IgnoreFile("build/").verdict("build", is_folder=False) is None


def test_a_file_that_is_nearer_decides() -> None:
    files = [IgnoreFile("!a.log", "sub"), IgnoreFile("*.log")]
    assert not is_ignored(files, "sub/a.log", is_folder=False)
    assert is_ignored(files, "a.log", is_folder=False)


def test_a_file_above_the_top_sees_the_whole_path() -> None:
    above = IgnoreFile("/src/gen", skipped="src/")
    assert is_ignored([above], "gen", is_folder=True)
    assert not is_ignored([above], "x/gen", is_folder=True)


def test_a_pattern_made_to_be_slow_is_not() -> None:
    text = "*a" * 200
    assert not is_ignored([IgnoreFile(text)], "a" * 199, is_folder=False)
    assert not is_ignored([IgnoreFile("**/a/" * 60 + "b")], "a/" * 140 + "c", is_folder=False)


names = st.text("ab.", min_size=1, max_size=3).filter(lambda name: name.strip("."))
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
lines = st.text("ab.*?/![]-", min_size=1, max_size=7).filter(
    lambda line: not re.search(r"\[[^\]]*/", line)  # a slash in a class: nobody writes that
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@settings(max_examples=60, deadline=None)
@given(patterns=st.lists(lines, min_size=1, max_size=3), path=paths)
def test_git_agrees(repository: Path, patterns: list[str], path: str) -> None:
    text = "\n".join(patterns)
    (repository / ".gitignore").write_text(f"{text}\n", "utf-8")
    asked = subprocess.run(
        ["git", "-C", str(repository), "check-ignore", "-q", "--no-index", path], check=False
    )
    files = [IgnoreFile(text)]
    names = path.split("/")
    above = ["/".join(names[:count]) for count in range(1, len(names))]
    ours = any(is_ignored(files, folder, is_folder=True) for folder in above)
    ours = ours or is_ignored(files, path, is_folder=False)
    assert ours is (asked.returncode == 0), (patterns, path)
