"""Make the old database files of this folder.

Run as `PYTHONPATH=tests python tests/ledger_files/build.py [VERSION…]`.

`v1.db` … hold one schema version each, with the rows of `rows.py`. They are checked in and never
made again for a version that was released: they stand for the files people have. Version 9 is made
from `v9_schema.sql`, the schema as the earlier program wrote it, so that it does not rest on our
own migrations; a later one is version 9 upgraded, as people's files were.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from groupx_server.ledger.migrate import load_migrations, prepare
from ledger_files.rows import rows_of

FOLDER = Path(__file__).parent
VERSIONS = range(1, 11)
EARLIER = 9
"""Newest version of the earlier program."""
LAST_SCHEMA = FOLDER / "v9_schema.sql"

_PAGE_SIZE = 512  # most of such a small file is the first page of each table


def file_of(version: int) -> Path:
    """Return the path of the checked-in file of that version."""
    return FOLDER / f"v{version}.db"


def build(path: Path, version: int) -> None:
    """Make the file of that version at `path`."""
    if version > EARLIER:
        _upgrade(path, version)
        return
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size={_PAGE_SIZE}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("BEGIN")
        if version == EARLIER:
            lines = LAST_SCHEMA.read_text("utf-8").splitlines()
            for statement in sorted(lines, key=lambda line: "VIRTUAL" in line):
                connection.execute(statement)
        for step in load_migrations()[:version]:
            if version != EARLIER:
                for statement in step.statements():
                    connection.execute(statement)
            connection.execute(
                "INSERT INTO schema_migrations VALUES (?, ?, '2025-03-04T05:06:00.000Z')",
                (step.version, step.name),
            )
        _insert_rows(connection)
        connection.execute(f"PRAGMA user_version={version}")
        connection.execute("COMMIT")
        connection.execute("VACUUM")


def _upgrade(path: Path, version: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copyfile(file_of(EARLIER), Path(folder) / "groupx.db"))
        steps = load_migrations()[:version]
        prepare(copy, now=lambda: datetime(2025, 3, 4, 5, 6, tzinfo=UTC), migrations=steps)
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE").fetchall()
        shutil.move(copy, path)


def columns_of(connection: sqlite3.Connection) -> Mapping[str, tuple[str, ...]]:
    """Return the columns of every table, in order."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {
        table: tuple(
            name
            for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        )
        for (table,) in tables
    }


def _insert_rows(connection: sqlite3.Connection) -> None:
    for table, rows in rows_of(columns_of(connection)).items():
        for row in rows:
            names, places = ", ".join(row), ", ".join("?" * len(row))
            connection.execute(
                f"INSERT INTO {table}({names}) VALUES ({places})", tuple(row.values())
            )


if __name__ == "__main__":
    for number in [int(text) for text in sys.argv[1:]] or list(VERSIONS):
        file_of(number).unlink(missing_ok=True)
        build(file_of(number), number)
