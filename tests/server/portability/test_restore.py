"""A backup becomes a new ledger: never over a file, never from a damaged one, and by a new name."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupx_server.ledger.backup import copy_online
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.store import Ledger
from groupx_server.ledger.verify import find_violations
from groupx_server.portability.restore import restore
from groupx_shared.errors import LedgerCorruptError, LedgerError, LedgerTooNewError
from ledger_files.build import file_of
from support.ledgers import fixed_now, names_in, opened
from support.transactions import open_book, send


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    (tmp_path / "live").mkdir()
    book = open_book(tmp_path / "live")
    send(book, "kept")
    book.close()
    copy_online(tmp_path / "live" / "groupx.db", tmp_path / "kept.bak.db")
    return tmp_path / "kept.bak.db"


async def test_the_new_ledger_holds_what_the_backup_held_under_a_new_id(
    tmp_path: Path, backup: Path
) -> None:
    found = restore(backup, tmp_path / "new.db")
    assert found.contents is not None
    assert (found.contents.messages, found.contents.turns) == (1, {"queued": 1})
    assert (tmp_path / "new.db").stat().st_mode & 0o777 == 0o600
    async with await Ledger.open(tmp_path / "new.db") as ledger:
        assert ledger.ledger_id != found.contents.ledger_id
        assert ledger.last_seq == found.contents.last_seq
        assert await ledger.read(find_violations) == []
    with opened(backup) as book:
        (kept_id,) = book.execute(
            "SELECT value FROM ledger_meta WHERE key = 'ledger_id'"
        ).fetchone()
    assert kept_id == found.contents.ledger_id


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_nothing_is_ever_replaced(tmp_path: Path, backup: Path, suffix: str) -> None:
    precious = tmp_path / f"new.db{suffix}"
    precious.write_text("precious")
    with pytest.raises(LedgerError, match="exists already"):
        restore(backup, tmp_path / "new.db")
    assert precious.read_text() == "precious"
    assert names_in(tmp_path) == {"live", "kept.bak.db", precious.name}


def test_a_damaged_backup_is_refused(tmp_path: Path, backup: Path) -> None:
    data = backup.read_bytes()
    backup.write_bytes(data[: len(data) // 2])
    with pytest.raises(LedgerCorruptError, match="is damaged"):
        restore(backup, tmp_path / "new.db")
    assert names_in(tmp_path) == {"live", "kept.bak.db"}


def test_a_backup_of_a_newer_program_is_refused(tmp_path: Path, backup: Path) -> None:
    with opened(backup) as book:
        book.execute("PRAGMA user_version=999")
    with pytest.raises(LedgerTooNewError, match="Update GroupX"):
        restore(backup, tmp_path / "new.db")


def test_a_rule_that_is_broken_is_told_and_does_not_keep_the_rest_from_being_restored(
    tmp_path: Path, backup: Path
) -> None:
    with opened(backup) as book:
        book.execute("UPDATE rooms SET event_count = 99")
        book.commit()
    found = restore(backup, tmp_path / "new.db")
    assert [violation.rule for violation in found.violations] == ["a room's counters are true"]
    assert (tmp_path / "new.db").exists()


@pytest.mark.parametrize("version", [1, 9])
async def test_a_backup_of_an_old_version_is_upgraded_when_it_is_opened(
    tmp_path: Path, version: int
) -> None:
    restore(file_of(version), tmp_path / "new.db")
    async with await Ledger.open(tmp_path / "new.db") as ledger:
        assert ledger.upgrade.from_version == version
        assert len(ledger.ledger_id) == 32


def test_a_backup_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"no\.db"):
        restore(tmp_path / "no.db", tmp_path / "new.db")
    prepare(tmp_path / "there.db", now=fixed_now)
    with pytest.raises(LedgerError, match="does not exist"):
        restore(tmp_path / "there.db", tmp_path / "nowhere" / "new.db")
