"""`groupx config`: what is set, what it may be, and that a wrong value changes nothing."""

from __future__ import annotations

import json

from groupx_shared.config import load_config
from groupx_shared.workspace import Workspace
from support.cli_run import Groupx
from support.cli_server import CliServer


def test_settings_are_listed_and_what_differs_is_marked(
    groupx: Groupx, workspace: Workspace
) -> None:
    workspace.config_path.write_text('{"limits": {"queuePerAgent": 5}}')
    lines = groupx("config", "list").out.splitlines()
    marked = [line.split() for line in lines if line.startswith("*")]
    assert [words[:3] for words in marked] == [["*", "limits.queuePerAgent", "5"]]
    told = json.loads(groupx("config", "list", "--json").out)
    assert told["configPath"] == str(workspace.config_path)
    port = next(each for each in told["settings"] if each["key"] == "server.port")
    assert (port["value"], port["lowest"], port["highest"]) == (0, 0, 65_535)
    assert port["needsRestart"]


def test_one_is_changed_and_taken_back_without_touching_the_rest(
    groupx: Groupx, workspace: Workspace
) -> None:
    before = '{\n  "timeouts": {"askMs": 200},\n  "limits": {"hopCount": 3}\n}\n'
    workspace.config_path.write_text(before)
    assert groupx("config", "set", "limits.queuePerAgent=32").code == 0
    assert load_config(workspace).limits.queue_per_agent == 32
    assert '"timeouts": {"askMs": 200}' in workspace.config_path.read_text()
    assert groupx("config", "set", "limits.queuePerAgent=").code == 0
    assert json.loads(workspace.config_path.read_text()) == json.loads(before)


def test_a_running_server_takes_it_over_or_needs_a_restart(
    groupx: Groupx, server: CliServer
) -> None:
    reply = {"settings": ["limits.queuePerAgent"], "restartRequired": ["server.port"]}
    server.replies["POST", "/api/runtime/reload"] = (200, reply)
    result = groupx("config", "set", "limits.queuePerAgent=32")
    assert "limits.queuePerAgent: in effect." in result.err
    assert "server.port: only after “groupx restart”." in result.err


def test_what_does_not_fit_is_refused_and_nothing_written(
    groupx: Groupx, workspace: Workspace
) -> None:
    before = workspace.config_path.read_text()
    for setting, said in (
        ("limits.queuePerAgent=many", "expected a whole number from 1 to 10,000"),
        ("limits.queuePerAgnt=3", "limits.queuePerAgent"),
        ("nonsense", "Write KEY=VALUE"),
    ):
        result = groupx("config", "set", setting)
        assert result.code != 0
        assert said in result.err
    assert workspace.config_path.read_text() == before
