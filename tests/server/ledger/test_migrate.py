"""Creating a ledger, and bringing every older one to this version with its rows kept."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from groupx_server.ledger.migrate import Migration, UpgradeReport, load_migrations, prepare
from groupx_server.ledger.search import Filters, search
from groupx_server.ledger.searchindex import index_some
from groupx_shared.errors import LedgerError
from ledger_files.build import LAST_SCHEMA, VERSIONS, columns_of, file_of
from ledger_files.rows import ADDED, ROWS, expected_row, rows_of
from ledger_files.schema_text import schema_lines
from support.ledgers import NEWEST, fixed_now, names_in, old_file, opened

# ── New files ─────────────────────────────────────────────────────────────────────────────────


def test_new_ledger_is_created_at_the_newest_version_with_nothing_beside_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "groupx.db"
    assert prepare(path, now=fixed_now) == UpgradeReport(0, NEWEST, None)
    assert names_in(tmp_path) == {"groupx.db"}
    with opened(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (NEWEST,)
        recorded = connection.execute("SELECT * FROM schema_migrations").fetchall()
        assert recorded == [
            (step.version, step.name, "2026-01-31T09:15:00.250Z") for step in load_migrations()
        ]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_new_ledger_holds_the_local_surfaces_and_the_main_room(tmp_path: Path) -> None:
    path = tmp_path / "groupx.db"
    prepare(path, now=fixed_now)
    with opened(path) as connection:
        actors = connection.execute("SELECT actor_id, kind, display_name, enabled FROM actors")
        assert sorted(actors) == [
            ("system:groupx", "system", "GroupX", 1),
            ("user:assistant", "user", "Room assistant", 0),
            ("user:web", "user", "You", 1),
        ]
        binding = connection.execute(
            "SELECT binding_id, b.instance_id, b.actor_id, protocol, b.status"
            " FROM session_bindings b"
            " JOIN agent_instances i ON i.instance_id = b.instance_id AND i.actor_id = b.actor_id"
            " AND i.status = 'ready' AND process_ended_at IS NULL"
            " WHERE closed_at IS NULL AND room_id IS NULL ORDER BY 1 DESC"
        ).fetchall()
        assert binding == [
            ("binding:web", "instance:web", "user:web", "local-rest", "ready"),
            ("binding:operator", "instance:operator", "user:assistant", "local-operator", "ready"),
        ]
        rooms = connection.execute("SELECT * FROM rooms").fetchall()
        moment = "2026-01-31T09:15:00.250Z"
        assert rooms == [("room:main", "main", moment, moment, None, 0, 0, 0, 0)]


def test_every_new_ledger_has_an_id_of_its_own(tmp_path: Path) -> None:
    ids = set()
    for name in ("one.db", "two.db"):
        prepare(tmp_path / name, now=fixed_now)
        with opened(tmp_path / name) as connection:
            (value,) = connection.execute("SELECT value FROM ledger_meta").fetchone()
        assert len(value) == 32
        assert int(value, 16)
        ids.add(value)
    assert len(ids) == 2


def test_prepared_ledger_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "groupx.db"
    prepare(path, now=fixed_now)
    before = path.read_bytes()
    assert prepare(path, now=fixed_now) == UpgradeReport(NEWEST, NEWEST, None)
    assert path.read_bytes() == before
    assert names_in(tmp_path) == {"groupx.db"}


def test_empty_file_becomes_a_new_ledger(tmp_path: Path) -> None:
    path = tmp_path / "groupx.db"
    path.touch()
    assert prepare(path, now=fixed_now) == UpgradeReport(0, NEWEST, None)


def test_database_without_tables_becomes_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "groupx.db"
    with opened(path) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE t(a)")
        connection.execute("DROP TABLE t")
        connection.commit()
    assert prepare(path, now=fixed_now) == UpgradeReport(0, NEWEST, None)
    with opened(path) as connection:
        assert connection.execute("SELECT room_id FROM rooms").fetchall() == [("room:main",)]


def test_failed_creation_leaves_nothing(tmp_path: Path) -> None:
    steps = [*load_migrations(), Migration(NEWEST + 1, "broken", "CREATE TABLE rooms(a);\n")]
    with pytest.raises(LedgerError, match="rooms"):
        prepare(tmp_path / "groupx.db", now=fixed_now, migrations=steps)
    assert names_in(tmp_path) == set()


def test_left_over_unfinished_creation_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "groupx.db.new").write_bytes(b"half a database")
    prepare(tmp_path / "groupx.db", now=fixed_now)
    assert names_in(tmp_path) == {"groupx.db"}


def test_folder_and_file_are_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "made" / "groupx.db"
    prepare(path, now=fixed_now)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600


# ── Versions ──────────────────────────────────────────────────────────────────────────────────


def test_migrations_are_numbered_without_a_gap() -> None:
    assert [step.version for step in load_migrations()] == list(range(1, NEWEST + 1))


def test_version_nine_is_exactly_the_earlier_program_s_schema(tmp_path: Path) -> None:
    path = tmp_path / "groupx.db"
    prepare(path, now=fixed_now, migrations=load_migrations()[:9])
    expected = LAST_SCHEMA.read_text("utf-8").splitlines()[1:]
    with opened(path) as connection:
        assert schema_lines(connection) == expected


def test_migration_names_are_those_the_earlier_program_recorded() -> None:
    assert [step.name for step in load_migrations()][:9] == [
        "initial_groupx_store",
        "turn_attempt_dispatch_reliability",
        "remove_groupx_approval_store",
        "snapshot_runtime_transport",
        "durable_room_context_checkpoints",
        "split_agent_core_and_dated_memory",
        "batch_agent_dated_memory",
        "live_supervision_pairs",
        "assistant_operator_surface",
    ]


def test_every_table_and_version_is_in_the_manual(tmp_path: Path) -> None:
    manual = (Path(__file__).parents[3] / "docs" / "LEDGER.md").read_text("utf-8")
    prepare(tmp_path / "groupx.db", now=fixed_now)
    with opened(tmp_path / "groupx.db") as connection:
        names = columns_of(connection)
    tables = {name for name in names if "_fts_" not in name and not name.startswith("sqlite_")}
    missing = [name for name in sorted(tables) if f"`{name}`" not in manual]
    missing += [
        step.name for step in load_migrations() if f"| {step.version} | `{step.name}`" not in manual
    ]
    assert missing == []


@pytest.mark.parametrize("version", VERSIONS)
def test_kept_file_has_the_schema_our_migrations_make(tmp_path: Path, version: int) -> None:
    path = tmp_path / "made.db"
    prepare(path, now=fixed_now, migrations=load_migrations()[:version])
    with opened(path) as made, opened(old_file(tmp_path, version)) as kept:
        assert schema_lines(kept) == schema_lines(made)


@pytest.mark.parametrize("version", VERSIONS)
def test_upgraded_file_has_the_schema_of_a_new_one(tmp_path: Path, version: int) -> None:
    old, new = old_file(tmp_path, version), tmp_path / "new.db"
    prepare(old, now=fixed_now)
    prepare(new, now=fixed_now)
    with opened(old) as upgraded, opened(new) as fresh:
        assert schema_lines(upgraded) == schema_lines(fresh)
        columns = columns_of(fresh)
        assert columns_of(upgraded) == columns


@pytest.mark.parametrize("version", VERSIONS)
def test_upgrade_keeps_every_row_column_by_column(tmp_path: Path, version: int) -> None:
    path = old_file(tmp_path, version)
    with opened(path) as connection:
        old_rows = rows_of(columns_of(connection))
    assert prepare(path, now=fixed_now).from_version == version
    with opened(path) as connection:
        columns = columns_of(connection)
        for table, rows in old_rows.items():
            if table not in columns:
                assert table == "approval_requests"
                continue
            names = columns[table]
            found = connection.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
            kept = [dict(zip(names, values, strict=True)) for values in found]
            assert kept[: len(rows)] == [expected_row(table, row, names) for row in rows]
            assert len(kept) == len(rows) + ADDED.get(table, 0)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_kept_files_hold_every_table_of_their_version() -> None:
    with opened(file_of(9)) as connection:
        tables = {name for name in columns_of(connection) if "_fts" not in name}
    assert tables - set(ROWS) == {"schema_migrations", "sqlite_sequence"}


@pytest.mark.parametrize("version", VERSIONS)
def test_upgrade_counts_rooms_and_messages(tmp_path: Path, version: int) -> None:
    path = old_file(tmp_path, version)
    prepare(path, now=fixed_now)
    with opened(path) as connection:
        rooms = connection.execute(
            "SELECT room_id, title, last_seq, event_count, message_count, message_chars"
            " FROM rooms ORDER BY room_id"
        ).fetchall()
        assert rooms == [
            ("room:main", "main", 10, 10, 3, 10 + 10 + 4),
            ("room:side", "side", 13, 2, 1, 0),
        ]
        times = connection.execute(
            "SELECT created_at, updated_at, archived_at FROM rooms ORDER BY room_id"
        ).fetchall()
        assert times == [
            ("2025-03-04T05:06:00.100Z", "2025-03-04T05:06:01.000Z", None),
            ("2025-03-04T05:06:01.200Z", "2025-03-04T05:06:01.300Z", None),
        ]
        messages = connection.execute("SELECT * FROM room_messages ORDER BY seq").fetchall()
        assert messages == [
            ("room:main", 1, "evt_1", "user:web", 10, 1, 10),
            ("room:main", 4, "evt_4", "user:assistant", 10, 2, 20),
            ("room:main", 8, "evt_8", "agent:codex", 4, 3, 24),
            ("room:side", 12, "evt_12", "user:web", 0, 1, 0),
        ]


@pytest.mark.parametrize("version", VERSIONS)
def test_memory_is_found_after_an_upgrade(tmp_path: Path, version: int) -> None:
    path = old_file(tmp_path, version)
    prepare(path, now=fixed_now)
    with opened(path) as connection:
        while not index_some(connection).is_empty:
            pass
        found = search(connection, "newer", Filters(kind="memory"), "2026-01-31T09:15:00.250Z")
        assert [hit.ref_id for hit in found.found] == ["mem_new"]


def test_used_event_numbers_are_not_used_again_after_an_upgrade(tmp_path: Path) -> None:
    path = old_file(tmp_path, 9)
    prepare(path, now=fixed_now)
    with opened(path) as connection:
        assert connection.execute("SELECT * FROM sqlite_sequence").fetchall() == [("events", 13)]


# ── Old data that a stricter version would refuse ─────────────────────────────────────────────


def test_of_two_open_attempts_of_a_turn_the_newer_stays_open(tmp_path: Path) -> None:
    path = old_file(tmp_path, 1)
    with opened(path) as connection:
        connection.execute(
            "INSERT INTO turn_attempts SELECT 'attempt_later', turn_id, binding_id, instance_id,"
            " context_through_seq, NULL, '2025-03-04T06:00:00.000Z', NULL, NULL, 'unknown'"
            " FROM turn_attempts WHERE attempt_id = 'attempt_wait'"
        )
        connection.commit()
    prepare(path, now=fixed_now)
    with opened(path) as connection:
        attempts = connection.execute(
            "SELECT attempt_id, terminal_at IS NULL, dispatch_phase FROM turn_attempts"
            " WHERE turn_id = 'turn_wait' ORDER BY claimed_at"
        ).fetchall()
    assert attempts == [("attempt_wait", 0, "terminal"), ("attempt_later", 1, "prompt_invoked")]


def test_of_two_active_summaries_the_farther_stays_active(tmp_path: Path) -> None:
    path = old_file(tmp_path, 4)
    with opened(path) as connection:
        connection.execute("UPDATE summaries SET status = 'active'")
        connection.commit()
    prepare(path, now=fixed_now)
    with opened(path) as connection:
        found = connection.execute("SELECT summary_id, status FROM summaries").fetchall()
    assert found == [("summary_1", "superseded"), ("summary_2", "active")]


def test_equal_keys_of_different_event_types_are_kept_apart(tmp_path: Path) -> None:
    path = old_file(tmp_path, 9)
    with opened(path) as connection:
        connection.execute("UPDATE events SET idempotency_key = 'k' WHERE seq IN (1, 2, 4, 12)")
        connection.commit()
    prepare(path, now=fixed_now)
    with opened(path) as connection:
        keys = connection.execute(
            "SELECT seq, idempotency_key FROM events WHERE seq IN (1, 2, 3, 4, 9, 12)"
        ).fetchall()
    assert keys == [
        (1, "k"),
        (2, "k#2"),
        (3, None),
        (4, "k#4"),
        (9, "turn:turn_done:terminal"),
        (12, "k"),
    ]


def test_key_of_an_event_is_unique_in_its_room(tmp_path: Path) -> None:
    path = old_file(tmp_path, 9)
    prepare(path, now=fixed_now)
    with opened(path) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(
            "UPDATE events SET idempotency_key = 'turn:turn_done:terminal' WHERE seq = 1"
        )


# ── SQL files ─────────────────────────────────────────────────────────────────────────────────────


def test_migration_that_ends_inside_a_statement_is_refused() -> None:
    with pytest.raises(ValueError, match="migration 3 ends inside a statement"):
        list(Migration(3, "open", "CREATE TABLE a(b);\nCREATE TABLE c(\n").statements())


def test_statements_are_split_where_sqlite_ends_them() -> None:
    sql = (
        "-- first; not an end\nCREATE TABLE a(b); -- said; twice\n"
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n  SELECT 1;\n  SELECT ';';\nEND;\n-- end;\n"
    )
    with closing(sqlite3.connect(":memory:")) as connection:
        statements = list(Migration(1, "split", sql).statements())
        assert len(statements) == 2
        for statement in statements:
            connection.execute(statement)
