"""One agent is tried: what it is, whether it answers, what to do; nothing of it stays."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from groupx_server.agents.catalogue import KNOWN_AGENTS, known_agent
from groupx_server.agents.presets import PRESETS
from groupx_server.probe.report import Report
from groupx_server.probe.subjects import Subject, known_subject
from groupx_server.probe.trial import Prober
from server.agents.kit import NoGuard
from server.probe.probe_kit import SCRIPT, noting_program, scripted, starts_of, subject_of

pytestmark = [pytest.mark.process, pytest.mark.slow]


async def tried(subject: Subject, *, start: bool = True) -> Report:
    guard = NoGuard()
    report = await Prober(guard).look(subject, start=start)
    assert guard.groups == set()
    return report


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing but a shell."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


async def test_an_agent_that_answers_is_ready_and_its_times_are_told(tmp_path: Path) -> None:
    report = await tried(subject_of(tmp_path, scripted()))
    assert (report.state, report.version, report.problem) == ("ready", "1.2.3", None)
    assert report.start_s is not None
    assert report.session_s is not None


async def test_nothing_is_started_when_nobody_asked(tmp_path: Path) -> None:
    program = noting_program(tmp_path / "agent")
    report = await tried(subject_of(tmp_path, {"driver": "acp", "command": "./agent"}), start=False)
    assert (report.state, starts_of(program)) == ("found", [])
    off = {"driver": "acp", "command": "./agent", "enabled": False}
    assert (await tried(subject_of(tmp_path, off))).state == "disabled"
    assert starts_of(program) == []


@pytest.mark.parametrize(
    ("options", "state", "said"),
    [
        (["--init-exit=7"], "failed", "status 7"),
        (["--init-hang"], "failed", "did not answer initialize within 0.3 s"),
        (["--version=9"], "failed", "speaks version 9"),
        (["--new-error=-32000"], "needs_login", "not signed in"),
        (["--init-error=-32000"], "needs_login", "not signed in"),
    ],
)
async def test_what_is_wrong_is_said_and_never_hangs(
    tmp_path: Path, options: list[str], state: str, said: str
) -> None:
    limits = {"handshakeMs": 300 if "hang" in options[0] else 10_000}
    subject = subject_of(tmp_path, scripted(*options), timeouts=limits)
    report = await tried(subject)
    assert report.state == state
    assert said in (report.problem or "")


async def test_options_that_the_driver_does_not_know_are_said(tmp_path: Path) -> None:
    report = await tried(subject_of(tmp_path, scripted(options={"nope": 1})))
    assert (report.state, "'nope'" in (report.problem or "")) == ("failed", True)


async def test_a_missing_login_says_what_to_run(tmp_path: Path, home: Path) -> None:
    line = shlex.join([sys.executable, str(SCRIPT), "--new-error=-32000"])
    program = noting_program(home / ".local/bin/kimi")
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo 2.1.0 || exec {line}\n')
    known = known_agent("kimi")
    assert known is not None
    tmp_path.joinpath("work").mkdir()
    report = await tried(known_subject(known, tmp_path / "work"))
    assert (report.state, report.program) == ("needs_login", str(program))
    assert "Run “kimi login”." in f"{report.problem} {report.advice}"
    assert f"{report.problem} {report.advice}".count("kimi login") == 1


async def test_a_retired_program_of_the_same_name_is_never_started(
    tmp_path: Path, home: Path
) -> None:
    venv = home / "venv"
    (venv / "lib/python3.12/site-packages/kimi_cli-1.52.0.dist-info").mkdir(parents=True)
    (venv / "bin").mkdir()
    (venv / "bin/python3").symlink_to("/bin/sh")
    program = noting_program(home / ".local/bin/kimi")
    text = program.read_text().replace("#!/bin/sh", f"#!{venv}/bin/python3")
    program.write_text(text)
    known = known_agent("kimi")
    assert known is not None
    report = await tried(known_subject(known, tmp_path))
    assert report.state == "failed"
    assert "retired" in (report.problem or "")
    assert known.install in (report.advice or "")
    assert starts_of(program) == []


async def test_a_program_is_asked_for_its_version_when_no_package_tells_it(
    tmp_path: Path, home: Path
) -> None:
    program = noting_program(home / ".local/bin/goose", "goose 1.9.3")
    known = known_agent("goose")
    assert known is not None
    report = await tried(known_subject(known, tmp_path), start=False)
    assert (report.version, report.state) == ("1.9.3", "found")
    assert starts_of(program) == ["args: --version"]


async def test_one_that_is_too_old_is_not_started(tmp_path: Path, home: Path) -> None:
    program = noting_program(home / ".local/bin/claude", "2.0.1 (Claude Code)")
    known = known_agent("claude")
    assert known is not None
    report = await tried(known_subject(known, tmp_path))
    assert (report.state, "2.1.197 or newer" in (report.problem or "")) == ("failed", True)
    assert starts_of(program) == ["args: --version"]


async def test_one_that_is_older_than_the_one_that_was_seen_is_remarked(
    tmp_path: Path, home: Path
) -> None:
    package = home / "lib/qwen"
    noting_program(package / "bin/qwen")
    named = {"name": "@qwen-code/qwen-code", "version": "0.15.10"}
    (package / "package.json").write_text(json.dumps(named))
    (home / ".local/bin").mkdir(parents=True)
    (home / ".local/bin/qwen").symlink_to(package / "bin/qwen")
    known = known_agent("qwen")
    assert known is not None
    report = await tried(known_subject(known, tmp_path), start=False)
    assert report.version == "0.15.10"
    assert report.advice == (
        f"Older than {known.seen}, with which it was seen working. It needs Node 22 or newer."
    )


async def test_no_program_is_started_but_as_its_driver_says(tmp_path: Path, home: Path) -> None:
    programs = {
        known.program: noting_program(home / ".local/bin" / known.program, "1.0", 3)
        for known in KNOWN_AGENTS
    }
    for known in KNOWN_AGENTS:
        await tried(known_subject(known, tmp_path))
    starts = {name: starts_of(program) for name, program in programs.items()}
    assert all(starts.values())
    bare = {name for name, lines in starts.items() if "args: " in lines}
    assert bare == {p.argv[0] for p in PRESETS.values() if len(p.argv) == 1}
    assert "kimi" not in bare
