"""`groupx agents add|remove|enable|disable|set`: the file, the server, the words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groupx_shared.config import load_config
from groupx_shared.settings import AgentSettings
from groupx_shared.workspace import Workspace, default_workspace
from support.cli_run import Groupx
from support.cli_server import CliServer
from support.fake_trials import FakeTrials, report

pytestmark = pytest.mark.usefixtures("trials")


def agents(workspace: Workspace) -> dict[str, AgentSettings]:
    return load_config(workspace).agents


def reloads(server: CliServer) -> int:
    return sum(path == "/api/runtime/reload" for _, path, _ in server.requests)


def answer(server: CliServer, **reply: Any) -> None:
    server.replies["POST", "/api/runtime/reload"] = (200, reply)


def test_a_known_agent_needs_only_its_name(
    groupx: Groupx, workspace: Workspace, trials: FakeTrials
) -> None:
    trials.reports = [report("kimi", "found", name="Kimi Code", program="/bin/kimi")]
    result = groupx("agents", "add", "kimi")
    assert (result.code, result.out) == (0, "kimi\n")
    assert "Try it: groupx agents test kimi" in result.err
    assert list(agents(workspace)) == ["guide", "kimi"]
    assert agents(workspace)["kimi"] == AgentSettings(driver="kimi", name="Kimi Code")
    assert trials.asked == [("check", "kimi", {"driver": "kimi"})]


def test_one_that_is_not_installed_is_added_and_how_to_install_it_said(
    groupx: Groupx, workspace: Workspace, trials: FakeTrials
) -> None:
    trials.reports = [report("kimi", "absent", problem="Not found.", advice="Install it: npm i.")]
    result = groupx("agents", "add", "@kimi")
    assert result.code == 0
    assert result.err.endswith("Not found. Install it: npm i.\n")
    assert "kimi" in agents(workspace)


def test_everything_can_be_said(groupx: Groupx, workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    result = groupx(
        *("agents", "add", "mine", "--command", "my-agent --acp", "--cwd", "sub"),
        *("--name", "Mine", "--identity", "You review.", "--json"),
    )
    settings = {"driver": "acp", "name": "Mine", "command": "my-agent --acp", "cwd": "sub"}
    told = json.loads(result.out)
    assert told["settings"] == {**settings, "identity": "You review."}
    assert (told["agent"], told["reload"]) == ("mine", None)
    assert agents(workspace)["mine"] == AgentSettings(**told["settings"])


def test_a_second_one_of_a_driver_keeps_its_own_id_as_name(
    groupx: Groupx, workspace: Workspace, trials: FakeTrials
) -> None:
    trials.reports = [report("kimi2", "found", name="Kimi Code")]
    groupx("agents", "add", "kimi2", "--driver", "kimi")
    assert agents(workspace)["kimi2"] == AgentSettings(driver="kimi")


def test_a_folder_elsewhere_is_named_whole(
    groupx: Groupx, workspace: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("elsewhere").resolve()
    groupx("agents", "add", "kimi", "--cwd", str(folder))
    assert agents(workspace)["kimi"].cwd == str(folder)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "list --available"),
        (["foo"], 2, "no known agent"),
        (["kimi", "--cwd", "no/such"], 2, "There is no folder"),
        (["x", "--local", "--driver", "kimi"], 2, "--local goes without"),
        (["guide"], 6, "There is an agent “guide” already"),
        (["assistant", "--command", "x"], 6, "cannot be an agent's id"),
        (["a b", "--command", "x"], 6, "cannot be an agent's id"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    groupx: Groupx, workspace: Workspace, words: list[str], code: int, said: str
) -> None:
    result = groupx("agents", "add", *words)
    assert (result.code, result.out) == (code, "")
    assert said in result.err
    assert workspace.config_path.read_text() == "{}"


def test_what_the_server_s_code_would_refuse_is_not_written(
    groupx: Groupx, workspace: Workspace, trials: FakeTrials
) -> None:
    trials.refusal = "There is no driver “kimmi”. Did you mean “kimi”?"
    result = groupx("agents", "add", "k", "--driver", "kimmi")
    assert (result.code, trials.refusal in result.err) == (6, True)
    assert workspace.config_path.read_text() == "{}"


def test_the_local_agent_has_a_name_of_its_own(groupx: Groupx, trials: FakeTrials) -> None:
    trials.refusal = "Install it: pip install 'groupx[local]'."
    result = groupx("agents", "add", "--local")
    assert (result.code, trials.refusal in result.err) == (6, True)
    assert trials.asked == [("check", "local", {"driver": "builtin", "model": {"local": True}})]


def test_the_default_workspace_gets_its_file(
    groupx: Groupx, tmp_path: Path, workspace: Workspace
) -> None:
    workspace.config_path.unlink()
    assert groupx("agents", "add", "kimi").code == 0
    assert list(agents(default_workspace())) == ["guide", "kimi"]
    assert list(tmp_path.iterdir()) == []


def test_a_running_server_takes_it_over_and_what_that_means_is_said(
    groupx: Groupx, server: CliServer
) -> None:
    answer(
        server,
        added=["agent:kimi", "agent:b", "agent:c"],
        finishing=["agent:codex"],
        settings=["limits.hopCount"],
        restartRequired=["server.port"],
    )
    result = groupx("agents", "add", "kimi")
    assert result.err.splitlines() == [
        "kimi, b and c are here now.",
        "codex ends its running turn first.",
        "limits.hopCount: in effect.",
        "server.port: only after “groupx restart”.",
        "Try it: groupx agents test kimi",
    ]
    assert reloads(server) == 1


def test_a_server_that_does_not_take_it_over_is_said(
    groupx: Groupx, server: CliServer, workspace: Workspace
) -> None:
    error = {"error": {"code": "CONFIG_INVALID", "message": "It has an error."}}
    server.replies["POST", "/api/runtime/reload"] = (409, error)
    result = groupx("agents", "add", "kimi")
    assert result.code == 6
    assert "did not take it over: It has an error." in result.err
    assert "kimi" in agents(workspace)


def test_an_older_server_needs_a_restart(groupx: Groupx, server: CliServer) -> None:
    error = {"error": {"code": "UNKNOWN_PATH", "message": "No such path."}}
    server.replies["POST", "/api/runtime/reload"] = (404, error)
    assert "only after “groupx restart”" in groupx("agents", "add", "kimi").err


def test_switched_off_on_and_taken_out(groupx: Groupx, workspace: Workspace) -> None:
    groupx("agents", "add", "kimi")
    assert groupx("agents", "disable", "kimi").code == 0
    assert not agents(workspace)["kimi"].enabled
    groupx("agents", "enable", "agent:kimi")
    assert agents(workspace)["kimi"].enabled
    told = json.loads(groupx("agents", "remove", "kimi", "--json").out)
    assert told == {"configPath": str(workspace.config_path), "reload": None}
    assert list(agents(workspace)) == ["guide"]


@pytest.mark.parametrize("what", ["remove", "enable", "disable"])
def test_an_unknown_agent_is_named(groupx: Groupx, workspace: Workspace, what: str) -> None:
    result = groupx("agents", what, "giude")
    assert (result.code, "Did you mean “guide”?" in result.err) == (6, True)
    assert workspace.config_path.read_text() == "{}"


@pytest.mark.parametrize(
    ("setting", "changes"),
    [
        ("name=Ada=B", {"name": "Ada=B"}),
        ("enabled=off", {"enabled": False}),
        ("env.A.B=1", {"env": {"A.B": "1"}}),
        ('env={"X": "y"}', {"env": {"X": "y"}}),
        ("options.mode_id=auto", {"options": {"mode_id": "auto"}}),
        ('options.mode_id=["a", "b"]', {"options": {"mode_id": ["a", "b"]}}),
        ("options.settle_s=0.5", {"options": {"settle_s": 0.5}}),
        ("command=other --acp", {"command": "other --acp"}),
        ('command={"executable": "x"}', {"command": {"executable": "x"}}),
    ],
)
def test_a_setting_is_set_and_taken_back(
    groupx: Groupx, workspace: Workspace, trials: FakeTrials, setting: str, changes: dict[str, Any]
) -> None:
    groupx("agents", "add", "mine", "--command", "m")
    before = agents(workspace)["mine"]
    assert groupx("agents", "set", "mine", setting).code == 0
    changed = AgentSettings.model_validate({**before.model_dump(exclude_unset=True), **changes})
    assert agents(workspace)["mine"] == changed
    key = next(iter(changes))
    assert trials.asked[-1][2][key] == changes[key]
    assert groupx("agents", "set", "mine", f"{key}=").code == 0
    assert getattr(agents(workspace)["mine"], key) == getattr(AgentSettings(), key)


@pytest.mark.parametrize(
    ("setting", "code", "said"),
    [
        ("name", 2, "KEY=VALUE"),
        ("=x", 2, "KEY=VALUE"),
        ("nmae=x", 6, "Did you mean “name”?"),
        ("enabled=perhaps", 6, "Nothing was changed"),
        ("driver.x=y", 6, "no such setting"),
        ("name=" + "x" * 65, 6, "at most 64"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(
    groupx: Groupx, workspace: Workspace, setting: str, code: int, said: str
) -> None:
    groupx("agents", "add", "mine", "--command", "m")
    text = workspace.config_path.read_text()
    result = groupx("agents", "set", "mine", setting)
    assert (result.code, said in result.err) == (code, True), result.err
    assert workspace.config_path.read_text() == text


def test_writing_days_down_is_switched_off_for_one_agent(
    groupx: Groupx, workspace: Workspace, trials: FakeTrials
) -> None:
    groupx("agents", "add", "mine", "--command", "m")
    assert groupx("agents", "set", "mine", "datedMemory=off").code == 0
    assert not agents(workspace)["mine"].dated_memory
    assert groupx("agents", "set", "mine", "datedMemory=true").code == 0
    assert agents(workspace)["mine"].dated_memory


def test_a_file_with_an_error_is_left_alone(groupx: Groupx, workspace: Workspace) -> None:
    workspace.config_path.write_text('{"agnets": {}}')
    result = groupx("agents", "add", "kimi")
    assert result.code == 6
    assert "agnets: no such key. Did you mean “agents”? Nothing was changed." in result.err
    assert workspace.config_path.read_text() == '{"agnets": {}}'


def test_reload_says_what_it_did(groupx: Groupx, server: CliServer) -> None:
    answer(server)
    assert groupx("reload").err == "Nothing has changed.\n"
    answer(server, changed=["agent:kimi"], removed=["agent:a", "agent:b"])
    assert groupx("reload").err == "a and b were taken out.\nkimi has its new settings.\n"
    assert json.loads(groupx("reload", "--json").out)["changed"] == ["agent:kimi"]


def test_reload_without_a_server_starts_none(groupx: Groupx, workspace: Workspace) -> None:
    result = groupx("reload")
    assert (result.code, "No server runs" in result.err) == (3, True)
