"""The child that looks at agents: asked, followed, and gone at the end."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from groupx_shared.workspace import Workspace
from groupx_tui.cli import diagnostics, trials
from groupx_tui.cli.diagnostics import CommandError, ExitCode

pytestmark = [pytest.mark.process, pytest.mark.slow]


def play(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Let a small script be the child."""
    monkeypatch.setattr(trials, "command", lambda workspace: [sys.executable, "-c", code])


def test_the_real_child_knows_the_agents_and_starts_the_built_in_one(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GROUPX_MODEL_DISCOVERY", "0")
    reports = trials.survey(workspace, start=False)
    assert reports[0]["agent"] == "guide"
    assert len(reports) > 10
    guide = trials.try_turn(workspace, "guide")
    assert (guide["state"], guide["version"]) == ("ready", reports[0]["version"])
    assert guide["turnS"] >= guide["firstEventS"] > 0
    assert list(tmp_path.iterdir()) == [workspace.config_path]


def test_a_refusal_is_passed_on(workspace: Workspace) -> None:
    with pytest.raises(CommandError, match="Did you mean “kimi”") as refused:
        trials.try_agent(workspace, "kimmi")
    assert refused.value.exit_code is ExitCode.REFUSED
    with pytest.raises(CommandError, match="Did you mean “kimi”"):
        trials.check(workspace, "k", {"driver": "kimmi"})
    with pytest.raises(CommandError, match="not known to the acp driver"):
        trials.check(workspace, "k", {"driver": "kimi", "options": {"x": 1}})


def test_settings_that_would_do_are_reported(workspace: Workspace) -> None:
    assert trials.check(workspace, "g", {"driver": "builtin"})["state"] == "found"


def test_the_config_of_the_workspace_is_meant(workspace: Workspace) -> None:
    assert trials.command(workspace)[-2:] == ["--config", str(workspace.config_path)]
    workspace.config_path.unlink()
    assert trials.command(workspace)[-1] == "--default-workspace"


def test_tokens_of_a_server_do_not_reach_the_child(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPX_AGENT_TOKEN", "secret")
    play(
        monkeypatch,
        "import json, os; print(json.dumps({'report': {'agent': 'x', 'configured': True,"
        " 'state': 'found', 'driver': 'x', 'names': sorted(os.environ)}}))",
    )
    (report,) = trials.survey(workspace, start=False)
    assert "GROUPX_AGENT_TOKEN" not in report["names"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.exit('it \\x1b[2Jbroke')", "it ␛[2Jbroke"),
        ("pass", "without a result"),
    ],
)
def test_a_child_that_fails_is_said(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    play(monkeypatch, code)
    with pytest.raises(CommandError) as failed:
        trials.try_agent(workspace, "x")
    assert said in failed.value.message
    assert failed.value.exit_code is ExitCode.UNCERTAIN


def test_an_interruption_leaves_no_child(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = json.dumps({"begin": "x"})
    play(
        monkeypatch,
        f"import os, time; print(os.getpid()); print({line!r}, flush=True); time.sleep(60)",
    )
    pids: list[int] = []

    def interrupt(text: str) -> None:
        raise KeyboardInterrupt

    real = json.loads

    def note(raw: bytes) -> object:
        value = real(raw)
        if isinstance(value, int):
            pids.append(value)
            return {}
        return value

    monkeypatch.setattr(json, "loads", note)
    monkeypatch.setattr(diagnostics, "progress", interrupt)
    monkeypatch.setattr(trials, "LEAVE_S", 0.2)
    with pytest.raises(KeyboardInterrupt):
        trials.survey(workspace, start=True)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
