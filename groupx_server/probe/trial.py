"""Trying one agent: version, start, handshake, an empty session; nothing is sent to its model.

Invariants: every wait is bounded; whatever happens, its processes are gone at the end; a failure is
a report, never an error of the probe.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Final

from groupx_server.agents.base import AgentInfo, Driver, SessionRequest
from groupx_server.agents.environment import agent_environment
from groupx_server.agents.fitness import unfit_package, unfit_version
from groupx_server.agents.oneshot import ask
from groupx_server.agents.programs import Program, is_older, version_in
from groupx_server.agents.registry import DriverRegistry
from groupx_server.agents.watchdog import Guard
from groupx_server.domain.condition import read_condition
from groupx_server.probe.report import Report
from groupx_server.probe.subjects import Subject, located
from groupx_shared.errors import AgentError, ConfigError, GroupXError
from groupx_shared.text import safe_line

AT_ONCE: Final = 3
"""A start costs seconds of CPU; more at once only make all of them late."""
VERSION_S: Final = 15.0
TRIAL_S: Final = 120.0
"""For start and session together; drivers have shorter limits of their own."""
_STDERR_CHARS: Final = 2_000


class Prober:
    """Looks at agents, a few at a time."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._registry = DriverRegistry(guard)
        self._gate = asyncio.Semaphore(AT_ONCE)

    async def look(self, subject: Subject, *, start: bool) -> Report:
        """Everything about one agent; `start`: try it, too."""
        report, program = located(subject)
        if report.state == "absent":
            return report
        async with self._gate:
            if program is not None and not await self._suits(report, subject, program):
                return report
            if not subject.entry.enabled:
                report.state = "disabled"
            elif start:
                await self._try(report, subject)
        self.advise(report, subject)
        return report

    async def _suits(self, report: Report, subject: Subject, program: Program) -> bool:
        """Learn the version; False for a program that must not be started."""
        known = subject.known
        if known is None or not subject.starts_known_program:
            return True
        if report.version is None:
            report.version = await self._version(subject, program)
        unfit = unfit_package(known, program.package) or unfit_version(known, report.version)
        if unfit is None:
            return True
        report.state, report.problem, report.advice = "failed", unfit.problem, unfit.advice
        return False

    async def _version(self, subject: Subject, program: Program) -> str | None:
        path = os.pathsep.join([str(program.path.parent), os.environ.get("PATH", os.defpath)])
        env = agent_environment(os.environ, {"PATH": path, **subject.entry.spec.env})
        argv = [str(program.path), "--version"]
        try:
            printed = await ask(argv, Path("/"), env, self._guard, VERSION_S)
        except AgentError:
            return None  # its start will say why
        return version_in(printed.text)

    async def _try(self, report: Report, subject: Subject) -> None:
        driver: Driver | None = None
        try:
            async with asyncio.timeout(TRIAL_S):
                driver = self._registry(subject.entry.spec)
                await self._through(report, subject, driver)
        except TimeoutError:
            report.state = "failed"
            report.problem = f"It was not ready within {TRIAL_S:g} s."
        except (AgentError, ConfigError) as error:
            self._failed(report, error)
        finally:
            if driver is not None:
                await driver.close()

    async def _through(self, report: Report, subject: Subject, driver: Driver) -> None:
        begun = time.monotonic()
        info = await driver.start()
        report.start_s = time.monotonic() - begun
        report.version = safe_line(info.version, 40) or report.version
        if _wants_login(info):
            report.state, report.problem = "needs_login", "Nobody is signed in."
            return
        begun = time.monotonic()
        session = await driver.open_session(SessionRequest(cwd=subject.entry.spec.cwd))
        report.session_s = time.monotonic() - begun
        await session.close()
        report.state = "ready"

    def _failed(self, report: Report, error: GroupXError) -> None:
        condition = read_condition(error.details)
        report.state = "failed" if condition is None else condition.kind
        report.problem = safe_line(error.message, 600)
        stderr = str(error.details.get("stderr") or "")
        report.stderr = stderr[-_STDERR_CHARS:] or None

    def advise(self, report: Report, subject: Subject) -> None:
        known = subject.known
        if known is None or report.advice is not None:
            return
        if report.state == "needs_login":
            report.advice = None if known.login in (report.problem or "") else known.login
        elif report.version is not None and is_older(report.version, known.seen):
            needs = f" It needs {known.runtime}." if known.runtime else ""
            report.advice = f"Older than {known.seen}, with which it was seen working.{needs}"


def _wants_login(info: AgentInfo) -> bool:
    return info.capabilities.get("authRequired") is True
