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
from support.fake_trials import FakeTrials, report

UNVERIFIED = "Never seen running with GroupX; its settings are from its documentation."
GONE = 2**22 + 5

pytestmark = pytest.mark.usefixtures("trials")


def levels(result: Ended) -> dict[str, str]:
    findings = json.loads(result.out)["findings"]
    return {finding["check"]: finding["level"] for finding in findings}


def test_a_sound_machine_has_no_findings(groupx: Groupx) -> None:
    result = groupx("doctor", "--json")
    assert result.code == 0
    assert levels(result) == dict.fromkeys(
        ["program", "python", "sqlite", "data", "config", "database", "server"], "ok"
    )


def test_lines_for_people(groupx: Groupx, workspace: Workspace) -> None:
    out = groupx("doctor").out
    assert f"ok       config   {workspace.config_path}\n" in out


def test_a_config_with_an_error_names_key_and_nearest(groupx: Groupx, workspace: Workspace) -> None:
    workspace.config_path.write_text('{"agnets": {}}')
    result = groupx("doctor")
    assert result.code == 3
    assert "agnets: no such key. Did you mean “agents”?" in result.out


def test_agents_are_told_in_one_line_each(groupx: Groupx, trials: FakeTrials) -> None:
    trials.reports = [
        report("kimi", "ready", version="2.1.0", program="/bin/kimi", startS=1.234, sessionS=0.3),
        report("gem", "needs_login", problem="No key.", advice="Run “gemini” once."),
        report("bad", "failed", problem="It exited with status 1."),
        report("off", "disabled"),
        report("gone", "absent", advice="Install it: npm i."),
        report("new", "absent", configured=False, advice="Install it: npm i new."),
        report("odd", "found", configured=False, unverified=True, program="/bin/odd"),
    ]
    result = groupx("doctor")
    assert result.code == 0
    assert [line.rstrip() for line in result.out.splitlines() if " agent " in line] == [
        "ok       agent kimi Kimi 2.1.0 answers (start 1.2 s, session 0.3 s); /bin/kimi",
        "warning  agent gem  Gem: needs login. No key. Run “gemini” once.",
        "warning  agent bad  Bad: failed. It exited with status 1.",
        "ok       agent off  Off is switched off",
        "warning  agent gone Gone is not here. Install it: npm i.",
        "absent   agent new  New is not here. Install it: npm i new.",
        "ok       agent odd  Odd is here; /bin/odd. " + UNVERIFIED,
    ]
    assert trials.asked == [("survey", True)]


def test_json_has_the_whole_report_and_quick_starts_nothing(
    groupx: Groupx, trials: FakeTrials
) -> None:
    trials.reports = [report("kimi", "found", version="2.1.0")]
    findings = json.loads(groupx("doctor", "--quick", "--json").out)["findings"]
    (finding,) = [each for each in findings if each["check"] == "agent kimi"]
    assert finding["agent"] == trials.reports[0]
    assert trials.asked == [("survey", False)]


@pytest.mark.parametrize(("state", "code"), [("ready", 0), ("failed", 3), ("needs_login", 3)])
def test_one_agent_is_tried_wholly(
    groupx: Groupx, trials: FakeTrials, state: str, code: int
) -> None:
    trials.reports = [report("kimi", state, turnS=2.0, answer="ready", stderr="one\ntwo\x1b[2J")]
    result = groupx("doctor", "--agent", "kimi")
    assert result.code == code
    assert result.out.startswith("kimi: Kimi")
    assert ("(answer 2.0 s)" in result.out) == (state == "ready")
    assert result.err == "  one\n  two␛[2J\n"
    assert trials.asked == [("turn", "kimi")]
    as_json = json.loads(groupx("doctor", "--agent", "kimi", "--json").out)
    assert as_json == {"report": trials.reports[0]}


def test_an_agent_that_nobody_knows_is_refused(groupx: Groupx, trials: FakeTrials) -> None:
    trials.refusal = "There is no agent “kimmi”. Did you mean “kimi”?"
    result = groupx("doctor", "--agent", "kimmi")
    assert (result.code, result.err) == (6, f"groupx: {trials.refusal}\n")


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
