"""What a database file says of itself, read without opening it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.ledger.fileheader import FileState, NotADatabaseError, read_state
from support.ledgers import contents, opened


def test_missing_and_empty_files_do_not_exist(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    assert read_state(path) == FileState(False, 0, False, False)
    path.touch()
    assert read_state(path) == FileState(False, 0, False, False)


@settings(max_examples=40)
@given(version=st.integers(min_value=-(2**31), max_value=2**31 - 1))
def test_version_is_what_sqlite_wrote(
    tmp_path_factory: pytest.TempPathFactory, version: int
) -> None:
    path = tmp_path_factory.mktemp("header") / "t.db"
    with opened(path) as connection:
        connection.execute(f"PRAGMA user_version={version}")
    if version:
        assert read_state(path) == FileState(True, version, False, False)


@pytest.mark.parametrize("page_size", [512, 4096, 65536])
def test_version_that_is_only_in_the_wal_is_found(tmp_path: Path, page_size: int) -> None:
    path, left = tmp_path / "t.db", tmp_path / "left"
    left.mkdir()
    with opened(path) as connection:
        connection.execute(f"PRAGMA page_size={page_size}")
        connection.execute("PRAGMA user_version=3")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        for version in (7, 5):
            connection.execute("CREATE TABLE IF NOT EXISTS t(a)")
            connection.executemany("INSERT INTO t VALUES (?)", [("x" * 900,)] * 200)
            connection.execute(f"PRAGMA user_version={version}")
            connection.commit()
        shutil.copyfile(path, left / "t.db")
        shutil.copyfile(f"{path}-wal", left / "t.db-wal")
    before = contents(left)
    assert read_state(left / "t.db") == FileState(True, 7, True, False)
    assert contents(left) == before


def test_frames_of_an_earlier_round_of_the_wal_do_not_count(tmp_path: Path) -> None:
    path, wal = tmp_path / "t.db", tmp_path / "t.db-wal"
    with opened(path) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE t(a)")
        connection.executemany("INSERT INTO t VALUES (?)", [("x" * 900,)] * 50)
        connection.execute("PRAGMA user_version=9")
        connection.commit()
        connection.execute("PRAGMA user_version=2")
        connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
        connection.execute("PRAGMA user_version=3")  # the WAL begins anew, over the old frames
        assert wal.stat().st_size > 4096 * 10
        assert read_state(path) == FileState(True, 3, True, False)


def test_page_that_was_never_committed_does_not_count(tmp_path: Path) -> None:
    path, wal = tmp_path / "t.db", tmp_path / "t.db-wal"
    with opened(path) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA user_version=3")
        frames = bytearray(wal.read_bytes())
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.execute("PRAGMA user_version=2")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    frames[32 + 4 : 32 + 8] = bytes(4)  # the frame's “size after commit”: none
    wal.write_bytes(frames)
    assert read_state(path).version == 2


@settings(max_examples=40)
@given(data=st.binary(max_size=300))
def test_any_bytes_are_a_state_or_no_database(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("bytes") / "t.db"
    path.write_bytes(data)
    if not data:
        assert not read_state(path).exists
        return
    with pytest.raises(NotADatabaseError):
        read_state(path)


@settings(max_examples=40)
@given(data=st.binary(max_size=400), has_magic=st.booleans())
def test_any_bytes_as_a_wal_do_no_harm(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, has_magic: bool
) -> None:
    path = tmp_path_factory.mktemp("wal") / "t.db"
    with opened(path) as connection:
        connection.execute("PRAGMA user_version=4")
    magic = bytes.fromhex("377f0682") if has_magic else b""
    path.with_name("t.db-wal").write_bytes(magic + data)
    assert read_state(path).version >= 4


def test_journal_beside_the_file_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with opened(path) as connection:
        connection.execute("PRAGMA user_version=4")
    path.with_name("t.db-journal").write_bytes(b"x")
    assert read_state(path) == FileState(True, 4, False, True)


def test_folder_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_state(tmp_path)
