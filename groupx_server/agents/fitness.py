"""Whether a vendor's program is the right one, and new enough.

Pure. Said with the same words before a start (by the package that a program belongs to), after it
(by what the program says of itself) and by the probe. Invariant: a version that is not known is
never too old. The counterparts are `catalogue`, which holds the bounds, and `programs`, which finds
programs and their packages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from groupx_server.agents.catalogue import KnownAgent
from groupx_server.agents.programs import Package, is_older
from groupx_shared.errors import AgentError
from groupx_shared.text import safe_line


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why a program is not used, and what to do; two sentences."""

    problem: str
    advice: str
    details: dict[str, Any]

    def error(self, known: KnownAgent) -> AgentError:
        """The error of a start (ADAPTER_START_FAILED)."""
        return AgentError(f"{known.name}: {self.problem} {self.advice}", details=self.details)


def unfit_package(known: KnownAgent, package: Package | None) -> Unfit | None:
    """What is wrong with the package that brings the program; None when nothing is."""
    if package is None:
        return None
    reason = (known.retired or {}).get(package.name)
    if reason is not None:
        problem = f"The program that was found is the wrong one: {reason}."
        return Unfit(problem, f"Install {known.name}: {known.install}.", {"package": package.name})
    return unfit_version(known, package.version)


def unfit_version(known: KnownAgent, version: str | None) -> Unfit | None:
    """What is wrong with a version; None when nothing is, or nothing is known."""
    wanted = ".".join(map(str, known.minimum))
    if not wanted or not version or not is_older(version, wanted):
        return None
    found = safe_line(version, 40)
    return Unfit(
        f"Version {found} is too old; GroupX needs {wanted} or newer.",
        f"Update it: {known.install}.",
        {"version": found, "minimum": wanted},
    )
