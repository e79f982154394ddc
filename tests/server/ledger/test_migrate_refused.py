"""Files that are refused: newer, foreign, damaged, out of reach. Each stays as it was."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from groupx_server.ledger import connection as connections
from groupx_server.ledger.migrate import prepare
from groupx_shared.errors import (
    LedgerBusyError,
    LedgerCorruptError,
    LedgerError,
    LedgerTooNewError,
)
from ledger_files.build import file_of
from support.ledgers import NEWEST, contents, fixed_now, killed_with_wal, old_file, opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger of this version."""
    path = tmp_path / "groupx.db"
    prepare(path, now=fixed_now)
    return path


def make_newer(path: Path, journal_mode: str) -> None:
    with opened(path) as connection:
        connection.execute(f"PRAGMA journal_mode={journal_mode}")
        connection.execute(f"PRAGMA user_version={NEWEST + 1}")
        connection.commit()


@pytest.mark.parametrize("journal_mode", ["DELETE", "WAL"])
def test_newer_file_is_refused_and_not_a_byte_of_it_changes(path: Path, journal_mode: str) -> None:
    make_newer(path, journal_mode)
    path.chmod(0o644)
    before = contents(path.parent)
    with pytest.raises(LedgerTooNewError) as refused:
        prepare(path, now=fixed_now)
    assert contents(path.parent) == before
    assert path.stat().st_mode & 0o777 == 0o644
    assert refused.value.details == {"found": NEWEST + 1, "supported": NEWEST}
    assert "update GroupX" in refused.value.message


def test_file_whose_newer_version_is_only_in_its_journal_is_refused_untouched(
    path: Path, tmp_path: Path
) -> None:
    left = killed_with_wal(path, tmp_path / "left", "PRAGMA user_version=999")
    before = contents(left.parent)
    with pytest.raises(LedgerTooNewError):
        prepare(left, now=fixed_now)
    assert contents(left.parent) == before


@pytest.mark.parametrize("version", [0, 3, NEWEST])
def test_database_of_another_program_is_refused_untouched(tmp_path: Path, version: int) -> None:
    path = tmp_path / "places.db"
    with opened(path) as connection:
        connection.execute("CREATE TABLE bookmarks(url TEXT)")
        connection.execute("INSERT INTO bookmarks VALUES ('https://example.org')")
        connection.execute(f"PRAGMA user_version={version}")
        connection.commit()
    before = contents(tmp_path)
    with pytest.raises(LedgerError, match="not one of GroupX") as refused:
        prepare(path, now=fixed_now)
    assert type(refused.value) is LedgerError
    assert contents(tmp_path) == before


def test_half_done_change_of_another_program_is_undone_but_its_file_stays_its_own(
    tmp_path: Path,
) -> None:
    """SQLite can only read such a file after it has undone the change, as its owner would."""
    path, left = tmp_path / "places.db", tmp_path / "left"
    left.mkdir()
    with opened(path) as connection:
        connection.execute("CREATE TABLE bookmarks(url TEXT)")
        connection.execute("INSERT INTO bookmarks VALUES ('kept')")
        connection.commit()
        connection.execute("PRAGMA cache_size=1")
        connection.executemany("INSERT INTO bookmarks VALUES (?)", [("x" * 3000,)] * 50)
        for suffix in ("", "-journal"):
            shutil.copyfile(f"{path}{suffix}", left / f"places.db{suffix}")
    with pytest.raises(LedgerError, match="not one of GroupX"):
        prepare(left / "places.db", now=fixed_now)
    with opened(left / "places.db") as connection:
        assert connection.execute("SELECT url FROM bookmarks").fetchall() == [("kept",)]
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,)


