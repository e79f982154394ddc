"""`groupx doctor`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from groupx_shared.runtime import runtime_path
from groupx_shared.workspace import Workspace
from groupx_tui.cli.doctor import _sqlite
from support.cli_run import Ended, Groupx
from support.cli_server import CliServer

GONE = 2**22 + 5


def levels(result: Ended) -> dict[str, str]:
    findings = json.loads(result.out)["findings"]
    return {finding["check"]: finding["level"] for finding in findings}


def test_a_sound_machine_has_no_findings(groupx: Groupx) -> None:
    result = groupx("doctor", "--json")
    assert result.code == 0
    assert levels(result) == dict.fromkeys(
        ["program", "python", "sqlite", "data", "config", "server"], "ok"
    )


def test_lines_for_people(groupx: Groupx, workspace: Workspace) -> None:
    out = groupx("doctor").out
    assert f"ok       config     {workspace.config_path}\n" in out


def test_a_config_with_an_error_names_key_and_nearest(groupx: Groupx, workspace: Workspace) -> None:
    workspace.config_path.write_text('{"agnets": {}}')
    result = groupx("doctor")
    assert result.code == 3
    assert "agnets: no such key. Did you mean “agents”?" in result.out


def test_a_missing_agent_program_is_a_warning(groupx: Groupx, workspace: Workspace) -> None:
    agents = {
        "a": {"driver": "acp", "command": "no-such-program --acp"},
        "b": {"driver": "acp", "command": {"executable": "sh", "args": ["-c", "x"]}},
        "c": {"driver": "acp", "command": "no-such-program", "enabled": False},
        "d": {"driver": "builtin"},
    }
    workspace.config_path.write_text(json.dumps({"agents": agents}))
    result = groupx("doctor", "--json")
    found = levels(result)
    assert (result.code, found["agent a"], found["agent b"]) == (0, "warning", "ok")
    assert not {"agent c", "agent d"} & set(found)


def test_a_running_server_is_named(groupx: Groupx, server: CliServer) -> None:
    assert server.url in groupx("doctor").out


@pytest.mark.parametrize("change", ["gone", "closing", "config"])
def test_what_is_odd_about_the_server_is_a_warning(
    groupx: Groupx, server: CliServer, change: str
) -> None:
    if change == "gone":
        server.publish(pid=GONE)
        server.join()
    elif change == "closing":
        server.status = "closing"
    else:
        server.publish(started_at="2000-01-01T00:00:00Z")
    result = groupx("doctor", "--json")
    assert (result.code, levels(result)["server"]) == (0, "warning")


def test_a_token_that_others_can_read_is_an_error(groupx: Groupx, server: CliServer) -> None:
    runtime_path(server.workspace).chmod(0o640)
    result = groupx("doctor")
    assert (result.code, "chmod 600" in result.out) == (3, True)


def test_a_folder_that_cannot_be_written_is_an_error(
    groupx: Groupx, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    result = groupx("doctor", "--json")
    assert (result.code, levels(result)["data"]) == (3, "error")


def test_an_old_sqlite_is_an_error() -> None:
    assert _sqlite((3, 30, 0), "3.30.0").level == "error"
