"""Which automatic backups are kept: by count, by age, and never none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.portability.rotation import (
    Backup,
    Policy,
    backup_path,
    leftovers,
    list_backups,
    surplus,
)

NOW = datetime(2026, 1, 31, 9, 15, tzinfo=UTC)
DATABASE = Path("/data/groupx.db")


def made(*days_ago: float) -> list[Backup]:
    moments = [NOW - timedelta(days=days) for days in days_ago]
    return [Backup(backup_path(DATABASE, Path("/b"), moment), moment) for moment in moments]


def test_the_name_tells_when_it_was_made(tmp_path: Path) -> None:
    path = backup_path(DATABASE, tmp_path, NOW)
    assert path.name == "groupx-20260131-091500.bak.db"
    path.touch()
    assert list_backups(DATABASE, tmp_path) == [Backup(path, NOW)]


def test_the_newest_comes_first(tmp_path: Path) -> None:
    for days in (3, 1, 2):
        backup_path(DATABASE, tmp_path, NOW - timedelta(days=days)).touch()
    found = list_backups(DATABASE, tmp_path)
    assert [backup.made_at.day for backup in found] == [30, 29, 28]


@pytest.mark.parametrize(
    "name",
    [
        "groupx-20260131-091500.db",
        "groupx-20260131-091500-2.bak.db",
        "groupx-20261331-091500.bak.db",
        "groupx.v9-20260131-091500.bak.db",
        "other-20260131-091500.bak.db",
        "groupx-my own copy.bak.db",
        ".groupx-20260131-091500.bak.db.1f.part",
    ],
)
def test_files_of_others_are_no_backups(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert list_backups(DATABASE, tmp_path) == []


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert list_backups(DATABASE, tmp_path / "no") == []
    assert leftovers(DATABASE, tmp_path / "no") == []


def test_only_unfinished_copies_of_our_own_are_leftovers(tmp_path: Path) -> None:
    ours = tmp_path / ".groupx-20260131-091500.bak.db.1f2e3d4c.part"
    for path in (ours, tmp_path / ".mine.bak.db.1f2e3d4c.part", tmp_path / "x.part"):
        path.touch()
    assert leftovers(DATABASE, tmp_path) == [ours]


@pytest.mark.parametrize(
    ("ages", "keep", "max_days", "kept"),
    [
        ([0, 1, 2, 3], 2, 30, [0, 1]),
        ([0, 10, 20, 31], 7, 30, [0, 10, 20]),
        ([40, 50], 7, 30, [40]),
        ([0], 1, 1, [0]),
        ([], 3, 30, []),
    ],
)
def test_too_many_and_too_old_ones_go_but_never_the_newest(
    ages: list[float], keep: int, max_days: int, kept: list[float]
) -> None:
    backups = made(*ages)
    gone = surplus(backups, Policy(keep, timedelta(days=max_days)), NOW)
    assert [b for b in backups if b not in gone] == made(*kept)


@given(st.lists(st.integers(0, 400), unique=True), st.integers(1, 50), st.integers(1, 400))
def test_whatever_the_policy_the_newest_stays_and_the_rest_obeys_it(
    ages: list[int], keep: int, max_days: int
) -> None:
    backups = made(*sorted(ages))
    gone = surplus(backups, Policy(keep, timedelta(days=max_days)), NOW)
    kept = [backup for backup in backups if backup not in gone]
    assert kept[:1] == backups[:1]
    assert len(kept) <= keep
    assert all(NOW - backup.made_at <= timedelta(days=max_days) for backup in kept[1:])
