"""`groupx doctor` on the database and its backups."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from groupx_shared.workspace import Workspace
from groupx_tui.cli import ledgerfindings
from support.cli_run import Ended, Groupx
from support.cli_server import CliServer
from support.ledgers import opened
from support.transactions import open_book, send

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.usefixtures("trials")]


@pytest.fixture
def database(workspace: Workspace) -> Path:
    workspace.data_folder.mkdir()
    book = open_book(workspace.data_folder)
    send(book, "kept")
    book.close()
    return workspace.data_folder / "groupx.db"


def found(result: Ended) -> dict[str, tuple[str, str]]:
    findings = json.loads(result.out)["findings"]
    return {each["check"]: (each["level"], each["text"]) for each in findings}


def test_a_sound_database_is_said_to_be_one(groupx: Groupx, database: Path) -> None:
    result = groupx("doctor", "--json")
    assert result.code == 0
    assert found(result)["database"] == ("ok", f"{database}: 2 events, sound")
    assert found(result)["backups"][0] == "ok"


def test_a_database_that_is_not_sound_is_an_error(groupx: Groupx, database: Path) -> None:
    with opened(database) as book:
        book.execute("UPDATE rooms SET event_count = 9")
        book.commit()
    result = groupx("doctor", "--json")
    assert result.code == 3
    level, text = found(result)["database"]
    assert (level, "a room's counters are true" in text) == ("error", True)


def test_a_damaged_database_is_an_error_that_names_the_backups(
    groupx: Groupx, database: Path
) -> None:
    (database.parent / "backups").mkdir()
    (database.parent / "backups" / "groupx-20260131-091500.bak.db").touch()
    database.write_bytes(b"no database at all" * 1000)
    level, text = found(groupx("doctor", "--json"))["database"]
    assert (level, "groupx-20260131-091500.bak.db" in text) == ("error", True)


@pytest.mark.parametrize("words", [["--quick"], []])
def test_a_large_database_is_not_read(
    groupx: Groupx, database: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not words:
        monkeypatch.setattr(ledgerfindings, "PROVE_MAX_BYTES", 1000)
    level, text = found(groupx("doctor", "--json", *words))["database"]
    assert (level, text.endswith("“groupx verify” proves it")) == ("ok", True)


def test_backups_that_are_missing_for_days_are_a_warning(groupx: Groupx, database: Path) -> None:
    folder = database.parent / "backups"
    folder.mkdir()
    (folder / "groupx-20260131-091500.bak.db").touch()
    written = datetime(2026, 2, 1, tzinfo=UTC).timestamp()
    os.utime(database, (written, written))
    backups = found(groupx("doctor", "--json"))["backups"]
    assert backups == ("ok", "1, the newest of 2026-01-31 09:15 UTC")
    written = datetime(2026, 2, 3, tzinfo=UTC).timestamp()
    os.utime(database, (written, written))
    assert found(groupx("doctor", "--json"))["backups"][0] == "warning"


def test_backups_that_are_switched_off_are_a_warning(
    groupx: Groupx, database: Path, workspace: Workspace
) -> None:
    workspace.config_path.write_text('{"storage": {"backups": {"enabled": false}}}')
    assert found(groupx("doctor", "--json"))["backups"][0] == "warning"


def test_what_a_running_server_says_of_its_ledger_is_an_error(
    groupx: Groupx, server: CliServer
) -> None:
    server.problem = "The disk is full."
    result = groupx("doctor", "--json")
    assert result.code == 3
    assert found(result)["server"] == ("error", f"{server.url}: The disk is full.")
    assert "The disk is full." in groupx("status").out
