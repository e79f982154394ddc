"""R6, migration: a large ledger of each version that people have comes up whole: as many rows as
before, the same texts, found as before; killed in any step it is of the old version or of the new
one, never between."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Final

import orjson
import pytest

from groupx_server.ledger.failpoints import VARIABLE
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.search import Filters, search
from groupx_server.ledger.searchindex import index_some
from ledger_files.build import EARLIER, columns_of
from support.goal_size import FULL, bound_s, rare_words, sized
from support.ledgers import NEWEST, fixed_now, old_file, opened

pytestmark = [pytest.mark.slow, pytest.mark.timeout(bound_s(120))]

ROWS = sized(60, 100_000)
"""Messages that are added to the old file; a tenth as many records."""
VERSIONS = range(1, EARLIER + 1) if FULL else (1, EARLIER)
POINTS = (
    ("migrate.mid:1", "migrate.before_commit:1", "migrate.after_commit:1")
    if FULL
    else ("migrate.mid:2",)  # the first step is done, the second is half done
)
ASKED = sized(10, 200)
NOW = "2026-01-31T09:15:00.250Z"
MADE: Final = {
    "events": ("event_id", "seq", "body_json"),
    "memory_records": ("memory_id", "content", "status"),
    "identity_records": ("identity_id", "content", "status"),
    "turns": ("turn_id", "status"),
    "summaries": ("summary_id", "content", "status"),
    "client_commands": ("command_id", "result_json"),
}
"""What has a text, or says what was done with it."""


def _grown(folder: Path, version: int, count: int) -> tuple[Path, list[str]]:
    """A ledger of that version with many messages and records, and the word of each message."""
    path, words = old_file(folder, version), rare_words(version, count)
    with opened(path) as book:
        newest = book.execute("SELECT MAX(seq) FROM events").fetchone()[0]
        _copy_rows(
            book, "events", "event_type = 'message.created'",
            [
                {"seq": newest + at, "event_id": f"evt_big_{at}", "body_json": _body(word)}
                for at, word in enumerate(words, 1)
            ],
        )  # fmt: skip
        _copy_rows(
            book, "memory_records", "status = 'active'",
            [{"memory_id": f"mem_big_{at}", "content": f"of {at}"} for at in range(count // 10)],
        )  # fmt: skip
        book.commit()
    return path, words


def _body(word: str) -> str:
    return orjson.dumps({"content": f"a {word} here"}).decode()


def _copy_rows(
    book: sqlite3.Connection, table: str, which: str, changes: list[dict[str, object]]
) -> None:
    """Copies of one row, each changed."""
    columns = columns_of(book)[table]
    row = book.execute(f"SELECT * FROM {table} WHERE {which} LIMIT 1").fetchone()
    values = dict(zip(columns, row, strict=True))
    marks = ", ".join("?" * len(columns))
    book.executemany(
        f"INSERT INTO {table}({', '.join(columns)}) VALUES ({marks})",
        [[(values | change)[column] for column in columns] for change in changes],
    )


def _print_of(path: Path) -> dict[str, tuple[int, str]]:
    """Of each table how many rows, and what their texts come to."""
    found = {}
    with opened(path) as book:
        for table, columns in MADE.items():
            digest, count = hashlib.sha256(), 0
            key, rest = columns[0], ", ".join(columns)
            for row in book.execute(f"SELECT {rest} FROM {table} ORDER BY {key}"):
                digest.update(repr(row).encode())
                count += 1
            found[table] = (count, digest.hexdigest())
    return found


def _version(path: Path) -> int:
    with opened(path) as book:
        return int(book.execute("PRAGMA user_version").fetchone()[0])


def _is_whole(path: Path) -> bool:
    with opened(path) as book:
        last = book.execute("SELECT MAX(version) FROM schema_migrations").fetchone()[0]
        sound = book.execute("PRAGMA quick_check").fetchone()[0]
        return bool(last == _version(path) and sound == "ok")


def _drop_copies(folder: Path) -> None:
    for copy in folder.glob("*.bak.db"):
        copy.unlink()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_large_ledger_comes_up_with_all_its_texts_and_finds_each(
    tmp_path: Path, version: int
) -> None:
    path, words = _grown(tmp_path, version, ROWS)
    before = _print_of(path)
    assert prepare(path, now=fixed_now).from_version == version
    assert _print_of(path) == before
    with opened(path) as book:
        messages = "SELECT COUNT(*) FROM room_messages WHERE event_id LIKE 'evt_big_%'"
        assert book.execute(messages).fetchone() == (ROWS,)
        while not index_some(book).is_empty:
            book.commit()
        for at in range(1, ROWS + 1, ROWS // ASKED):
            found = search(book, words[at - 1], Filters(), NOW, limit=10).found
            assert [row.ref_id for row in found][:1] == [f"evt_big_{at}"]


@pytest.mark.process
def test_killed_in_any_step_it_is_of_the_old_version_or_of_the_new_one(tmp_path: Path) -> None:
    first = VERSIONS[0] if FULL else EARLIER
    path, _ = _grown(tmp_path, first, ROWS)
    before = _print_of(path)
    version, steps = first, 0
    while version < NEWEST:
        for point in POINTS:
            if _killed_at(point, path) == 0:
                break  # it was the last step
            expected = version if point in POINTS[:-1] else version + 1
            assert _version(path) == expected
            assert _is_whole(path)
            assert _print_of(path) == before
            _drop_copies(tmp_path)
            steps += 1
        version = _version(path)
    assert steps >= (NEWEST - first) * len(POINTS) - 1
    assert prepare(path, now=fixed_now).to_version == NEWEST
    assert _print_of(path) == before


def _killed_at(point: str, path: Path) -> int:
    """Upgrade in a process that dies there; its exit status (0: it never came there)."""
    code = (
        "import sys; from pathlib import Path\n"
        "from groupx_server.ledger.migrate import prepare\n"
        "from groupx_server.ledger.times import utc_now\n"
        "prepare(Path(sys.argv[1]), now=utc_now)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        env={**os.environ, VARIABLE: point},
        timeout=bound_s(30),
        check=False,
    )
    assert done.returncode in (0, -9)
    return done.returncode
