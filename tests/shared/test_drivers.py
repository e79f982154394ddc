"""The names that the command line knows are those of the server's registry."""

from __future__ import annotations

from groupx_server.agents.catalogue import KNOWN_AGENTS
from groupx_server.agents.registry import DriverRegistry
from groupx_server.agents.watchdog import Watchdog
from groupx_shared.drivers import DRIVERS, VENDOR_DRIVERS


def test_both_know_the_same_drivers() -> None:
    assert sorted(DRIVERS) == DriverRegistry(Watchdog()).names
    assert [known.driver for known in KNOWN_AGENTS] == list(VENDOR_DRIVERS)
