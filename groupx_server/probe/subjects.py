"""Which agents there are to look at: those of the config, then the known ones that are not in it.

Owns nothing; starts nothing.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from groupx_server.agents.catalogue import KNOWN_AGENTS, KnownAgent, known_agent
from groupx_server.agents.programs import Program, find_program
from groupx_server.probe.report import Report
from groupx_server.rooms.roster import RosterEntry, build_roster
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.names import unknown_name
from groupx_shared.settings import BUILTIN_DRIVER, AgentSettings, Config
from groupx_shared.version import VERSION


@dataclass(frozen=True, slots=True)
class Subject:
    """One agent to look at. Without a command of its own, the known program is meant."""

    entry: RosterEntry
    known: KnownAgent | None
    configured: bool

    @property
    def starts_known_program(self) -> bool:
        """Whether what would be started is the catalogue's program."""
        argv = self.entry.spec.argv
        return self.known is not None and (not argv or argv[0] == self.known.program)


def all_subjects(config: Config, root: Path, scratch: Path) -> list[Subject]:
    """Everything there is. `scratch` is where agents that are not configured would work."""
    configured = configured_subjects(config, root)
    drivers = {subject.entry.driver for subject in configured if subject.starts_known_program}
    others = [known for known in KNOWN_AGENTS if known.driver not in drivers]
    return [*configured, *(known_subject(known, scratch) for known in others)]


def configured_subjects(config: Config, root: Path) -> list[Subject]:
    """The agents of the config, as a server would start them."""
    entries = build_roster(config, root).entries.values()
    return [Subject(entry, known_agent(entry.driver), True) for entry in entries]


def known_subject(known: KnownAgent, scratch: Path) -> Subject:
    """A known agent with the settings it would get."""
    config = Config(agents={known.driver: AgentSettings(driver=known.driver)})
    (subject,) = configured_subjects(config, scratch)
    return Subject(subject.entry, known, False)


def find_subject(name: str, config: Config, root: Path, scratch: Path) -> Subject:
    """The agent called `name`: of the config, else a known one.

    Raises: RefusedError (UNKNOWN_ACTOR) naming the nearest.
    """
    wanted = name.removeprefix("@").removeprefix("agent:")
    subjects = all_subjects(config, root, scratch)
    for subject in subjects:
        if subject.entry.handle == wanted:
            return subject
    known = known_agent(wanted)
    if known is not None:
        return known_subject(known, scratch)
    names = {subject.entry.handle for subject in subjects} | {k.driver for k in KNOWN_AGENTS}
    raise RefusedError(unknown_name("agent", wanted, names), code=ErrorCode.UNKNOWN_ACTOR)


def located(subject: Subject) -> tuple[Report, Program | None]:
    """The report as far as a look at the disk tells."""
    entry, known = subject.entry, subject.known
    report = Report(
        agent=entry.handle,
        name=known.name if known is not None else entry.display_name,
        driver=entry.driver,
        configured=subject.configured,
        install=None if known is None else known.install or None,
        unverified=known is not None and not known.is_verified,
    )
    if entry.driver == BUILTIN_DRIVER and not entry.spec.argv:
        report.program, report.version = "built in", VERSION
        return report, None
    program = _program(subject)
    if program is None:
        _tell_absent(report, subject)
        return report, None
    report.program = str(program.path)
    if program.package is not None:
        report.version = program.package.version
    return report, program


def _program(subject: Subject) -> Program | None:
    spec, known = subject.entry.spec, subject.known
    env = {**os.environ, **spec.env}
    if known is not None and subject.starts_known_program:
        return find_program(known, env)
    if not spec.argv:
        return None
    name = spec.argv[0]
    path = str(spec.cwd / Path(name).expanduser()) if "/" in name else name
    found = shutil.which(path, path=env.get("PATH", os.defpath))
    return None if found is None else Program(Path(found), True)


def _tell_absent(report: Report, subject: Subject) -> None:
    known, argv = subject.known, subject.entry.spec.argv
    report.state = "absent"
    if known is not None and subject.starts_known_program:
        report.problem = f"Its program “{known.program}” was not found."
        needs = f" (needs {known.runtime})" if known.runtime else ""
        how = known.install or "as its makers say"
        report.advice = f"Install it: {how}{needs}."
    elif argv:
        report.problem = f"Its program “{argv[0]}” was not found."
        report.advice = "Install it, or correct the agent's `command`."
    else:
        report.problem = "It has no command."
        report.advice = "Set `command` of the agent."
