"""The real server process: starting, refusing to start, stopping, and what it leaves behind."""

from __future__ import annotations

import json
import re
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.times import utc_now
from groupx_shared.runtime import read_runtime, runtime_path
from support.server_process import ServerProcess, client_of, send, server_in
from support.waiting import eventually

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(120)]


def _refusal(server: ServerProcess) -> str:
    """Start a server that cannot start; return what it said."""
    process = server.spawn()
    assert process.wait(20) == 3
    output = server.output()
    assert "Traceback" not in output
    return output


def _alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_it_starts_answers_and_stops_without_a_trace(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        with client_of(server.start()) as client:
            accepted = send(client, "hello", ["bot"], "first")
            turn = server.wait_turn(client, accepted["turns"][0]["turnId"])
            assert turn["status"] == "completed"
            health = client.get("/api/health").json()
            assert health["status"] == "ok"
        assert server.stop() == 0
        assert read_runtime(server.workspace) is None
        assert server.violations() == []
        assert not (server.workspace.data_folder / "groupx.db-wal").exists()


def test_a_second_server_on_the_same_ledger_is_refused_and_says_who_has_it(
    tmp_path: Path,
) -> None:
    with server_in(tmp_path) as first:
        runtime = first.start()
        second = ServerProcess(tmp_path)
        assert str(runtime.pid) in _refusal(second)
        with client_of(runtime) as client:
            assert client.get("/api/health").status_code == 200


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = ServerProcess(tmp_path, {"server": {"port": port}})
        output = _refusal(server)
    assert str(port) in output
    assert "server.port" in output


def test_a_wrong_setting_is_named_with_file_and_key(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    (tmp_path / "groupx.json").write_text('{"limitz": {}}')
    output = _refusal(server)
    assert "groupx.json: limitz: no such key. Did you mean “limits”?" in output


def test_a_damaged_ledger_is_reported_and_left_alone(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    path = server.workspace.data_folder / "groupx.db"
    path.parent.mkdir()
    path.write_bytes(b"this is no database" * 1000)
    before = path.read_bytes()
    assert "groupx.db" in _refusal(server)
    assert path.read_bytes() == before


def test_a_ledger_of_a_newer_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    path = server.workspace.data_folder / "groupx.db"
    path.parent.mkdir()
    prepare(path, now=utc_now)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 999")
    before = path.read_bytes()
    assert "999" in _refusal(server)
    assert path.read_bytes() == before


def test_a_data_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    (tmp_path / ".groupx").write_text("a file where a folder should be")
    assert ".groupx" in _refusal(server)


def test_a_runtime_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    blocked = runtime_path(server.workspace).parent
    blocked.parent.mkdir(parents=True)
    blocked.write_text("in the way")
    assert "GROUPX_HOME" in _refusal(server)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ({"executable": "no-such-program-anywhere"}, "no-such-program-anywhere"),
        ({"executable": "/bin/sh", "args": ["-c", "echo boom >&2; exit 7"]}, "boom"),
        ({"executable": "/bin/sh", "args": ["-c", "while :; do echo garbage; done"]}, "garbage"),
    ],
)
def test_a_broken_agent_fails_its_turn_with_a_reason_and_stops_nobody_else(
    tmp_path: Path, command: dict[str, object], sentence: str
) -> None:
    config = {
        "agents": {
            "broken": {"driver": "acp", "command": command},
            "bot": ServerProcess(tmp_path).agent_config(),
        },
        "timeouts": {"handshakeMs": 1500},
    }
    with server_in(tmp_path, config) as server:
        with client_of(server.start()) as client:
            accepted = send(client, "hello", ["broken", "bot"], "first")
            ids = {turn["target"]: turn["turnId"] for turn in accepted["turns"]}
            assert server.wait_turn(client, ids["agent:bot"])["status"] == "completed"
            turn = server.wait_turn(client, ids["agent:broken"])
            assert turn["status"] == "failed"
            assert turn["deliveryCertainty" if "deliveryCertainty" in turn else "status"]
            assert turn["errorMessage"]
            if sentence != "garbage":
                assert sentence in turn["errorMessage"]
            cards = {card["actorId"]: card for card in client.get("/api/agents").json()["agents"]}
            assert cards["agent:broken"]["status"] in ("failed", "retrying", "stopped")
            assert cards["agent:broken"]["detail"]
        assert server.stop() == 0


def test_no_agent_and_no_grandchild_outlives_a_killed_server(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        with client_of(server.start()) as client:
            accepted = send(client, "[[child]]", ["bot"], "first")
            turn = server.wait_turn(client, accepted["turns"][0]["turnId"])
            grandchild = int(re.findall(r"\d+", turn["content"])[0])
        starts = [json.loads(line) for line in server.prompt_log.read_text().splitlines()]
        agent = next(entry["pid"] for entry in starts if entry["what"] == "start")
        assert _alive(agent)
        assert _alive(grandchild)
        server.kill()
        eventually(lambda: not _alive(agent) and not _alive(grandchild), within_s=10)


def test_a_stop_ends_a_running_turn_and_its_agent_within_bounds(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        with client_of(server.start()) as client:
            accepted = send(client, "[[say half]] [[hang]]", ["bot"], "first")
            turn_id = accepted["turns"][0]["turnId"]
            server.wait_turn(client, turn_id, "running")
        assert server.stop() == 0
        with client_of(server.start()) as client:
            turn = server.wait_turn(client, turn_id)
            assert (turn["status"], turn["partialText"]) == ("interrupted", "half")
        assert server.stop() == 0
        assert server.violations() == []


def test_a_message_of_ten_megabytes_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    with server_in(tmp_path) as server, client_of(server.start()) as client:
        body = {"clientCommandId": "x", "to": ["bot"], "content": "x" * 10_000_000}
        reply = client.post("/api/messages", json=body)
        assert reply.status_code == 413
        assert reply.json()["error"]["code"] == "MESSAGE_TOO_LARGE"
        assert client.get("/api/rooms/room:main/events").json()["events"] == []


def test_a_stranger_without_the_token_gets_nothing(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        runtime = server.start()
        with httpx.Client(base_url=runtime.url, trust_env=False) as stranger:
            for path in (
                "bootstrap",
                "rooms",
                "events",
                "agents",
                "turns",
                "export",
                "openapi.json",
            ):
                assert stranger.get(f"/api/{path}").status_code == 401
            assert stranger.post("/api/messages", json={}).status_code == 401
            assert runtime.token not in stranger.get("/api/health").text


def test_the_files_of_a_workspace_are_private(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        server.start()
        data = server.workspace.data_folder
        loose = [p for p in [data, *data.rglob("*")] if p.stat().st_mode & 0o077]
        assert loose == []
        assert runtime_path(server.workspace).stat().st_mode & 0o077 == 0
