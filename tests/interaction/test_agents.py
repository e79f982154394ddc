"""Agents come, go and fail in a real server, by the real command line; others notice nothing."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from groupx_tui.cli.main import main
from support.server_process import SCRIPTED_AGENT, ServerProcess, client_of, send, server_in
from support.waiting import eventually

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(120)]

COMMAND = shlex.join([sys.executable, str(SCRIPTED_AGENT)])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with server_in(tmp_path) as process:
        yield process


def groupx(server: ServerProcess, *words: str) -> int:
    return main(["--config", str(server.folder), *words])


def begin(server: ServerProcess, client: httpx.Client, agent: str, text: str) -> str:
    """Send a message that begins with `[[say …]]` and wait until that is on disk."""
    accepted = send(client, text, [agent], f"{agent}-{text}")
    turn_id: str = accepted["turns"][0]["turnId"]
    eventually(lambda: bool(client.get(f"/api/turns/{turn_id}").json().get("partialText")), 20)
    return turn_id


def end(server: ServerProcess, client: httpx.Client, turn_id: str) -> dict[str, Any]:
    client.post(f"/api/turns/{turn_id}/cancel", json={"clientCommandId": f"cancel-{turn_id}"})
    return server.wait_turn(client, turn_id)


def cards(client: httpx.Client) -> dict[str, dict[str, Any]]:
    return {card["actorId"]: card for card in client.get("/api/agents").json()["agents"]}


def test_an_agent_is_added_and_answers_while_another_one_streams(server: ServerProcess) -> None:
    with client_of(server.start()) as client:
        streaming = begin(server, client, "bot", "[[say half]][[silent]]")
        pid = agent_pid(server)
        assert groupx(server, "agents", "add", "two", "--command", COMMAND, "--name", "Zwei") == 0
        accepted = send(client, "[[say hello]]", ["two"], "second")
        turn = server.wait_turn(client, accepted["turns"][0]["turnId"])
        assert (turn["status"], turn["content"]) == ("completed", "hello")
        assert client.get(f"/api/turns/{streaming}").json()["status"] == "running"
        assert agent_pid(server) == pid
        ended = end(server, client, streaming)
        assert (ended["status"], ended["partialText"]) == ("cancelled", "half")
        assert cards(client)["agent:two"]["displayName"] == "Zwei"
    assert server.stop() == 0
    assert server.violations() == []


def test_a_busy_agent_is_removed_after_its_turn_and_its_queue_is_ended(
    server: ServerProcess,
) -> None:
    with client_of(server.start()) as client:
        assert groupx(server, "agents", "add", "two", "--command", COMMAND) == 0
        running = begin(server, client, "bot", "[[say half]][[silent]]")
        queued = send(client, "later", ["bot"], "later")["turns"][0]["turnId"]
        pid = agent_pid(server)
        assert groupx(server, "agents", "remove", "bot") == 0
        refused = client.post(
            "/api/messages", json={"clientCommandId": "x", "content": "hi", "to": ["bot"]}
        )
        assert refused.json()["error"]["code"] == "UNKNOWN_TARGET"
        assert cards(client)["agent:bot"]["status"] in ("working", "waiting")
        assert end(server, client, running)["status"] == "cancelled"
        lost = server.wait_turn(client, queued)
        assert (lost["status"], lost["errorCode"]) == ("failed", "AGENT_DISABLED")
        eventually(lambda: set(cards(client)) == {"agent:two"}, 20)
        eventually(lambda: not Path(f"/proc/{pid}").exists() or is_zombie(pid), 20)
        assert server.prompts("later") == []
    assert server.stop() == 0
    assert server.violations() == []


def test_a_changed_agent_serves_its_queue_with_its_new_settings(server: ServerProcess) -> None:
    with client_of(server.start()) as client:
        running = begin(server, client, "bot", "[[say half]][[silent]]")
        queued = send(client, "[[env COLOUR]]", ["bot"], "later")["turns"][0]["turnId"]
        assert groupx(server, "agents", "set", "bot", "env.COLOUR=blue") == 0
        assert end(server, client, running)["status"] == "cancelled"
        assert server.wait_turn(client, queued)["content"] == "blue"
        assert client.post("/api/runtime/reload", json={"clientCommandId": "r"}).json() == {
            key: []
            for key in (
                *("added", "removed", "enabled", "disabled", "changed", "finishing"),
                *("settings", "restartRequired"),
            )
        }
    assert server.stop() == 0
    assert server.violations() == []


def test_a_missing_a_crashing_and_a_hanging_agent_hold_nobody_up(tmp_path: Path) -> None:
    agents = {
        "missing": {"driver": "acp", "command": "no-such-program"},
        "crashing": {"driver": "acp", "command": f"{COMMAND} --init-exit=3"},
        "hanging": {"driver": "acp", "command": f"{COMMAND} --init-hang"},
        "good": {"driver": "acp", "command": COMMAND},
        "fine": {"driver": "acp", "command": COMMAND},
    }
    config = {"agents": agents, "timeouts": {"handshakeMs": 60_000}}
    with server_in(tmp_path, config) as server:
        with client_of(server.start()) as client:
            turns = send(client, "[[say hi]]", [*agents], "all")["turns"]
            ids = {turn["target"].removeprefix("agent:"): turn["turnId"] for turn in turns}
            for name in ("good", "fine"):
                assert server.wait_turn(client, ids[name])["content"] == "hi"
            missing = server.wait_turn(client, ids["missing"])
            assert (missing["status"], missing["errorCode"]) == ("failed", "ADAPTER_START_FAILED")
            assert server.wait_turn(client, ids["crashing"])["status"] == "failed"
            assert client.get(f"/api/turns/{ids['hanging']}").json()["status"] == "queued"
            states = {name: cards(client)[f"agent:{name}"]["status"] for name in agents}
            assert states == {
                "missing": "failed",
                "crashing": "failed",
                "hanging": "starting",
                "good": "ready",
                "fine": "ready",
            }
            assert groupx(server, "agents", "set", "hanging", f"command={COMMAND}") == 0
            assert server.wait_turn(client, ids["hanging"])["content"] == "hi"
        assert server.stop() == 0
        assert server.violations() == []


def test_a_file_with_an_error_changes_nothing_and_the_server_goes_on(
    server: ServerProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    with client_of(server.start()) as client:
        path = server.folder / "groupx.json"
        good = path.read_text()
        path.write_text(good.replace('"driver"', '"diver"', 1))
        assert groupx(server, "reload") == 6
        assert "Did you mean “driver”?" in capsys.readouterr().err
        assert groupx(server, "agents", "add", "two", "--command", COMMAND) == 6
        accepted = send(client, "[[say on]]", ["bot"], "on")
        assert server.wait_turn(client, accepted["turns"][0]["turnId"])["content"] == "on"
        path.write_text(good)
        assert groupx(server, "reload") == 0
        assert groupx(server, "status", "--json") == 0
        assert json.loads(capsys.readouterr().out)["configChange"] is None


def agent_pid(server: ServerProcess) -> int:
    """The pid of the scripted agent that was started last."""
    lines = [json.loads(line) for line in server.prompt_log.read_text().splitlines()]
    return int([line for line in lines if "pid" in line][-1]["pid"])


def is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
