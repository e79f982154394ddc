"""Backups of a real server: by itself, by command while it runs, and after it is gone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.times import utc_now
from groupx_server.portability.rotation import list_backups
from support.server_process import ServerProcess, client_of, send, server_in
from support.waiting import eventually

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(120)]


def on_file(*arguments: object) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "groupx_server.portability", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def database(server: ServerProcess) -> Path:
    return server.workspace.data_folder / "groupx.db"


def old_ledger(server: ServerProcess) -> None:
    database(server).parent.mkdir(exist_ok=True)
    prepare(database(server), now=utc_now)


def made(server: ServerProcess) -> list[Path]:
    folder = database(server).parent / "backups"
    return [backup.path for backup in list_backups(database(server), folder)]


def test_a_server_backs_up_at_its_first_write_and_says_so_in_its_log(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        old_ledger(server)
        with client_of(server.start()) as client:
            send(client, "hello", [], "first")
            eventually(lambda: len(made(server)) == 1)
            send(client, "more", [], "second")
        assert server.stop() == 0
        (backup,) = made(server)
        assert on_file("verify", backup)[1]["messages"] == 1
        assert '"backup.made"' in (database(server).parent / "logs" / "server.log").read_text()


def test_no_backup_is_made_when_they_are_switched_off(tmp_path: Path) -> None:
    config = ServerProcess(tmp_path).default_config()
    config["storage"] = {"backups": {"enabled": False}}
    with server_in(tmp_path, config) as server:
        old_ledger(server)
        with client_of(server.start()) as client:
            send(client, "hello", [], "first")
        assert server.stop() == 0
        assert not (database(server).parent / "backups").exists()


def test_a_file_in_use_is_proven_and_backed_up_while_messages_go_on(tmp_path: Path) -> None:
    with server_in(tmp_path) as server, client_of(server.start()) as client:
        for number in range(20):
            send(client, f"[[say {number}]]", ["bot"], f"c{number}")
        status, proven = on_file("verify", database(server))
        assert (status, proven["violations"]) == (0, [])
        assert proven["messages"] >= 20
        status, made = on_file("backup", database(server), tmp_path / "copy.db")
        assert status == 0
        assert made["events"] >= proven["events"]
        health = client.get("/api/health").json()
        assert health["status"] == "ok"
        assert on_file("verify", tmp_path / "copy.db")[0] == 0


def test_a_restored_backup_is_served_as_another_ledger(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        with client_of(server.start()) as client:
            turn = send(client, "[[say kept]]", ["bot"], "first")["turns"][0]["turnId"]
            server.wait_turn(client, turn, "completed")
            first = client.get("/api/bootstrap").json()["ledgerId"]
        assert on_file("backup", database(server), tmp_path / "copy.db")[0] == 0
        assert server.stop() == 0
        aside = database(server).rename(tmp_path / "aside.db")
        assert on_file("restore", tmp_path / "copy.db", database(server))[0] == 0
        with client_of(server.start()) as client:
            assert server.wait_turn(client, turn, "completed")["content"] == "kept"
            assert client.get("/api/bootstrap").json()["ledgerId"] != first
        assert server.stop() == 0
        assert server.violations() == []
        assert aside.exists()


def test_a_copied_workspace_runs_beside_the_original_and_harms_none_of_its_agents(
    tmp_path: Path,
) -> None:
    (tmp_path / "one").mkdir()
    with server_in(tmp_path / "one") as original, client_of(original.start()) as client:
        busy = send(client, "[[say half]] [[silent]]", ["bot"], "busy")["turns"][0]["turnId"]
        original.wait_turn(client, busy, "running")
        assert on_file("backup", database(original), tmp_path / "copy.db")[0] == 0
        (tmp_path / "two").mkdir()
        with server_in(tmp_path / "two") as copy:
            database(copy).parent.mkdir()
            (tmp_path / "copy.db").rename(database(copy))  # by hand: it has the same ledger id
            with client_of(copy.start()) as other:
                assert copy.wait_turn(other, busy)["status"] == "interrupted"
                assert original.wait_turn(client, busy, "running")["status"] == "running"
            assert copy.stop() == 0
        assert original.wait_turn(client, busy, "running")["status"] == "running"
        assert original.stop() == 0


@pytest.mark.parametrize(
    "fail_point", ["backup.mid", "backup.before_check", "backup.before_publish"]
)
def test_a_kill_in_the_middle_of_a_backup_leaves_no_half_one_and_the_next_start_makes_it(
    tmp_path: Path, fail_point: str
) -> None:
    with server_in(tmp_path) as server:
        old_ledger(server)
        with client_of(server.start(fail_point)) as client:
            send(client, "hello", [], "first")
            assert server.wait_dead() == -9
        assert made(server) == []
        with client_of(server.start()) as client:
            send(client, "again", [], "second")
            eventually(lambda: len(made(server)) == 1)
        assert server.stop() == 0
        assert {path.suffix for path in (database(server).parent / "backups").iterdir()} == {".db"}
        assert server.violations() == []


def test_a_kill_right_after_a_backup_keeps_it_and_the_next_start_makes_no_second(
    tmp_path: Path,
) -> None:
    with server_in(tmp_path) as server:
        old_ledger(server)
        with client_of(server.start("backup.after_publish")) as client:
            send(client, "hello", [], "first")
            assert server.wait_dead() == -9
        (backup,) = made(server)
        assert on_file("verify", backup)[0] == 0
        with client_of(server.start()) as client:
            send(client, "again", [], "second")
        assert server.stop() == 0
        assert made(server) == [backup]
