"""The way from an old file to a new one: the copy first, then steps that a failure or a kill at
any point leaves whole."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from groupx_server.ledger import migrate
from groupx_server.ledger.failpoints import VARIABLE
from groupx_server.ledger.migrate import Migration, UpgradeReport, load_migrations, prepare
from groupx_shared.errors import LedgerError
from ledger_files.build import LAST_SCHEMA
from ledger_files.schema_text import schema_lines
from support.ledgers import NEWEST, fixed_now, killed_with_wal, names_in, old_file, opened

RENAME = "UPDATE actors SET display_name = 'Before the kill' WHERE actor_id = 'agent:kimi'"


def dump(path: Path) -> list[str]:
    with opened(path) as connection:
        return list(connection.iterdump())


# ── The copy before an upgrade ────────────────────────────────────────────────────────────────


def test_upgrade_keeps_a_private_copy_of_the_old_file(tmp_path: Path) -> None:
    path = old_file(tmp_path, 6)
    before = dump(path)
    report = prepare(path, now=fixed_now)
    assert report == UpgradeReport(6, NEWEST, tmp_path / "groupx.v6-20260131-091500.bak.db")
    assert report.backup_path is not None
    assert dump(report.backup_path) == before
    assert report.backup_path.stat().st_mode & 0o777 == 0o600
    assert names_in(tmp_path) == {"groupx.db", "groupx.v6-20260131-091500.bak.db"}


def test_copy_never_replaces_an_older_copy(tmp_path: Path) -> None:
    first = tmp_path / "groupx.v6-20260131-091500.bak.db"
    first.write_bytes(b"precious")
    report = prepare(old_file(tmp_path, 6), now=fixed_now)
    assert first.read_bytes() == b"precious"
    assert report.backup_path == tmp_path / "groupx.v6-20260131-091500-2.bak.db"


def test_copy_holds_what_was_only_in_the_journal_of_a_killed_program(tmp_path: Path) -> None:
    path = killed_with_wal(old_file(tmp_path, 9), tmp_path / "left", RENAME)
    report = prepare(path, now=fixed_now)
    assert report.backup_path is not None
    for file in (path, report.backup_path):
        with opened(file) as connection:
            names = connection.execute("SELECT display_name FROM actors").fetchall()
        assert ("Before the kill",) in names


def test_ledger_whose_program_was_killed_opens_with_its_last_rows(tmp_path: Path) -> None:
    path = old_file(tmp_path, 9)
    prepare(path, now=fixed_now)
    left = killed_with_wal(path, tmp_path / "left", RENAME)
    assert prepare(left, now=fixed_now) == UpgradeReport(NEWEST, NEWEST, None)
    with opened(left) as connection:
        names = connection.execute("SELECT display_name FROM actors").fetchall()
    assert ("Before the kill",) in names


def test_old_file_readable_by_others_becomes_private(tmp_path: Path) -> None:
    path = old_file(tmp_path, 9)
    path.chmod(0o644)
    prepare(path, now=fixed_now)
    assert path.stat().st_mode & 0o777 == 0o600


# ── Failures and crashes on the way ───────────────────────────────────────────────────────────


def broken_at(version: int, sql: str) -> Sequence[Migration]:
    steps = list(load_migrations())
    steps[version - 1] = Migration(version, "broken", sql)
    return steps


def test_failed_migration_leaves_the_version_before_it_whole(tmp_path: Path) -> None:
    path = old_file(tmp_path, 7)
    sql = (
        "CREATE TABLE half(a);\n"
        "DELETE FROM context_resets;\n"
        "INSERT INTO no_such_table VALUES (1);\n"
    )
    with pytest.raises(LedgerError, match="no_such_table"):
        prepare(path, now=fixed_now, migrations=broken_at(10, sql))
    with opened(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (9,)
        assert schema_lines(connection) == LAST_SCHEMA.read_text("utf-8").splitlines()[1:]
        last = connection.execute("SELECT max(version) FROM schema_migrations").fetchone()
        assert last == (9,)
    assert prepare(path, now=fixed_now).from_version == 9


def killed_at(point: str, path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from groupx_server.ledger.migrate import prepare\n"
        "from groupx_server.ledger.times import utc_now\n"
        "prepare(Path(sys.argv[1]), now=utc_now)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        env={**os.environ, VARIABLE: point},
        timeout=30,
        check=False,
    )
    assert done.returncode == -9


@pytest.mark.process
def test_kill_inside_a_creation_leaves_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "groupx.db"
    killed_at("migrate.mid:4", path)
    assert not path.exists()
    assert prepare(path, now=fixed_now).to_version == NEWEST
    assert names_in(tmp_path) == {"groupx.db"}


@pytest.mark.process
@pytest.mark.parametrize("journal_mode", ["DELETE", "WAL"])
def test_kill_inside_a_migration_keeps_the_rows_and_the_next_start_goes_on(
    tmp_path: Path, journal_mode: str
) -> None:
    path = old_file(tmp_path, 7)
    with opened(path) as connection:
        connection.execute(f"PRAGMA journal_mode={journal_mode}")
    killed_at("migrate.mid:3", path)  # 8 and 9 are done, 10 is half done
    report = prepare(path, now=fixed_now)
    assert (report.from_version, report.to_version) == (9, NEWEST)
    with opened(path) as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (12,)
        assert connection.execute("SELECT count(*) FROM room_messages").fetchone() == (4,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    backups = sorted(entry.name[:9] for entry in tmp_path.glob("*.bak.db"))
    assert backups == ["groupx.v7", "groupx.v9"]


@pytest.mark.process
def test_kill_inside_the_copy_leaves_the_old_file_and_no_false_backup(tmp_path: Path) -> None:
    path = old_file(tmp_path, 7)
    before = path.read_bytes()
    killed_at("backup.mid", path)
    assert path.read_bytes() == before
    assert list(tmp_path.glob("*.bak.db")) == []
    assert len(list(tmp_path.glob(".groupx.v7-*.part"))) == 1
    prepare(path, now=fixed_now)
    assert names_in(tmp_path) == {"groupx.db", "groupx.v7-20260131-091500.bak.db"}


# ── At a normal start ────────────────────────────────────────────────────────────────────────────


def test_large_ledger_is_not_read_through_at_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "groupx.db"
    prepare(path, now=fixed_now)
    checked: list[Path] = []
    monkeypatch.setattr(migrate, "_quick_check", lambda _connection, at: checked.append(at))
    prepare(path, now=fixed_now)
    assert checked == [path]
    monkeypatch.setattr(migrate, "QUICK_CHECK_MAX_BYTES", path.stat().st_size - 1)
    prepare(path, now=fixed_now)
    assert checked == [path]
