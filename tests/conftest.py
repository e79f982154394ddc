"""Cuts the machine out: no user folder, no environment of a real installation."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says nothing on a busy machine; each test has a bound of its own.
settings.register_profile("groupx", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("groupx")


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test has user folders of its own and none of the caller's GroupX settings."""
    for name in [name for name in os.environ if name.startswith("GROUPX_")]:
        monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("GROUPX_HOME", str(home))
    return home
