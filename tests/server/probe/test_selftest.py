"""A whole turn in a scratch room: real driver, real lane, and nothing left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from groupx_server.probe.report import Report
from groupx_server.probe.selftest import _Watch, run_turn
from groupx_server.probe.subjects import located
from server.agents.kit import NoGuard
from server.probe.probe_kit import scripted, subject_of

pytestmark = [pytest.mark.process, pytest.mark.slow]


async def turned(
    folder: Path, settings: dict[str, Any], limit_s: float = 20, **more: Any
) -> Report:
    scratch = folder / "scratch"
    scratch.mkdir()
    subject = subject_of(folder, settings, **more)
    report, _ = located(subject)
    guard = NoGuard()
    await run_turn(report, subject, scratch, guard, limit_s)
    assert guard.groups == set()
    return report


async def test_an_agent_that_answers_tells_its_times_and_its_answer(tmp_path: Path) -> None:
    report = await turned(tmp_path, scripted())
    assert (report.state, report.version, report.steps) == ("ready", "1.2.3", 0)
    assert report.answer is not None
    assert "echo:" in report.answer
    assert report.first_event_s is not None
    assert report.turn_s is not None
    assert 0 < report.first_event_s <= report.turn_s
    assert report.stop_s is not None


async def test_it_works_in_an_empty_folder_and_not_in_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "agent.sh").write_text(f"#!/bin/sh\npwd > {tmp_path}/where\nexit 1\n")
    (tmp_path / "agent.sh").chmod(0o755)
    report = await turned(tmp_path, {"driver": "acp", "command": "./agent.sh"})
    assert report.state == "failed"
    assert (tmp_path / "where").read_text().strip() == str(tmp_path / "scratch" / "work")


@pytest.mark.parametrize(
    ("options", "state", "said"),
    [
        (["--new-error=-32000"], "needs_login", "not signed in"),
        (["--init-exit=7"], "failed", "status 7"),
    ],
)
async def test_a_turn_that_fails_says_why(
    tmp_path: Path, options: list[str], state: str, said: str
) -> None:
    report = await turned(tmp_path, scripted(*options))
    assert (report.state, said in (report.problem or "")) == (state, True)


async def test_a_turn_that_does_not_end_is_given_up(tmp_path: Path) -> None:
    report = await turned(tmp_path, scripted("--init-hang"), limit_s=0.3)
    assert (report.state, report.problem) == ("failed", "The turn did not end within 0.3 s.")


async def test_what_it_waits_for_is_told(tmp_path: Path) -> None:
    watch = _Watch()
    for body in ({"kind": "waiting", "reason": "Reconnecting 1/5"}, {"kind": "waiting"}):
        event = {"type": "turn.progress", "body": body}
        watch.publish_transient(orjson.dumps(event), None)
    assert watch.reason == "Reconnecting 1/5"


async def test_processes_that_it_leaves_are_ended_and_told(tmp_path: Path) -> None:
    report = await turned(tmp_path, scripted("--start-stray"))
    assert report.state == "ready"
    assert report.advice == "It left 1 of its processes behind, now ended."
