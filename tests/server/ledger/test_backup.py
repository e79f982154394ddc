"""Copies of a ledger in use: whole, private, under their name only when complete."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from groupx_server.ledger import backup as backup_module
from groupx_server.ledger.backup import copy_online
from groupx_server.ledger.copycheck import Facts
from groupx_shared.errors import ErrorCode, LedgerCorruptError, LedgerError
from support.ledgers import names_in, opened


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.db"
    with opened(path) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE t(n, filler)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", ((n, "x" * 500) for n in range(500)))
        connection.commit()
    return path


def files(folder: Path) -> set[str]:
    """Databases in the folder; reading one in WAL mode leaves an empty journal beside it."""
    return {name for name in names_in(folder) if not name.endswith(("-wal", "-shm"))}


def count(path: Path) -> int:
    with opened(path) as connection:
        (number,) = connection.execute("SELECT count(*) FROM t").fetchone()
        return int(number)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:8192])


def _delete_a_row(path: Path) -> None:
    with opened(path) as connection:
        connection.execute("DELETE FROM t WHERE n = 7")
        connection.commit()


def test_copy_holds_every_row_in_one_private_file(tmp_path: Path, source: Path) -> None:
    target = tmp_path / "copy.db"
    copy_online(source, target, pages_per_step=3)
    assert count(target) == 500
    assert target.stat().st_mode & 0o777 == 0o600
    assert files(tmp_path) == {"source.db", "copy.db"}
    with opened(target) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_copy_is_of_one_moment_while_writing_goes_on(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(source) as writer:
        steps = 0

        def write_between(point: str) -> None:
            nonlocal steps
            if point != "backup.mid":
                return
            steps += 1
            writer.execute("INSERT INTO t VALUES (-1, '')")
            writer.execute("DELETE FROM t WHERE n = ?", (steps,))
            writer.commit()

        monkeypatch.setattr(backup_module, "failpoint", write_between)
        copy_online(source, tmp_path / "copy.db", pages_per_step=10)
        (pages,) = writer.execute("PRAGMA page_count").fetchone()
    assert 3 < steps <= pages // 10 + 2  # never started again
    with opened(tmp_path / "copy.db") as connection:
        assert connection.execute("SELECT count(*), min(n) FROM t").fetchone() == (500, 0)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_copy_holds_what_is_only_in_the_wal(tmp_path: Path, source: Path) -> None:
    with opened(source) as writer:
        writer.execute("INSERT INTO t VALUES (500, '')")
        writer.commit()
        assert source.with_name("source.db-wal").stat().st_size > 0
        copy_online(source, tmp_path / "copy.db")
    assert count(tmp_path / "copy.db") == 501


def test_copy_of_an_open_connection(tmp_path: Path, source: Path) -> None:
    with closing(sqlite3.connect(source, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")
        copy_online(connection, tmp_path / "copy.db")
        assert not connection.in_transaction
    assert count(tmp_path / "copy.db") == 500


def test_existing_file_is_never_replaced(tmp_path: Path, source: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("precious")
    with pytest.raises(LedgerError, match="exists already"):
        copy_online(source, target)
    assert target.read_text() == "precious"


def test_file_that_appears_during_the_copy_is_never_replaced(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "copy.db"
    monkeypatch.setattr(backup_module, "failpoint", lambda _: target.write_text("precious"))
    with pytest.raises(LedgerError, match="exists already"):
        copy_online(source, target)
    assert target.read_text() == "precious"
    assert files(tmp_path) == {"source.db", "copy.db"}


def test_file_system_without_links_gets_its_copy(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    copy_online(source, tmp_path / "copy.db")
    assert count(tmp_path / "copy.db") == 500
    assert files(tmp_path) == {"source.db", "copy.db"}


def test_failed_copy_leaves_nothing(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(backup_module, "failpoint", full)
    with pytest.raises(LedgerError, match=r"write the backup .*copy\.db: the disk is full"):
        copy_online(source, tmp_path / "copy.db")
    assert files(tmp_path) == {"source.db"}


def test_missing_folder_is_named(tmp_path: Path, source: Path) -> None:
    with pytest.raises(LedgerError, match="its folder does not exist"):
        copy_online(source, tmp_path / "nowhere" / "copy.db")


def test_damaged_source_is_named_not_the_copy(tmp_path: Path, source: Path) -> None:
    with opened(source) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    source.write_bytes(source.read_bytes()[:8192])
    with pytest.raises(LedgerCorruptError, match=r"source\.db is damaged"):
        copy_online(source, tmp_path / "copy.db")
    assert files(tmp_path) == {"source.db"}


def test_missing_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"no\.db cannot be opened"):
        copy_online(tmp_path / "no.db", tmp_path / "copy.db")


def test_the_copy_is_given_up_when_it_is_not_wanted_any_more(tmp_path: Path, source: Path) -> None:
    answers = iter([True, True, False])
    with pytest.raises(LedgerError) as given_up:
        copy_online(source, tmp_path / "copy.db", 3, keep_going=lambda: next(answers, False))
    assert given_up.value.code is ErrorCode.SHUTTING_DOWN
    assert files(tmp_path) == {"source.db"}


def test_a_value_can_be_changed_in_the_copy_alone(tmp_path: Path, source: Path) -> None:
    def edit(copy: sqlite3.Connection) -> None:
        copy.execute("UPDATE t SET filler = 'changed' WHERE n = 0")

    copy_online(source, tmp_path / "copy.db", edit=edit)
    for path, expected in ((source, "x" * 500), (tmp_path / "copy.db", "changed")):
        with opened(path) as connection:
            query = "SELECT filler FROM t WHERE n = 0"
            assert connection.execute(query).fetchone() == (expected,)


def test_the_copy_says_what_it_holds(tmp_path: Path, source: Path) -> None:
    assert copy_online(source, tmp_path / "copy.db") == Facts(0, {"t": 500})


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (_cut, "does not pass SQLite's check"),
        (_delete_a_row, "does not hold what the original holds"),
    ],
)
def test_a_copy_that_went_wrong_is_thrown_away(
    tmp_path: Path,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Path], None],
    sentence: str,
) -> None:
    def harm(reached: str) -> None:
        if reached == "backup.before_check":
            (part,) = tmp_path.glob(".copy.db.*.part")
            damage(part)

    monkeypatch.setattr(backup_module, "failpoint", harm)
    with pytest.raises(LedgerCorruptError, match=sentence):
        copy_online(source, tmp_path / "copy.db")
    assert files(tmp_path) == {"source.db"}
