"""The repository speaks of itself alone, and its lock files name no host."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOP_FOLDERS = {"groupx_tui", "groupx_server", "shared", "themes", "tests", "docs", ".ci"}


def _tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=30
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def test_top_level_folders_are_the_agreed_ones() -> None:
    folders = {p.relative_to(ROOT).parts[0] for p in _tracked() if p.parent != ROOT}
    assert folders <= TOP_FOLDERS


def test_requirements_are_pinned_with_hashes_and_name_no_host() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        text = (ROOT / name).read_text("utf-8")
        assert "--hash=sha256:" in text
        assert "://" not in text
        pinned = re.findall(r"^[A-Za-z0-9_.-]+(\[.*\])?==", text, re.MULTILINE)
        assert len(pinned) > 20


def test_no_lock_file_with_addresses_is_kept() -> None:
    assert not [p for p in _tracked() if p.name in ("uv.lock", "poetry.lock", "package-lock.json")]