@pytest.mark.parametrize(
    "data", [b"hello", b"SQLite format 3\x00", b"\x00" * 5000, b"SQLite format 2\x00" + b"x" * 200]
)
def test_file_that_is_no_database_is_refused_untouched(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "groupx.db"
    path.write_bytes(data)
    with pytest.raises(LedgerCorruptError, match="not a database"):
        prepare(path, now=fixed_now)
    assert contents(tmp_path) == {"groupx.db": data}


def test_sentence_about_damage_names_the_newest_backups(tmp_path: Path) -> None:
    path = tmp_path / "groupx.db"
    path.write_bytes(b"damaged")
    for name in (
        "groupx.v9-20250101-000000.bak.db",
        "groupx.v10-20250301-000000.bak.db",
        "groupx.v9-20250201-000000.bak.db",
        "groupx.v9-20250201-000000-2.bak.db",
        "groupx.v9-notes.txt",
        "other.v9-20260101-000000.bak.db",
    ):
        (tmp_path / name).touch()
    with pytest.raises(LedgerCorruptError) as refused:
        prepare(path, now=fixed_now)
    assert [Path(name).name for name in refused.value.details["backups"]] == [
        "groupx.v10-20250301-000000.bak.db",
        "groupx.v9-20250201-000000-2.bak.db",
        "groupx.v9-20250201-000000.bak.db",
        "groupx.v9-20250101-000000.bak.db",
    ]
    assert "move it aside" in refused.value.message
    assert "groupx.v10-20250301-000000.bak.db" in refused.value.message
    assert str(path) in refused.value.message


def test_truncated_ledger_is_refused_untouched(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)
    before = contents(path.parent)
    with pytest.raises(LedgerCorruptError):
        prepare(path, now=fixed_now)
    assert contents(path.parent) == before


def test_old_file_with_a_damaged_page_is_refused_before_anything_is_changed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "groupx.db"
    data = bytearray(file_of(9).read_bytes())
    for page in range(20, 60):
        data[page * 512 : page * 512 + 40] = b"\xff" * 40
    path.write_bytes(data)
    with pytest.raises(LedgerCorruptError):
        prepare(path, now=fixed_now)
    assert contents(tmp_path) == {"groupx.db": bytes(data)}


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
@pytest.mark.parametrize("is_empty_file", [True, False])
def test_journal_without_its_database_is_not_lost_under_a_new_one(
    tmp_path: Path, suffix: str, is_empty_file: bool
) -> None:
    path = tmp_path / "groupx.db"
    if is_empty_file:
        path.touch()
    (tmp_path / f"groupx.db{suffix}").write_bytes(b"the newest messages")
    before = contents(tmp_path)
    with pytest.raises(LedgerError, match=rf"its journal groupx\.db{suffix}"):
        prepare(path, now=fixed_now)
    assert contents(tmp_path) == before


def test_old_file_that_another_program_has_open_is_not_upgraded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "BUSY_TIMEOUT_MS", 10)
    path = old_file(tmp_path, 9)
    with opened(path) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("SELECT count(*) FROM events").fetchall()
        with pytest.raises(LedgerBusyError, match="Another program holds"):
            prepare(path, now=fixed_now)
        assert other.execute("PRAGMA user_version").fetchone() == (9,)
    assert list(tmp_path.glob("*.bak.db")) == []
    assert prepare(path, now=fixed_now).from_version == 9


def test_path_through_a_file_is_refused_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LedgerError, match="file, not a folder"):
        prepare(tmp_path / "file" / "groupx.db", now=fixed_now)


def test_folder_in_place_of_the_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "groupx.db").mkdir()
    with pytest.raises(LedgerError, match="it is a folder"):
        prepare(tmp_path / "groupx.db", now=fixed_now)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "permission denied"),
    ],
)
def test_folder_that_takes_no_new_file_is_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, reason: str
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(LedgerError, match=reason) as refused:
        prepare(tmp_path / "groupx.db", now=fixed_now)
    assert str(tmp_path / "groupx.db") in refused.value.message
    monkeypatch.undo()
    assert contents(tmp_path) == {}


def test_disk_that_fills_up_during_the_copy_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = old_file(tmp_path, 9)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LedgerError, match="disk is full"):
        prepare(path, now=fixed_now)
    assert contents(tmp_path) == {"groupx.db": file_of(9).read_bytes()}


def test_too_old_sqlite_is_named_with_the_version_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(LedgerError, match=r"needs 3\.35\.0 or newer"):
        prepare(tmp_path / "groupx.db", now=fixed_now)
