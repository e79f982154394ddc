"""A scripted agent for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.agents.kit import Script


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path)
