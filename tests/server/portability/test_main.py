"""The commands on files, as the command line calls them: one JSON object and an exit code."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from groupx_server.ledger.rules import RULES
from groupx_server.portability.__main__ import main
from ledger_files.build import file_of
from support.ledgers import contents, killed_with_wal, names_in, opened
from support.transactions import open_book, send


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    book = open_book(tmp_path / "data")
    send(book, "one")
    send(book, "two", to=())
    book.close()
    return tmp_path / "data" / "groupx.db"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: object) -> tuple[int, dict[str, Any]]:
        status = main([str(argument) for argument in arguments])
        (line,) = capsys.readouterr().out.splitlines()
        return status, json.loads(line)

    return run


def test_a_sound_file_is_proven_and_counted(ledger: Path, run: Any) -> None:
    before = contents(ledger.parent)
    status, result = run("verify", ledger)
    assert status == 0
    assert result["violations"] == []
    assert result["rules"] == len(RULES) + 1  # and the references'
    assert len(result["ledgerId"]) == 32
    wanted = {"messages": 2, "rooms": 1, "agents": 2, "turns": {"queued": 1}, "isNewer": False}
    assert {name: result[name] for name in wanted} == wanted
    assert contents(ledger.parent) == before


def test_a_broken_rule_is_named_with_examples_and_gives_1(ledger: Path, run: Any) -> None:
    with opened(ledger) as book:
        book.execute("UPDATE rooms SET event_count = 99")
        book.commit()
    status, result = run("verify", ledger)
    assert status == 1
    assert result["violations"] == [{"rule": "a room's counters are true", "rows": ["room:main"]}]


def test_a_file_that_a_killed_server_left_is_read_with_its_wal_which_stays(
    ledger: Path, tmp_path: Path, run: Any
) -> None:
    statement = "UPDATE rooms SET title = 'in the WAL alone'"
    left = killed_with_wal(ledger, tmp_path / "left", statement)
    before = contents(left.parent)
    assert run("verify", left)[0] == 0
    after = contents(left.parent)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) <= {"groupx.db-shm"}


@pytest.mark.parametrize("version", range(1, 10))
def test_files_of_the_earlier_program_are_read_too(version: int, tmp_path: Path, run: Any) -> None:
    status, result = run("verify", file_of(version))
    assert status == 1  # these files were written by hand, and not quite right
    assert (result["version"], result["events"], result["rooms"]) == (version, 12, 2)
    assert result["ledgerId"] == ""
    assert 15 <= result["rules"] < len(RULES)


def test_a_newer_file_is_only_asked_whether_it_is_whole(ledger: Path, run: Any) -> None:
    with opened(ledger) as book:
        book.execute("PRAGMA user_version=999")
    status, result = run("verify", ledger)
    assert (status, result["isNewer"], result["rules"]) == (0, True, 0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "There is no database"),
        (lambda path: path.touch(), "or it is empty"),
        (lambda path: path.write_text("no database at all, but long enough" * 9), "is damaged"),
        (lambda path: path.mkdir(), "it is a folder"),
        (lambda path: sqlite3.connect(path).execute("CREATE TABLE t(a)"), "not one of GroupX"),
    ],
)
def test_what_is_no_ledger_is_told_in_a_sentence_and_gives_3(
    tmp_path: Path, run: Any, make: Any, words: str
) -> None:
    made = make(tmp_path / "x.db")
    if isinstance(made, sqlite3.Cursor):
        made.connection.close()
    status, result = run("verify", tmp_path / "x.db")
    assert status == 3
    assert words in result["error"]["message"]


def test_a_file_with_an_unfinished_change_is_not_touched(ledger: Path, run: Any) -> None:
    ledger.with_name("groupx.db-journal").write_bytes(b"x" * 512)
    before = contents(ledger.parent)
    status, result = run("verify", ledger)
    assert status == 3
    assert "-journal" in result["error"]["message"]
    assert contents(ledger.parent) == before


def test_a_damaged_page_is_found(ledger: Path, run: Any) -> None:
    with opened(ledger) as book:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'events'"
        (page,) = book.execute(query).fetchone()
        (size,) = book.execute("PRAGMA page_size").fetchone()
    with ledger.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)
    status, result = run("verify", ledger)
    assert status == 1
    assert "SQLite's integrity check passes" in [v["rule"] for v in result["violations"]]


def test_backup_and_restore_make_files_that_can_be_proven(
    ledger: Path, tmp_path: Path, run: Any
) -> None:
    status, made = run("backup", ledger, tmp_path / "copy.db")
    assert status == 0
    assert made["bytes"] == (tmp_path / "copy.db").stat().st_size
    assert (made["version"], made["turns"]) == (run("verify", ledger)[1]["version"], 1)
    status, restored = run("restore", tmp_path / "copy.db", tmp_path / "new.db")
    assert (status, restored["restored"]) == (0, str(tmp_path / "new.db"))
    assert run("verify", tmp_path / "new.db")[1]["messages"] == 2
    assert names_in(tmp_path) == {"data", "copy.db", "new.db"}


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_an_existing_target_is_kept(ledger: Path, tmp_path: Path, run: Any, command: str) -> None:
    target = tmp_path / "precious.db"
    target.write_text("precious")
    status, result = run(command, ledger, target)
    assert status == 3
    assert "exists already" in result["error"]["message"]
    assert target.read_text() == "precious"


@pytest.mark.slow
@pytest.mark.process
def test_it_runs_as_a_program(ledger: Path) -> None:
    command = [sys.executable, "-m", "groupx_server.portability", "verify", str(ledger)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["seconds"] >= 0
