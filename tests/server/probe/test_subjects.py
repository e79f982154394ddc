"""Which agents there are to look at, and what a look at the disk tells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from groupx_server.agents.catalogue import KNOWN_AGENTS, known_agent
from groupx_server.probe.subjects import all_subjects, find_subject, known_subject, located
from groupx_shared.errors import ErrorCode, RefusedError
from server.probe.probe_kit import config_of, noting_program, scripted, starts_of, subject_of


@pytest.fixture(autouse=True)
def _empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def test_the_config_comes_first_and_known_agents_that_it_has_are_not_told_twice(
    tmp_path: Path,
) -> None:
    config = config_of(
        {"mine": {"driver": "kimi"}, "other": {"driver": "gemini", "command": "node gem.js"}}
    )
    subjects = all_subjects(config, tmp_path, tmp_path)
    ids = [subject.entry.handle for subject in subjects]
    assert ids[:2] == ["mine", "other"]
    assert "kimi" not in ids[2:]
    assert "gemini" in ids[2:]
    assert len(ids) == len(KNOWN_AGENTS) + 1


def test_an_agent_is_found_by_its_id_or_as_a_known_one(tmp_path: Path) -> None:
    config = config_of({"mine": {"driver": "kimi"}})
    assert find_subject("@mine", config, tmp_path, tmp_path).configured
    assert not find_subject("kimi", config, tmp_path, tmp_path).configured
    assert not find_subject("agent:codex", config, tmp_path, tmp_path).configured
    with pytest.raises(RefusedError, match="Did you mean “kimi”") as refused:
        find_subject("kimmi", config, tmp_path, tmp_path)
    assert refused.value.code is ErrorCode.UNKNOWN_ACTOR


def test_a_program_that_is_not_here_says_how_to_install_it(tmp_path: Path) -> None:
    known = known_agent("kimi")
    assert known is not None
    report, program = located(known_subject(known, tmp_path))
    assert program is None
    assert (report.state, report.configured) == ("absent", False)
    assert report.advice == f"Install it: {known.install} (needs {known.runtime})."


def test_one_that_nobody_has_seen_running_says_so(tmp_path: Path) -> None:
    known = known_agent("kimi")
    assert known is not None
    unseen = replace(known, install="", seen="")
    report, _ = located(known_subject(unseen, tmp_path))
    assert (report.unverified, report.install) == (True, None)
    assert "as its makers say" in (report.advice or "")


def test_a_command_that_is_not_here_is_named(tmp_path: Path) -> None:
    report, _ = located(subject_of(tmp_path, {"driver": "acp", "command": "no-such --acp"}))
    assert report.state == "absent"
    assert "“no-such”" in (report.problem or "")
    report, _ = located(subject_of(tmp_path, {"driver": "acp"}))
    assert report.problem == "It has no command."


def test_a_program_is_found_on_path_by_relative_path_and_in_the_usual_places(
    tmp_path: Path,
) -> None:
    on_path = noting_program(tmp_path / "bin/my-agent")
    report, _ = located(subject_of(tmp_path, {"driver": "acp", "command": "my-agent --acp"}))
    assert report.program == str(on_path)
    beside = noting_program(tmp_path / "tools/agent")
    report, _ = located(subject_of(tmp_path, {"driver": "acp", "command": "./tools/agent"}))
    assert report.program == str(beside)
    usual = noting_program(tmp_path / "home/.local/bin/kimi")
    report, _ = located(subject_of(tmp_path, {"driver": "kimi"}))
    assert (report.program, report.state) == (str(usual), "found")
    assert starts_of(on_path) == starts_of(beside) == starts_of(usual) == []


def test_the_built_in_agent_is_always_here(tmp_path: Path) -> None:
    report, _ = located(subject_of(tmp_path, {"driver": "builtin"}))
    assert (report.state, report.program) == ("found", "built in")
    report, _ = located(subject_of(tmp_path, scripted()))
    assert report.state == "found"
