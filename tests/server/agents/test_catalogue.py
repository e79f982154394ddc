"""What is known of the agents' programs."""

from __future__ import annotations

from groupx_server.agents.catalogue import KNOWN_AGENTS, known_agent
from groupx_server.agents.claude_program import MINIMUM_VERSION
from groupx_server.agents.presets import PRESETS
from groupx_server.agents.registry import DriverRegistry
from groupx_shared.ids import AGENT_KEY_PATTERN
from server.agents.kit import NoGuard


def test_every_driver_of_a_vendor_s_program_is_known_and_no_other() -> None:
    drivers = {known.driver for known in KNOWN_AGENTS}
    assert drivers == {*DriverRegistry(NoGuard()).names} - {"acp", "builtin"}
    assert len(drivers) == len(KNOWN_AGENTS)


def test_the_program_is_the_one_that_the_preset_starts() -> None:
    for name, preset in PRESETS.items():
        known = known_agent(name)
        assert known is not None
        assert known.program == preset.argv[0]


def test_each_says_how_to_install_and_how_to_sign_in_and_can_be_an_agent_s_id() -> None:
    for known in KNOWN_AGENTS:
        assert bool(known.install) == known.is_verified
        assert known.login.endswith(".")
        assert AGENT_KEY_PATTERN.match(known.driver)
        assert known.is_verified == bool(known.packages)


def test_the_oldest_claude_is_the_one_that_its_driver_takes() -> None:
    known = known_agent("claude")
    assert known is not None
    assert known.minimum == MINIMUM_VERSION


def test_a_driver_without_a_program_of_a_vendor_is_not_known() -> None:
    assert known_agent("acp") is None
