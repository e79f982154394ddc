"""`groupx status`: starts nothing, tells what runs."""

from __future__ import annotations

import json
import os

import pytest

from groupx_shared.config import load_config, runtime_key
from groupx_shared.version import VERSION
from groupx_shared.workspace import Workspace, default_workspace
from groupx_tui.cli.status import config_change
from support.cli_run import Groupx
from support.cli_server import CliServer

OLD, LATER = "2000-01-01T00:00:00.000Z", "2100-01-01T00:00:00.000Z"
GONE = 2**22 + 5


def test_without_a_server_it_says_so_and_starts_none(groupx: Groupx) -> None:
    result = groupx("status")
    assert (result.code, result.out) == (3, "")
    assert "groupx start" in result.err


def test_without_a_server_json_says_so(groupx: Groupx, workspace: Workspace) -> None:
    result = groupx("status", "--json")
    assert result.code == 3
    assert json.loads(result.out) == {
        "running": False,
        "standing": "absent",
        "configPath": str(workspace.config_path),
        "dataFolder": str(workspace.data_folder),
    }


def test_a_crashed_server_is_none(groupx: Groupx, server: CliServer) -> None:
    server.publish(pid=GONE)
    server.join()
    result = groupx("status", "--json")
    assert (result.code, json.loads(result.out)["standing"]) == (3, "gone")


def test_a_server_on_its_way_out_is_said(groupx: Groupx, server: CliServer) -> None:
    server.status = "closing"
    result = groupx("status")
    assert (result.code, "is closing" in result.err) == (3, True)


def test_it_shows_server_rooms_agents_and_open_turns(
    groupx: Groupx, server: CliServer, workspace: Workspace
) -> None:
    server.turns = {"t": {"turnId": "turn_1", "targetActorId": "agent:guide", "status": "running"}}
    result = groupx("status")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        f"server    {server.url} (process {os.getpid()}, version {VERSION})\n"
        "up        1 h 2 min\n"
        f"config    {workspace.config_path}\n"
        f"data      {workspace.data_folder}\n"
        f"log       {workspace.data_folder}/logs/server.log\n"
        "rooms     1: main\n"
        "assistant Room assistant (codex), ready\n"
        "\n"
        "AGENT   NAME   STATUS  QUEUED  DETAIL\n"
        "guide*  Guide  ready\n"
        "\n"
        "TURN    AGENT  STATUS   ROOM  QUEUED  DETAIL\n"
        "turn_1  guide  running  None  None\n"
    )
    assert ("GET", "/api/turns?status=open&limit=50", None) in server.requests


def test_json_has_the_documented_keys_and_no_token(groupx: Groupx, server: CliServer) -> None:
    result = groupx("status", "--json")
    assert set(json.loads(result.out)) == {
        *("running", "standing", "configPath", "dataFolder", "url", "pid", "version", "status"),
        "runtimeFile",
        "problem",
        *("startedAt", "uptimeS", "logFile", "configChange", "rooms", "agents", "openTurns"),
        "assistant",
    }
    assert server.token not in result.out


def test_a_changed_config_is_said(groupx: Groupx, server: CliServer) -> None:
    server.publish(started_at=OLD)
    result = groupx("status")
    assert result.code == 0
    assert "groupx reload" in result.err


@pytest.mark.parametrize("started_at", [LATER, OLD, "some day"])
def test_a_config_that_was_only_touched_is_the_same(
    server: CliServer, workspace: Workspace, started_at: str
) -> None:
    key = runtime_key(workspace, load_config(workspace))
    assert config_change(workspace, server.runtime(started_at=started_at, runtime_key=key)) is None


def test_a_config_with_an_error_is_quoted(server: CliServer, workspace: Workspace) -> None:
    workspace.config_path.write_text('{"agnets": {}}')
    change = config_change(workspace, server.runtime(started_at=OLD))
    assert change is not None
    assert "agents" in change


def test_a_config_that_is_gone_is_said(server: CliServer, workspace: Workspace) -> None:
    workspace.config_path.unlink()
    assert config_change(workspace, server.runtime()) == "It is not there any more."
    assert config_change(default_workspace(), server.runtime()) is None
