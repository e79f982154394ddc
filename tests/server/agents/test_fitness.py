"""A program that is the wrong one, or too old, is not used; a sentence says what to do."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from groupx_server.agents.acp_driver import AcpDriver
from groupx_server.agents.catalogue import KnownAgent
from groupx_server.agents.fitness import unfit_package, unfit_version
from groupx_server.agents.programs import Package, Program
from groupx_shared.errors import AgentError, ErrorCode
from server.agents.kit import LIMIT_S, Script, running
from server.probe.probe_kit import noting_program, starts_of

TOY = KnownAgent(
    "toy",
    "Toy",
    "toy",
    "npm install -g toy",
    "Sign in.",
    packages=("toy",),
    seen="2.0",
    minimum=(1, 5),
    retired={"old-toy": "old-toy is retired"},
)
TOO_OLD = "is too old; GroupX needs 1.5 or newer. Update it: npm install -g toy."


@pytest.mark.parametrize("version", ["1.5", "1.5.0", "1.10.1", "2", "", None, "new", "1.6.0-rc.1"])
def test_a_version_that_is_new_enough_or_not_known_is_fit(version: str | None) -> None:
    assert unfit_version(TOY, version) is None


@pytest.mark.parametrize("version", ["1.4.99", "1", "0.9.9-linux-x64"])
def test_an_older_version_says_what_was_found_what_is_needed_and_what_to_do(version: str) -> None:
    unfit = unfit_version(TOY, version)
    assert unfit is not None
    assert f"{unfit.problem} {unfit.advice}" == f"Version {version} {TOO_OLD}"
    assert unfit.details == {"version": version, "minimum": "1.5"}
    assert unfit.error(TOY).code is ErrorCode.ADAPTER_START_FAILED


def test_without_a_lower_bound_every_version_is_fit() -> None:
    unbounded = KnownAgent("toy", "Toy", "toy", "", "Sign in.")
    assert unfit_version(unbounded, "0.0.1") is None


def test_a_retired_package_is_the_wrong_program_whatever_its_version() -> None:
    unfit = unfit_package(TOY, Package("old-toy", "9.9"))
    assert unfit is not None
    assert "old-toy is retired" in unfit.problem
    assert unfit.advice == "Install Toy: npm install -g toy."
    assert unfit_package(TOY, Package("toy", "1.5")) is None
    assert unfit_package(TOY, None) is None


async def refused(driver: AcpDriver) -> str:
    async with asyncio.timeout(LIMIT_S):
        with pytest.raises(AgentError) as failed:
            await driver.start()
    assert failed.value.code is ErrorCode.ADAPTER_START_FAILED
    assert driver.pid is None
    return failed.value.message


@pytest.mark.process
async def test_a_package_that_is_too_old_is_not_even_started(script: Script) -> None:
    program = Program(Path("/bin/true"), True, Package("toy", "1.2.3"))
    message = await refused(AcpDriver(script.spec(), script.guard).of(TOY, program))
    assert message == f"Toy: Version 1.2.3 {TOO_OLD}"
    assert script.guard.added == []


@pytest.mark.process
async def test_one_that_tells_an_old_version_at_the_handshake_is_ended(script: Script) -> None:
    message = await refused(AcpDriver(script.spec(), script.guard).of(TOY, None))
    assert message == f"Toy: Version 1.2.3 {TOO_OLD}"
    assert script.guard.added
    assert script.guard.groups == set()


@pytest.mark.process
@pytest.mark.parametrize(
    ("told", "words"), [("toy 1.4.0", f"Version 1.4.0 {TOO_OLD}"), ("toy 1.5.0", "status 2")]
)
async def test_one_that_does_not_know_our_arguments_is_asked_for_its_version(
    script: Script, tmp_path: Path, told: str, words: str
) -> None:
    asked = noting_program(tmp_path / "bin/toy", told)
    driver = AcpDriver(script.spec("--init-exit=2"), script.guard)
    assert words in await refused(driver.of(TOY, Program(asked, False)))
    assert starts_of(asked) == ["args: --version"]
    assert script.guard.groups == set()


@pytest.mark.process
async def test_one_that_is_new_enough_starts(script: Script) -> None:
    newer = KnownAgent("toy", "Toy", "toy", "", "Sign in.", minimum=(1, 2, 3))
    async with running(script) as driver:
        await driver.close()
    again = AcpDriver(script.spec(), script.guard).of(newer, Program(Path("/bin/true"), True))
    async with asyncio.timeout(LIMIT_S):
        assert (await again.start()).version == "1.2.3"
        await again.close()
