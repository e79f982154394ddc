"""`groupx verify`, `backup` and `restore`, on real files, through the real child process."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from groupx_shared.runtime import AGENT_VARIABLES
from groupx_shared.workspace import Workspace
from groupx_tui.cli import files
from ledger_files.build import file_of
from support.cli_run import Groupx
from support.ledgers import contents, opened
from support.transactions import open_book, send

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture
def database(workspace: Workspace) -> Path:
    workspace.data_folder.mkdir()
    book = open_book(workspace.data_folder)
    send(book, "kept")
    book.close()
    return workspace.data_folder / "groupx.db"


def test_the_workspaces_database_is_proven_and_counted(groupx: Groupx, database: Path) -> None:
    before = contents(database.parent)
    result = groupx("verify")
    assert (result.code, result.err) == (0, "")
    lines = dict(line.split(maxsplit=1) for line in result.out.splitlines() if " " in line)
    assert lines["file"] == str(database)
    assert lines["holds"] == "2 events, 1 messages, 1 rooms, 2 agents"
    assert lines["turns"] == "1 queued"
    assert result.out.endswith("SOUND\n")
    assert contents(database.parent) == before


def test_a_broken_rule_is_named_with_code_1(groupx: Groupx, database: Path) -> None:
    with opened(database) as book:
        book.execute("UPDATE rooms SET event_count = 9")
        book.commit()
    result = groupx("verify", str(database))
    assert result.code == 1
    assert "BROKEN    a room's counters are true: room:main\n" in result.out
    as_json = json.loads(groupx("verify", "--json").out)
    assert as_json["violations"] == [{"rule": "a room's counters are true", "rows": ["room:main"]}]


def test_a_file_of_an_old_version_is_proven_by_what_it_can_answer(
    groupx: Groupx, workspace: Workspace
) -> None:
    result = groupx("verify", str(file_of(9)))
    assert result.code == 1  # written by hand, and not quite right
    assert "version   9\n" in result.out
    assert "what is stored as JSON is JSON: evt_12" in result.out


@pytest.mark.parametrize("name", ["no.db", "groupx.json"])
def test_what_is_no_database_is_refused_with_a_sentence(
    groupx: Groupx, workspace: Workspace, name: str
) -> None:
    result = groupx("verify", name)
    assert (result.code, result.out) == (6, "")
    assert name in result.err


def test_a_backup_is_made_once_and_can_be_restored_and_proven(
    groupx: Groupx, database: Path, tmp_path: Path
) -> None:
    made = groupx("backup", "copy.db")
    assert (made.code, made.out) == (0, f"{tmp_path / 'copy.db'}\n")
    again = groupx("backup", "copy.db")
    assert (again.code, "exists already" in again.err) == (6, True)
    restored = groupx("restore", "copy.db", "--to", "new.db")
    assert restored.code == 0
    assert "groupx stop" in restored.err
    assert groupx("verify", "new.db").code == 0
    assert json.loads(groupx("backup", "other.db", "--json").out)["events"] == 2


def test_a_restore_to_the_workspaces_own_place_says_that_it_is_used_from_now_on(
    groupx: Groupx, database: Path, tmp_path: Path
) -> None:
    assert groupx("backup", "copy.db").code == 0
    taken = groupx("restore", "copy.db", "--to", str(database))
    assert (taken.code, "exists already" in taken.err) == (6, True)
    database.unlink()
    restored = groupx("restore", "copy.db", "--to", str(database), "--json")
    assert json.loads(restored.out)["restored"] == str(database)
    assert groupx("verify").code == 0


def test_a_restore_without_a_target_is_wrong_usage(groupx: Groupx, database: Path) -> None:
    result = groupx("restore", str(database))
    assert (result.code, "--to" in result.err) == (2, True)


def test_backups_are_listed_newest_first(groupx: Groupx, database: Path) -> None:
    assert "no backup" in groupx("restore").err
    folder = database.parent / "backups"
    folder.mkdir()
    for day in (29, 31, 30):
        (folder / f"groupx-202601{day}-091500.bak.db").write_bytes(b"x" * 2_500_000)
    result = groupx("restore")
    assert result.code == 0
    days = [line.split()[0] for line in result.out.splitlines()[1:]]
    assert days == ["2026-01-31", "2026-01-30", "2026-01-29"]
    assert "2.5 MB" in result.out
    listed = json.loads(groupx("restore", "--json").out)["backups"]
    assert listed[0]["madeAt"] == "2026-01-31T09:15:00.000Z"


def test_a_child_that_cannot_answer_is_said(
    groupx: Groupx, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MODULE", "groupx_server.no_such_module")
    result = groupx("verify")
    assert (result.code, "could not be looked at" in result.err) == (5, True)
    monkeypatch.setattr(files, "LONGEST_S", 0.0)
    assert groupx("verify").code == 5


def test_a_database_that_the_config_puts_elsewhere_is_found(
    groupx: Groupx, workspace: Workspace, database: Path, tmp_path: Path
) -> None:
    workspace.config_path.write_text('{"storage": {"path": "elsewhere/rooms.db"}}')
    (tmp_path / "elsewhere").mkdir()
    database.rename(tmp_path / "elsewhere" / "rooms.db")
    assert f"file      {tmp_path}/elsewhere/rooms.db\n" in groupx("verify").out


def test_the_child_leaves_no_variables_of_agents_to_the_file_commands(
    groupx: Groupx, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, str]] = []
    run = subprocess.run

    def spy(*arguments: object, env: dict[str, str], **more: object) -> object:
        seen.append(env)
        return run(*arguments, env=env, **more)  # type: ignore[call-overload]

    for name in AGENT_VARIABLES:
        monkeypatch.setenv(name, "secret")
    monkeypatch.setattr(subprocess, "run", spy)
    assert groupx("verify").code == 0
    assert not set(seen[0]) & set(AGENT_VARIABLES)
