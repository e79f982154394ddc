"""Reports of agents without starting anything, in the place of the child process."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_shared.workspace import Workspace
from groupx_tui.cli import trials
from groupx_tui.cli.diagnostics import CommandError, ExitCode

Report = dict[str, Any]


def report(agent: str, state: str, **more: Any) -> Report:
    """What the probe tells of one agent."""
    base = {"agent": agent, "name": agent.title(), "driver": agent, "configured": True}
    return {**base, "state": state, "unverified": False, **more}


class FakeTrials:
    """Answers what a test put in; notes what was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reports: list[Report] = []
        self.refusal = ""
        self.asked: list[tuple[Any, ...]] = []
        monkeypatch.setattr(trials, "survey", self._survey)
        monkeypatch.setattr(trials, "try_agent", self._try)
        monkeypatch.setattr(trials, "try_turn", self._turn)
        monkeypatch.setattr(trials, "check", self._check)

    def _survey(self, workspace: Workspace, *, start: bool) -> list[Report]:
        self.asked.append(("survey", start))
        return self.reports

    def _try(self, workspace: Workspace, name: str) -> Report:
        return self._one("try", name)

    def _turn(self, workspace: Workspace, name: str) -> Report:
        return self._one("turn", name)

    def _check(self, workspace: Workspace, agent: str, settings: Report) -> Report:
        self.asked.append(("check", agent, settings))
        return self._answer(agent)

    def _one(self, how: str, name: str) -> Report:
        self.asked.append((how, name))
        return self._answer(name)

    def _answer(self, name: str) -> Report:
        if self.refusal:
            raise CommandError(self.refusal, ExitCode.REFUSED)
        found = [each for each in self.reports if each["agent"] == name]
        return found[0] if found else report(name, "found", program=f"/bin/{name}")
