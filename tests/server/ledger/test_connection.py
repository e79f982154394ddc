"""SQLite's and the system's errors as sentences; paths with odd names."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from groupx_server.ledger import connection as connections
from groupx_server.ledger.connection import file_error, ledger_error
from groupx_shared.errors import (
    ErrorCode,
    LedgerBusyError,
    LedgerCorruptError,
    LedgerDiskError,
    LedgerError,
)
from support.ledgers import names_in, opened

PATH = Path("/data/groupx.db")


def sqlite_error(name: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("what SQLite says")
    error.sqlite_errorname = name
    return error


@pytest.mark.parametrize(
    ("name", "kind", "code", "words"),
    [
        ("SQLITE_FULL", LedgerDiskError, ErrorCode.STORE_UNAVAILABLE, "disk is full"),
        ("SQLITE_BUSY", LedgerBusyError, ErrorCode.STORE_UNAVAILABLE, "Another program holds"),
        ("SQLITE_BUSY_SNAPSHOT", LedgerBusyError, ErrorCode.STORE_UNAVAILABLE, "Another program"),
        ("SQLITE_LOCKED", LedgerBusyError, ErrorCode.STORE_UNAVAILABLE, "Another program holds"),
        ("SQLITE_CORRUPT_VTAB", LedgerCorruptError, ErrorCode.STORE_UNAVAILABLE, "damaged"),
        ("SQLITE_NOTADB", LedgerCorruptError, ErrorCode.STORE_UNAVAILABLE, "not a database"),
        ("SQLITE_IOERR_FSYNC", LedgerDiskError, ErrorCode.STORE_UNAVAILABLE, "SQLITE_IOERR_FSYNC"),
        ("SQLITE_READONLY_DIRECTORY", LedgerDiskError, ErrorCode.STORE_UNAVAILABLE, "writable"),
        ("SQLITE_CANTOPEN", LedgerDiskError, ErrorCode.STORE_UNAVAILABLE, "cannot be opened"),
        ("SQLITE_NOMEM", LedgerDiskError, ErrorCode.STORE_UNAVAILABLE, "memory"),
        ("SQLITE_TOOBIG", LedgerError, ErrorCode.STORE_UNAVAILABLE, "larger"),
        ("SQLITE_INTERRUPT", LedgerError, ErrorCode.SHUTTING_DOWN, "closing"),
        ("SQLITE_CONSTRAINT_UNIQUE", LedgerError, ErrorCode.STORE_CONFLICT, "what SQLite says"),
        ("SQLITE_ERROR", LedgerError, ErrorCode.STORE_UNAVAILABLE, "what SQLite says"),
    ],
)
def test_error_of_sqlite_is_a_sentence(
    name: str, kind: type[LedgerError], code: ErrorCode, words: str
) -> None:
    error = ledger_error(sqlite_error(name), PATH)
    assert type(error) is kind
    assert error.code is code
    assert words in error.message
    assert "{" not in error.message


def test_error_without_a_code_is_a_sentence_too() -> None:
    assert "lost" in ledger_error(sqlite3.ProgrammingError("lost"), PATH).message


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "permission denied"),
        (errno.ELOOP, os.strerror(errno.ELOOP)),
    ],
)
def test_error_of_the_system_names_the_file_and_the_reason(code: int, words: str) -> None:
    message = file_error(OSError(code, os.strerror(code)), PATH, "make").message
    assert message.startswith("Cannot make /data/groupx.db: ")
    assert words in message


@pytest.mark.parametrize("name", ["a b.db", "a?mode=memory.db", "a#b.db", "a%20b.db", "数据.db"])
def test_any_file_name_is_opened_as_it_is(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with opened(path) as connection:
        connection.execute("CREATE TABLE t(a)")
    with closing(connections.open_writer(path)) as writer:
        writer.execute("INSERT INTO t VALUES (1)")
        with closing(connections.open_reader(path)) as reader:
            assert reader.execute("SELECT a FROM t").fetchall() == [(1,)]
    assert names_in(tmp_path) == {name}
    with closing(connections.open_frozen(path)) as frozen:
        assert frozen.execute("SELECT a FROM t").fetchall() == [(1,)]
    assert names_in(tmp_path) == {name}
